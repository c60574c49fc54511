// Generated from docs/openapi.json by `npm run codegen`. Never edited.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An agent, or a program that an ACP profile can start. */
        AgentItem: {
            /** @description Whether it supports reasoning effort: `options.effort` of a session. */
            hasEffort?: boolean;
            /** @description The installed version. */
            installedVersion?: string | null;
            /** @description Whether it can be the `type` of a session. Otherwise it is a program for the `command` of a profile. */
            isAgent: boolean;
            /** @description Its name. */
            name: string;
            /** @description The version that would be installed. */
            pinnedVersion?: string | null;
            /** @description Whether it is ready to use: it needs no program, or its program is installed. */
            ready: boolean;
            /**
             * Format: int64
             * @description Bytes of the program on disk.
             */
            sizeBytes?: number | null;
        };
        /** @description All agents. */
        AgentList: {
            /** @description In display order. */
            agents: components["schemas"]["AgentItem"][];
        };
        /** @description The configuration of an agent: instructions, skills, subagents, commands, tools, environment and files. */
        AgentProfile: {
            /** @description Instructions like those of a CLAUDE.md. */
            agentMDFile?: string | null;
            /** @description MCP servers that come with the profile's own files. */
            bundledMCPs?: components["schemas"]["McpServer"][];
            /** @description The command to start, for the agent `acp`. */
            command?: string[] | null;
            /** @description Slash commands. */
            commands?: components["schemas"]["Command"][];
            /** @description Files a new workspace starts with. */
            defaultWorkspaceFiles?: components["schemas"]["WorkspaceTemplateFile"][];
            /** @description Its purpose. */
            description?: string | null;
            /**
             * @description Hosts the agent may reach: `example.com`, `*.example.com`, optionally with a port. Nothing else leaves a
             *     sandbox.
             */
            egressAllow?: string[];
            /** @description Environment of the agent. Not for secrets: programs in the sandbox can read it. */
            environmentVariables?: {
                [key: string]: string;
            };
            /** @description External MCP servers. */
            externalMCPs?: components["schemas"]["McpServer"][];
            /** @description Its name in requests. */
            id?: components["schemas"]["ProfileId"];
            /** @description The model to use. */
            model?: string | null;
            /** @description Its display name. */
            name?: string | null;
            projectId?: components["schemas"]["ProjectId"] | null;
            /** @description Whether the agent may use tools that the model's provider runs, such as web search. They cost extra. */
            providerTools?: boolean;
            /** @description Skills of the agent. */
            skills?: components["schemas"]["Skill"][];
            /** @description Agents it may call. */
            subagents?: components["schemas"]["Subagent"][];
            /** @description Comes before everything else the agent is told. */
            systemPrompt?: string | null;
            /** @description Tools it may use; all if absent. */
            tools?: string[] | null;
        };
        /** @description Which agent a session talks to (`builtin`, `claude-code`, …). */
        AgentType: string;
        /** @description Answers an approval. Repeating the same decision changes nothing. */
        ApprovalAnswer: {
            /** @description For questions: the question's text → the chosen label, a list of labels, or free text. */
            answers?: {
                [key: string]: unknown;
            } | null;
            /** @description Allow, allow for the rest of the session, or deny. */
            decision: components["schemas"]["ApprovalDecision"];
            /** @description A message to the agent. */
            message?: string | null;
            rule?: components["schemas"]["ApprovalRule"] | null;
        };
        /**
         * @description A person's decision.
         * @enum {string}
         */
        ApprovalDecision: "allow" | "allow_always" | "deny";
        /**
         * Format: uuid
         * @description A question to a person.
         */
        ApprovalId: string;
        /** @description A request of an agent, and its resolution. */
        ApprovalItem: components["schemas"]["ApprovalRequest"] & {
            /** @description When it asked. */
            requestedAt: components["schemas"]["Timestamp"];
            resolution?: components["schemas"]["ApprovalOutcome"] | null;
            runId?: components["schemas"]["RunId"] | null;
            /** @description Whose agent asks. */
            sessionId: components["schemas"]["SessionId"];
            /** @description Whether it is pending. */
            status: components["schemas"]["ApprovalStatus"];
        };
        /**
         * @description The kind of a request.
         * @enum {string}
         */
        ApprovalKind: "permission" | "question" | "egress";
        /** @description The resolution of an approval. */
        ApprovalOutcome: {
            /** @description For questions: the answer to each. */
            answers?: {
                [key: string]: unknown;
            } | null;
            /** @description When. */
            at: components["schemas"]["Timestamp"];
            /** @description Who decided. */
            by: string;
            /** @description The decision. */
            decision: components["schemas"]["Resolution"];
            /** @description The message to the agent. */
            message?: string | null;
            rule?: components["schemas"]["ApprovalRule"] | null;
        };
        /** @description Part of the approvals, newest first. */
        ApprovalPage: {
            /** @description The part. */
            approvals: components["schemas"]["ApprovalItem"][];
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
        };
        /** @description A request to a person. */
        ApprovalRequest: {
            /** @description Its name. */
            approvalId: components["schemas"]["ApprovalId"];
            /**
             * @description A permission: `{"toolName", "input", …}`. A question: `{"questions": [{"question", "header"?, "options":
             *     [{"label", "description"?}], "multiSelect"?}]}`.
             */
            detail: unknown;
            /** @description When the request expires. */
            expiresAt: components["schemas"]["Timestamp"];
            /** @description The request. */
            kind: components["schemas"]["ApprovalKind"];
            /** @description The possible answers. */
            options: components["schemas"]["ApprovalDecision"][];
            /** @description Rules that `allow_always` can grant, the narrowest first. Other rules are accepted if they cover the request. */
            rules?: components["schemas"]["ApprovalRule"][];
            /** @description A one-line description. */
            title: string;
            /** @description The tool call in question. */
            toolUseId?: string | null;
        };
        /** @description The answer, and who gave it. */
        ApprovalResolution: {
            /** @description For questions: the question's text → the chosen label, a list of labels, or free text. */
            answers?: {
                [key: string]: unknown;
            } | null;
            /** @description Which one. */
            approvalId: components["schemas"]["ApprovalId"];
            /**
             * @description Who decided. `run`, `time` and `agent` if nobody did; `rule` for a rule of an earlier answer (`always` in older
             *     logs).
             */
            by: string;
            /** @description The outcome. */
            decision: components["schemas"]["Resolution"];
            /** @description A message to the agent. */
            message?: string | null;
            rule?: components["schemas"]["ApprovalRule"] | null;
        };
        /** @description A rule: what is allowed for the rest of a session. */
        ApprovalRule: {
            /**
             * @description `exact`: the command, the path, or the input as JSON. `prefix`: the first words of a command. `directory`: a
             *     directory. `tool`: `*`.
             */
            pattern: string;
            /** @description How `pattern` is compared with a call. */
            scope: components["schemas"]["RuleScope"];
            /** @description The tool, by the agent's name for it. */
            tool: string;
        };
        /**
         * @description Whether it is pending.
         * @enum {string}
         */
        ApprovalStatus: "pending" | "resolved" | "expired";
        /** @description A result worth showing. */
        Artifact: {
            /** @description The command that starts it. */
            command?: string | null;
            createdSeq?: components["schemas"]["Seq"] | null;
            createdVersion?: components["schemas"]["Version"] | null;
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description Always the same for the same path, even after it was deleted and created again. */
            id: components["schemas"]["ArtifactId"];
            /** @description How to show it. */
            kind: components["schemas"]["ArtifactKind"];
            /** @description A display name. */
            name: string;
            /** @description Relative to the workspace; a directory for an app. An app of which only the port is known has `port:3000`. */
            path: string;
            /**
             * Format: int32
             * @description The port in the sandbox, current or assigned.
             */
            port?: number | null;
            /** @description The address of its preview. `POST …/artifacts/{id}/preview` creates a link that grants access. */
            previewUrl?: string | null;
            /**
             * Format: int64
             * @description Bytes of the file, or of all files of the app.
             */
            sizeBytes: number;
            updatedSeq?: components["schemas"]["Seq"] | null;
            updatedVersion?: components["schemas"]["Version"] | null;
        };
        /**
         * @description The changed fields of an artifact.
         * @enum {string}
         */
        ArtifactChange: "content" | "kind" | "name" | "port" | "command" | "previewUrl";
        /** @description The history of an artifact. */
        ArtifactHistory: {
            /** @description Newest first. */
            versions: components["schemas"]["ArtifactVersion"][];
        };
        /**
         * Format: uuid
         * @description An artifact ID: always the same for the same path of the same session.
         */
        ArtifactId: string;
        /**
         * @description The kind of an artifact.
         * @enum {string}
         */
        ArtifactKind: "web_app" | "pptx" | "docx" | "excel" | "markdown" | "image" | "pdf" | "csv" | "html" | "code";
        /** @description The artifacts of a session. */
        ArtifactList: {
            /** @description By path. */
            artifacts: components["schemas"]["Artifact"][];
        };
        /** @description An artifact in a packet. */
        ArtifactMetadata: {
            /**
             * Format: uuid
             * @description Its permanent ID.
             */
            id: string;
            /** @description A display name. */
            name: string;
            /** @description Relative to `/outputs`. */
            path: string;
            /** @description The address of its preview. */
            preview_url?: string | null;
            /** @description Its kind. */
            type: components["schemas"]["BuildArtifactType"];
        };
        /** @description One state of an artifact. */
        ArtifactVersion: {
            /** @description Its state at that time. */
            artifact: components["schemas"]["Artifact"];
            /** @description When. */
            at: components["schemas"]["Timestamp"];
            /** @description `created`, `updated` or `deleted`. */
            change: string;
            /** @description Its changed fields. */
            changes?: components["schemas"]["ArtifactChange"][];
            /** @description The log entry that reports it. */
            seq: components["schemas"]["Seq"];
            version?: components["schemas"]["Version"] | null;
        };
        /** @description A position in a request's JSON. */
        At: {
            /** @description Column, from 1. */
            column: number;
            /** @description The field, such as `options.model`; absent if the text is not JSON. */
            field?: string | null;
            /** @description Line, from 1. */
            line: number;
        };
        /** @description The BLAKE3 of a blob's bytes, in hexadecimal. */
        BlobHash: string;
        /** @description A part of a conversation: the fold of the events with its ID. */
        Block: {
            /** @description Text or parts. */
            content: components["schemas"]["Content"];
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description When it was said. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "user_message";
        } | {
            /** @description The text so far. */
            content: string;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description The model that wrote it. */
            model?: string | null;
            /** @description When it began. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "assistant_text";
        } | {
            /** @description The thinking so far. */
            content: string;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description A summary, if the agent provides one. */
            summary?: string | null;
            /** @description When it began. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "thinking";
        } | {
            /** @description A description of this call. */
            description?: string | null;
            /** @description A display name. */
            displayName?: string | null;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description Its arguments. */
            input: unknown;
            /** @description Its status. */
            status: components["schemas"]["BlockStatus"];
            /** @description When it was called. */
            timestamp: components["schemas"]["Timestamp"];
            /** @description The tool's name as the agent knows it. */
            toolName: string;
            /** @description Matches it with its result. */
            toolUseId: string;
            /** @enum {string} */
            type: "tool_use";
        } | {
            /**
             * Format: int64
             * @description Its duration.
             */
            durationMs?: number | null;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description The tool failed. */
            isError: boolean;
            /** @description The output: text, or a value of the tool. */
            output: unknown;
            /** @description The output is markdown. */
            renderOutputAsMarkdown?: boolean | null;
            /** @description When it returned. */
            timestamp: components["schemas"]["Timestamp"];
            /** @description The tool call. */
            toolUseId: string;
            /** @enum {string} */
            type: "tool_result";
        } | {
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description The text. */
            message: string;
            /** @description Data for programs. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Its kind. */
            subtype: components["schemas"]["SystemSubtype"];
            /** @description When it was said. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "system";
        } | {
            /**
             * Format: int64
             * @description Its duration.
             */
            durationMs?: number | null;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description The task it was given. */
            input: unknown;
            /** @description The kind of subagent. */
            name?: string | null;
            /** @description Its report. */
            output?: unknown;
            /** @description Its status. */
            status: components["schemas"]["BlockStatus"];
            /** @description The thread's conversation id. */
            subagentId: string;
            /** @description When it was called. */
            timestamp: components["schemas"]["Timestamp"];
            /** @description The tool call that started it. */
            toolUseId?: string | null;
            /** @enum {string} */
            type: "subagent";
        } | {
            /** @description A stable code, if there is one. */
            code?: string | null;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description What happened. */
            message: string;
            /** @description When it happened. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "error";
        };
        /** @description A block's ID, the same in the live stream and in the parsed transcript. */
        BlockId: string;
        /**
         * @description The status of a tool call or a subagent.
         * @enum {string}
         */
        BlockStatus: "pending" | "running" | "success" | "error";
        /** @description A budget. Usage is known after each model call; a call that could exceed the budget is refused. */
        Budget: {
            /**
             * Format: double
             * @description Maximum cost.
             */
            costUsd?: number | null;
            /**
             * Format: int64
             * @description Maximum number of tokens, input and output.
             */
            tokens?: number | null;
        };
        /** @description A result worth showing. */
        BuildArtifact: {
            /** @description When it was first found. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description Its permanent ID.
             */
            id: string;
            /** @description A display name. */
            name: string;
            /** @description Relative to `/outputs`. */
            path: string;
            /**
             * @description A link that a browser opens without a token, valid for at least half an hour; only for artifacts that are
             *     served. Read the artifact again for a new link.
             */
            preview_url?: string | null;
            /** @description Whose it is. */
            session_id: components["schemas"]["SessionId"];
            /** @description Its kind. */
            type: components["schemas"]["BuildArtifactType"];
            /** @description When it last changed. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /** @description The artifacts of a session. */
        BuildArtifactList: {
            /** @description All artifacts, by path. */
            artifacts: components["schemas"]["BuildArtifact"][];
        };
        /**
         * @description The kind of an artifact: the six that clients of this API know.
         * @enum {string}
         */
        BuildArtifactType: "web_app" | "pptx" | "docx" | "image" | "markdown" | "excel";
        /** @description An entry of a directory. */
        BuildFile: {
            /** @description The MIME type of a file, by its name; otherwise `null`. */
            mime_type?: string | null;
            /** @description When it was last modified. */
            modified_at: components["schemas"]["Timestamp"];
            /** @description Its name. */
            name: string;
            /** @description The absolute path, as the other routes accept it: `/outputs/web/package.json`. */
            path: string;
            /**
             * Format: int64
             * @description The size of a file; otherwise `null`.
             */
            size_bytes?: number | null;
            /** @description `file`, `directory`, `symlink` or `other`. */
            type: string;
        };
        /** @description The entries of a directory. */
        BuildFileListing: {
            /** @description Directories first, then by name. */
            entries: components["schemas"]["BuildFile"][];
            /** @description The absolute path of the directory: `/outputs/web`. */
            path: string;
        };
        /** @description The message limit. */
        BuildLimit: {
            /**
             * Format: int64
             * @description The limit; `null` for no limit.
             */
            limit?: number | null;
            /** @description `unpaid`, `paid` or `unlimited`. */
            plan: string;
            /**
             * Format: int64
             * @description Remaining messages; `null` for no limit.
             */
            remaining?: number | null;
            resetsAt?: components["schemas"]["Timestamp"] | null;
            resets_at?: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description Messages sent.
             */
            used: number;
        };
        /** @description One message of a conversation. */
        BuildMessage: {
            /** @description The user's text, or the agent's complete answer. */
            content: string;
            /** @description When it was sent, or started. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description Its permanent ID. A user's message has the ID of its run.
             */
            id: string;
            /** @description The agent's packets, as streamed; pieces of one text are joined. */
            packets?: components["schemas"]["Packet"][];
            /** @description Its session. */
            session_id: components["schemas"]["SessionId"];
            /** @description Its author. */
            type: components["schemas"]["BuildMessageType"];
        };
        /** @description A whole conversation, oldest first. */
        BuildMessageList: {
            /** @description All of it. */
            messages: components["schemas"]["BuildMessage"][];
        };
        /** @description Sends a message. */
        BuildMessageSend: {
            /** @description The same ID returns the same answer, for seven days; at most 255 bytes. */
            client_request_id?: string | null;
            /** @description The text. */
            content: string;
        };
        /**
         * @description The author of a message.
         * @enum {string}
         */
        BuildMessageType: "user" | "assistant";
        /** @description The sandbox of a session: one per session, whichever container it uses. */
        BuildSandbox: {
            container_id?: components["schemas"]["SandboxId"] | null;
            /** @description When its session was created. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description Permanent.
             */
            id: string;
            last_heartbeat?: components["schemas"]["Timestamp"] | null;
            /** @description Whose it is. */
            session_id: components["schemas"]["SessionId"];
            /** @description Its status. */
            status: components["schemas"]["BuildSandboxStatus"];
        };
        /**
         * @description The status of a sandbox.
         * @enum {string}
         */
        BuildSandboxStatus: "provisioning" | "running" | "idle" | "terminated";
        /** @description A session. */
        BuildSession: {
            /** @description Its artifacts, by path. */
            artifacts?: components["schemas"]["BuildArtifact"][];
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Its permanent ID. */
            id: components["schemas"]["SessionId"];
            /** @description The time of its last activity. */
            last_activity_at: components["schemas"]["Timestamp"];
            /** @description A display name. */
            name?: string | null;
            /** @description Its sandbox. */
            sandbox: components["schemas"]["BuildSandbox"];
            /** @description Its snapshots, oldest first. */
            snapshots?: components["schemas"]["BuildSnapshot"][];
            /** @description Whether it has a sandbox. */
            status: components["schemas"]["BuildSessionStatus"];
            /**
             * Format: uuid
             * @description Its owner; `null` if it was created with a token without an owner.
             */
            user_id?: string | null;
        };
        /** @description Creates a session. All fields are optional. */
        BuildSessionCreate: {
            agent_type?: components["schemas"]["AgentType"] | null;
            /** @description A display name. */
            name?: string | null;
            project_id?: components["schemas"]["ProjectId"] | null;
        };
        /** @description Part of the list of sessions, newest first. */
        BuildSessionList: {
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            next_cursor?: string | null;
            /** @description The part. */
            sessions: components["schemas"]["BuildSession"][];
        };
        /**
         * @description Whether a session has a sandbox.
         * @enum {string}
         */
        BuildSessionStatus: "active" | "idle";
        /** @description A stored version of a session. */
        BuildSnapshot: {
            /** @description When it was taken. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description Its permanent ID.
             */
            id: string;
            /** @description Whose it is. */
            session_id: components["schemas"]["SessionId"];
            /**
             * Format: int64
             * @description Its size, if known.
             */
            size_bytes?: number | null;
            /** @description Where to download it. */
            storage_path: string;
        };
        /** @description The uploaded files. */
        BuildUploaded: {
            /** @description In the order of the upload. */
            files: components["schemas"]["BuildFile"][];
        };
        /** @description A slash command. */
        Command: {
            /** @description What it does. */
            description?: string;
            /** @description Its name. */
            name: string;
            /** @description The prompt. */
            prompt: string;
        };
        /** @description How to retry. */
        ConflictRetry: {
            /**
             * Format: int64
             * @description The delay before the first retry, in milliseconds, doubled each time. At most 10000.
             */
            backoffMs: number;
            /**
             * Format: int32
             * @description The number of retries; at most 10.
             */
            retries: number;
        };
        /**
         * @description The policy by name.
         * @enum {string}
         */
        ConflictWord: "reject" | "retry";
        /** @description A message: plain text, or parts. */
        Content: string | components["schemas"]["ContentPart"][];
        /** @description One part of a message. */
        ContentPart: {
            /** @description The text itself. */
            text: string;
        } | {
            /** @description The image's bytes as base64. */
            image: string;
            /** @description Its MIME type. */
            mediaType: string;
        } | {
            /** @description Path relative to the sandbox's root of uploads. */
            file: string;
        };
        /** @description `main`, or a subagent's thread inside a session. */
        ConversationId: string;
        /** @description Diagnostics of a failed run. */
        Diagnostics: {
            /**
             * Format: int32
             * @description The agent's exit code.
             */
            exitCode?: number | null;
            lastLines?: components["schemas"]["BlobHash"] | null;
            /** @description It was killed because of its memory limit. */
            outOfMemory?: boolean;
            /**
             * Format: int32
             * @description The signal that ended the agent.
             */
            signal?: number | null;
            /** @description The end of its error output. */
            stderrTail?: string | null;
        };
        /** @description What this machine provides: isolation, agents, models, and what is missing, with commands that fix it. */
        Doctor: {
            [key: string]: unknown;
        };
        /**
         * @description A stable name of a failure. Each has a page in `docs/errors/`.
         * @enum {string}
         */
        ErrorCode: "BAD_REQUEST" | "UNAUTHORIZED" | "BUDGET_EXCEEDED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "CONFLICT" | "RUN_IN_PROGRESS" | "APPROVAL_NOT_PENDING" | "VERSION_CONFLICT" | "SESSION_ELSEWHERE" | "SESSION_ENDED" | "RECORDING_EXPIRED" | "PRECONDITION_FAILED" | "TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RANGE_NOT_SATISFIABLE" | "MISDIRECTED" | "IDEMPOTENCY_MISMATCH" | "CONVERSION_FAILED" | "QUEUE_FULL" | "DATA_DAMAGED" | "MESSAGE_LIMIT" | "INTERNAL" | "UNAVAILABLE" | "CONVERTER_MISSING" | "TIMEOUT" | "SANDBOX_ERROR" | "ISOLATION_MISSING" | "AGENT_ERROR" | "AGENT_UNKNOWN" | "LLM_ERROR" | "SERVER_RESTARTED" | "OUT_OF_MEMORY" | "DISK_LIMIT" | "STORAGE_LIMIT";
        /** @description One numbered entry of a session's log. Never changed once written; new fields are only added. */
        Event: components["schemas"]["EventBody"] & {
            /** @description The thread it belongs to. */
            conversationId?: components["schemas"]["ConversationId"];
            runId?: components["schemas"]["RunId"] | null;
            /** @description Its position in the log: contiguous from 1. */
            seq: components["schemas"]["Seq"];
            /** @description The session of the log. */
            sessionId: components["schemas"]["SessionId"];
            /** @description Long fields that are stored as blobs; the event contains their beginning. */
            spilled?: components["schemas"]["Spilled"][];
            /** @description When it was recorded. */
            timestamp: components["schemas"]["Timestamp"];
        };
        /** @description What happened. The names are part of the protocol. */
        EventBody: {
            agentType: components["schemas"]["AgentType"];
            forkedFrom?: components["schemas"]["ForkedFrom"] | null;
            name?: string | null;
            /** @description The options of its runs until an update changes them. Absent in logs of the first versions. */
            options?: unknown;
            profile: components["schemas"]["ProfileId"];
            /** @enum {string} */
            type: "session_created";
        } | {
            changes: components["schemas"]["SessionChanges"];
            /** @enum {string} */
            type: "session_updated";
        } | {
            runtime: components["schemas"]["SessionRuntimeState"];
            /** @enum {string} */
            type: "session_status";
        } | {
            reason: string;
            /** @enum {string} */
            type: "session_ended";
        } | {
            content: components["schemas"]["Content"];
            /** Format: int32 */
            position: number;
            /** @enum {string} */
            type: "run_queued";
        } | {
            baseVersion: components["schemas"]["Version"];
            grant?: unknown;
            input: components["schemas"]["Content"];
            toggles?: unknown;
            /** @enum {string} */
            type: "run_started";
        } | {
            block: components["schemas"]["Block"];
            /** @enum {string} */
            type: "block_start";
        } | {
            blockId: components["schemas"]["BlockId"];
            delta: string;
            /** @enum {string} */
            type: "text_delta";
        } | {
            blockId: components["schemas"]["BlockId"];
            /** @enum {string} */
            type: "block_update";
            updates: {
                [key: string]: unknown;
            };
        } | {
            block: components["schemas"]["Block"];
            /** @enum {string} */
            type: "block_complete";
        } | {
            blockId: components["schemas"]["BlockId"];
            reason: string;
            /** @enum {string} */
            type: "block_discarded";
        } | {
            /** Format: int64 */
            contextTokens?: number | null;
            /** Format: double */
            costUSD: number;
            model?: string | null;
            /** @enum {string} */
            type: "metadata_update";
            usage: components["schemas"]["Usage"];
        } | (components["schemas"]["ModelCallStarted"] & {
            /** @enum {string} */
            type: "model_call_started";
        }) | (components["schemas"]["ModelCalled"] & {
            /** @enum {string} */
            type: "model_called";
        }) | {
            /** Format: int32 */
            attempt: number;
            nextAt?: components["schemas"]["Timestamp"] | null;
            reason: string;
            /** @enum {string} */
            type: "retrying";
        } | (components["schemas"]["ApprovalRequest"] & {
            /** @enum {string} */
            type: "approval_requested";
        }) | (components["schemas"]["ApprovalResolution"] & {
            /** @enum {string} */
            type: "approval_resolved";
        }) | {
            approvalId: components["schemas"]["ApprovalId"];
            by: string;
            /** @enum {string} */
            type: "approval_rule_withdrawn";
        } | {
            allowed: boolean;
            host: string;
            /** Format: int32 */
            port: number;
            rule: string;
            /** @enum {string} */
            type: "egress_decided";
        } | {
            /** Format: int64 */
            allowed: number;
            /** @description The configuration key of the limit. */
            limit: string;
            resetsAt?: components["schemas"]["Timestamp"] | null;
            /** @description Its scope: `run`, `session` or `project`. */
            scope: string;
            /** @enum {string} */
            type: "limit_reached";
            /** Format: int64 */
            used: number;
        } | {
            /** Format: int64 */
            after?: number | null;
            /** Format: int64 */
            before?: number | null;
            summary?: string | null;
            /** @enum {string} */
            type: "context_compacted";
        } | (components["schemas"]["SubagentStarted"] & {
            /** @enum {string} */
            type: "subagent_started";
        }) | {
            output?: unknown;
            status: components["schemas"]["BlockStatus"];
            subagentId: string;
            /** @enum {string} */
            type: "subagent_completed";
            usage?: components["schemas"]["Usage"] | null;
        } | {
            change: components["schemas"]["FileChange"];
            hash?: components["schemas"]["BlobHash"] | null;
            path: string;
            /** Format: int64 */
            sizeBytes?: number | null;
            /** @enum {string} */
            type: "file_changed";
        } | {
            artifact: components["schemas"]["Artifact"];
            /** @enum {string} */
            type: "artifact_created";
        } | {
            artifact: components["schemas"]["Artifact"];
            changes: components["schemas"]["ArtifactChange"][];
            /** @enum {string} */
            type: "artifact_updated";
        } | {
            artifact: components["schemas"]["Artifact"];
            /** @enum {string} */
            type: "artifact_deleted";
        } | {
            /** Format: int32 */
            port: number;
            previewUrl?: string | null;
            /** @enum {string} */
            type: "port_opened";
        } | {
            /** Format: int32 */
            port: number;
            /** @enum {string} */
            type: "port_closed";
        } | {
            /** Format: double */
            costUSD: number;
            summary?: string | null;
            /** @enum {string} */
            type: "run_completed";
            usage: components["schemas"]["Usage"];
            version?: components["schemas"]["Version"] | null;
        } | {
            code: components["schemas"]["ErrorCode"];
            /** Format: double */
            costUSD: number;
            diagnostics?: components["schemas"]["Diagnostics"];
            message: string;
            recoverable: boolean;
            /** @enum {string} */
            type: "run_failed";
            usage: components["schemas"]["Usage"];
        } | {
            by: string;
            /** Format: double */
            costUSD: number;
            diagnostics?: components["schemas"]["Diagnostics"];
            /** @enum {string} */
            type: "run_interrupted";
            usage: components["schemas"]["Usage"];
            version?: components["schemas"]["Version"] | null;
        } | {
            base: components["schemas"]["Version"];
            /** Format: int64 */
            blocks: number;
            cause: components["schemas"]["VersionCause"];
            files: components["schemas"]["FileCounts"];
            label?: string | null;
            restored?: components["schemas"]["Version"] | null;
            /** @enum {string} */
            type: "version_committed";
            version: components["schemas"]["Version"];
        } | {
            from: components["schemas"]["Seq"];
            hash: components["schemas"]["BlobHash"];
            to: components["schemas"]["Seq"];
            /** @enum {string} */
            type: "log_compacted";
        } | {
            agent: components["schemas"]["AgentType"];
            raw: string;
            /** @enum {string} */
            type: "unrecognized";
        };
        /** @description Part of a session's log, in order. */
        EventPage: {
            /** @description The entries, as the stored bytes. */
            events: components["schemas"]["Event"][];
            /** @description The head of the log: if it is greater than `lastSeq` there is more. */
            head: components["schemas"]["Seq"];
            /** @description Pass it as `after` for the next part: the last number of this part. */
            lastSeq: components["schemas"]["Seq"];
        };
        /**
         * @description How a file changed.
         * @enum {string}
         */
        FileChange: "created" | "modified" | "deleted";
        /** @description A file of the workspace that is not as in the latest version. */
        FileChangeItem: {
            /** @description What happened to it since that version. */
            change: components["schemas"]["FileChange"];
            /** @description Where the version has it, if it was moved or renamed since. */
            movedFrom?: string | null;
            /** @description Relative to the workspace. */
            path: string;
        };
        /** @description Files of the workspace that are not as in the latest version, or a part of them. */
        FileChanges: {
            /** @description By path. */
            changes: components["schemas"]["FileChangeItem"][];
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description The latest version. */
            version: components["schemas"]["Version"];
        };
        /** @description The number of files that differ from the base. */
        FileCounts: {
            /**
             * Format: int64
             * @description New files.
             */
            added?: number;
            /**
             * Format: int64
             * @description Changed content, mode or kind.
             */
            changed?: number;
            /**
             * Format: int64
             * @description Gone.
             */
            removed?: number;
        };
        /** @description A file that differs. */
        FileDiff: {
            /**
             * Format: int64
             * @description The number of added lines, if counted, including those that a truncated diff does not show.
             */
            added?: number | null;
            after?: components["schemas"]["FileLook"] | null;
            before?: components["schemas"]["FileLook"] | null;
            /** @description It is not text. Also `false` if it was not read, because `lines` was `none`. */
            binary: boolean;
            /** @description What happened to it. */
            change: components["schemas"]["TreeChange"];
            /** @description The lines that differ, as a unified diff. */
            diff?: string | null;
            /** @description `file`, `directory` or `symlink`. */
            kind: string;
            /** @description Relative to the workspace; or absolute in the sandbox, if it is not in the workspace. */
            path: string;
            /**
             * Format: int64
             * @description The number of removed lines, if counted.
             */
            removed?: number | null;
            /** @description The diff is truncated, or was left out because of a limit. */
            truncated?: boolean;
        };
        /** @description An entry of a directory. */
        FileItem: {
            /** @description Pass it as `If-Match` to replace exactly this state. */
            etag: string;
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description `file`, `directory`, `symlink` or `other`. */
            kind: string;
            /**
             * Format: int32
             * @description Permission bits.
             */
            mode: number;
            /** @description When it was last modified. */
            modifiedAt: components["schemas"]["Timestamp"];
            /** @description Its name. */
            name: string;
            /** @description As the other routes accept it. */
            path: string;
            /**
             * Format: int64
             * @description Its size in bytes.
             */
            sizeBytes: number;
        };
        /** @description The entries of a session's directory. */
        FileListing: {
            /** @description Directories first, then by name. */
            entries: components["schemas"]["FileItem"][];
            /** @description Relative to the workspace, or absolute in another volume, such as `/user-input`. */
            path: string;
            /** @description `live`: the files of the sandbox. `version`: the files of the latest version. */
            source: components["schemas"]["FileSource"];
            /** @description The list is truncated. */
            truncated?: boolean;
        };
        /** @description A file without its content. */
        FileLook: {
            /** @description The hash of its content, or of a link's target. */
            hash: components["schemas"]["BlobHash"];
            /**
             * Format: int32
             * @description Permission bits.
             */
            mode: number;
            /**
             * Format: int64
             * @description Its size in bytes.
             */
            sizeBytes: number;
        };
        /** @description Moves a file, or a directory with its content. */
        FileMove: {
            /** @description The source: relative to the workspace, or in `/workspace`, `/outputs` or `/user-input`. */
            from: string;
            /** @description The target, including the name, in the same volume. Parent directories are created; the target must not exist. */
            to: string;
        };
        /**
         * @description Where the files come from.
         * @enum {string}
         */
        FileSource: "live" | "version";
        /** @description Stops something that may be active. */
        Forced: {
            /** @description Interrupt the active run instead of answering 409. */
            force?: boolean;
        };
        /** @description The origin of a fork. */
        ForkedFrom: {
            /** @description The session that was forked. */
            sessionId: components["schemas"]["SessionId"];
            /** @description At which version. */
            version: components["schemas"]["Version"];
        };
        /** @description The process responds. */
        Health: {
            /** @description Always `ok`. */
            status: string;
            /** @description The server's version. */
            version: string;
        };
        /** @description A subagent's transcript. */
        ImportedThread: {
            /** @description The agent's own ID for it. */
            id: string;
            /** @description As the agent wrote it. */
            transcript: string;
        };
        /** @description What an interrupt stopped. */
        Interrupted: {
            runId?: components["schemas"]["RunId"] | null;
        };
        /** @description What a project's sessions can read as `/knowledge`. */
        KnowledgeListing: {
            /** @description By path, relative to `/knowledge`. The generated `INDEX.md` is not included. */
            files: components["schemas"]["FileItem"][];
            /**
             * Format: int64
             * @description The limit in bytes.
             */
            maxBytes: number;
            /**
             * Format: int64
             * @description The total size in bytes.
             */
            sizeBytes: number;
            /** @description The list is truncated. */
            truncated?: boolean;
        };
        /** @description An MCP server, in an agent-neutral form. */
        McpServer: {
            /** @description Its name. */
            name: string;
        } & {
            [key: string]: unknown;
        };
        /** @description An accepted message. */
        MessageAccepted: {
            /**
             * Format: int32
             * @description How often the message was retried because `baseVersion` was stale.
             */
            retries?: number;
            /** @description Its run. */
            runId: components["schemas"]["RunId"];
            /** @description The log entry that announced the run; its events start there. */
            seq: components["schemas"]["Seq"];
            /** @description The session it was sent to. */
            sessionId: components["schemas"]["SessionId"];
        };
        /** @description Part of a conversation, oldest first. */
        MessagePage: {
            /** @description The part. */
            blocks: components["schemas"]["Block"][];
            /** @description The log position of the blocks. Clients that follow the log skip entries about them up to here. */
            lastSeq?: components["schemas"]["Seq"];
            /** @description Pass it as `after` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description Pass it as `before` for the previous part; absent at the beginning, and in parts that were read from the start. */
            previousCursor?: string | null;
        };
        /** @description Sends a message. */
        MessageSend: {
            baseVersion?: components["schemas"]["Version"] | null;
            /** @description Text, or parts. */
            content: components["schemas"]["Content"];
            effort?: components["schemas"]["ReasoningEffort"] | null;
            from?: components["schemas"]["RunFrom"] | null;
            /** @description The idempotency key: the same key returns the same run, for seven days; at most 255 bytes. */
            idempotencyKey?: string | null;
            /** @description The model for this run. */
            model?: string | null;
            onConflict?: components["schemas"]["OnConflict"] | null;
            timeBudget?: components["schemas"]["TimeBudget"] | null;
            whenBusy?: components["schemas"]["WhenBusy"] | null;
        };
        /**
         * Format: uuid
         * @description One call to a model.
         */
        ModelCallId: string;
        /** @description One call to a model, recorded before the request is sent. */
        ModelCallStarted: {
            /**
             * Format: int32
             * @description 1, or more when the same request failed before.
             */
            attempt: number;
            /** @description The call. `model_called` repeats it. */
            callId: components["schemas"]["ModelCallId"];
            /**
             * Format: double
             * @description The cost of these tokens.
             */
            maxCostUSD: number;
            /**
             * Format: int64
             * @description The maximum number of tokens of the call. It is charged this much if its end is never recorded.
             */
            maxTokens: number;
            /** @description The model that the request names. */
            model: string;
            /** @description BLAKE3 of the request's body. */
            requestHash: components["schemas"]["BlobHash"];
        };
        /** @description One call to a model, after it ended. */
        ModelCalled: {
            /**
             * Format: int32
             * @description 1, or more for a retry by the gateway.
             */
            attempt: number;
            callId?: components["schemas"]["ModelCallId"] | null;
            /**
             * Format: double
             * @description Its price.
             */
            costUSD: number;
            /** @description The model that answered. */
            model: string;
            /**
             * Format: int64
             * @description From the request to the last byte of the response.
             */
            ms: number;
            recording?: components["schemas"]["BlobHash"] | null;
            /**
             * Format: int64
             * @description The size of the recording in bytes. Absent in logs of the first versions.
             */
            recordingBytes?: number | null;
            /** @description BLAKE3 of the request's body. */
            requestHash: components["schemas"]["BlobHash"];
            /**
             * Format: int32
             * @description HTTP status of the response. 0 if the server stopped during the call, so that its outcome is unknown.
             */
            status: number;
            /** @description The usage that the response reports, and an estimate of what it does not report (`estimatedTokens`). */
            usage: components["schemas"]["Usage"];
        };
        /** @description An available model. */
        ModelItem: {
            /** @description The agents that can use it. */
            agents: string[];
            /**
             * Format: int64
             * @description The size of its context window in tokens, if known.
             */
            contextWindow?: number | null;
            /** @description Its display name, if it differs. */
            displayName?: string | null;
            /** @description Its name in requests. */
            id: string;
            price?: components["schemas"]["ModelPrice"] | null;
            /** @description Its provider; `demo` for the demo model, which answers if no key is set. */
            provider: string;
        };
        /** @description The available models. */
        ModelList: {
            /** @description By provider, then in the provider's order. */
            models: components["schemas"]["ModelItem"][];
            /** @description Providers that did not list their models. */
            problems: components["schemas"]["ModelProblem"][];
        };
        /** @description US dollars per million tokens. */
        ModelPrice: {
            /**
             * Format: double
             * @description Input from the provider's cache.
             */
            cacheRead: number;
            /**
             * Format: double
             * @description Input without cached tokens.
             */
            input: number;
            /**
             * Format: double
             * @description Output, thinking included.
             */
            output: number;
        };
        /** @description A provider that did not list its models. */
        ModelProblem: {
            /** @description What to do about it. */
            hint?: string | null;
            /** @description What happened. */
            message: string;
            /** @description Its name. */
            provider: string;
        };
        /** @description What to do if `baseVersion` is stale. */
        OnConflict: components["schemas"]["ConflictWord"] | components["schemas"]["ConflictRetry"];
        /** @description One packet. */
        Packet: components["schemas"]["PacketBody"] & {
            /** @description When it was recorded. */
            timestamp: components["schemas"]["Timestamp"];
        };
        /** @description The content of a packet. Names and fields are those of the platform that this API is for. */
        PacketBody: {
            /** @description A summary in one sentence. */
            summary?: string | null;
            /** @enum {string} */
            type: "done";
        } | {
            /** @description A stable code: `TIMEOUT`, `SANDBOX_ERROR`, `LLM_ERROR`, … */
            code?: string | null;
            /** @description What went wrong. */
            message: string;
            /** @description A retry may help. */
            recoverable: boolean;
            /** @enum {string} */
            type: "error";
        } | {
            /** @description Its name. */
            step_id: string;
            /** @description For people. */
            title?: string | null;
            /** @enum {string} */
            type: "step_start";
        } | {
            /** @description What is new. */
            content: string;
            /** @description Which one. */
            step_id: string;
            /** @enum {string} */
            type: "step_delta";
        } | {
            /** @description How it ended. */
            status: components["schemas"]["StepStatus"];
            /** @description Which one. */
            step_id: string;
            /** @enum {string} */
            type: "step_end";
        } | {
            /** @enum {string} */
            type: "output_start";
        } | {
            /** @description What is new. */
            content: string;
            /** @enum {string} */
            type: "output_delta";
        } | {
            /** @description Which one. */
            artifact: components["schemas"]["ArtifactMetadata"];
            /** @enum {string} */
            type: "artifact_created";
        } | {
            /** @description Which one. */
            artifact: components["schemas"]["ArtifactMetadata"];
            /** @description What changed. */
            changes?: string[] | null;
            /** @enum {string} */
            type: "artifact_updated";
        } | {
            /** @description Its input. */
            tool_input?: unknown;
            /** @description Which one. */
            tool_name: string;
            /** @enum {string} */
            type: "tool_start";
        } | {
            /** @description The tool failed. */
            is_error: boolean;
            /** @description What is new. */
            output?: string | null;
            /** @description Which one. */
            tool_name: string;
            /** @enum {string} */
            type: "tool_output";
        } | {
            /** @description How it ended. */
            status: components["schemas"]["ToolStatus"];
            /** @description Which one. */
            tool_name: string;
            /** @enum {string} */
            type: "tool_end";
        } | {
            /** @description Relative to `/outputs`; a file outside of it has a path such as `../notes.txt`. */
            path: string;
            /**
             * Format: int64
             * @description Its size in bytes.
             */
            size_bytes?: number | null;
            /** @enum {string} */
            type: "file_write";
        } | {
            /** @description As in `file_write`. */
            path: string;
            /** @enum {string} */
            type: "file_delete";
        };
        /** @description A path that differs between two versions. */
        PathChange: {
            after?: components["schemas"]["TreeEntry"] | null;
            before?: components["schemas"]["TreeEntry"] | null;
            /** @description What happened to it. */
            change: components["schemas"]["TreeChange"];
            /** @description Relative to the workspace. A backslash is written as `\\`, a byte that is not UTF-8 as `\xNN`. */
            path: string;
        };
        /**
         * @description Whether an agent must ask before it acts.
         * @enum {string}
         */
        PermissionMode: "auto" | "ask";
        /** @description Access to a preview. */
        PreviewLink: {
            /** @description When it expires. */
            expiresAt: components["schemas"]["Timestamp"];
            /** @description Whether the app already listens; if not, the browser shows a waiting page. */
            ready: boolean;
            /** @description Works once, for one browser. Redirects to the preview. */
            url: string;
        };
        /** @description An RFC 9457 problem document; its media type is `application/problem+json`. */
        Problem: {
            at?: components["schemas"]["At"] | null;
            /** @description A stable name to act on. */
            code: components["schemas"]["ErrorCode"];
            currentVersion?: components["schemas"]["Version"] | null;
            /** @description What is wrong. */
            detail: string;
            /** @description What to do about it. */
            hint?: string | null;
            /** @description The requested path. */
            instance: string;
            /** @description Finds the request in the server's log. */
            requestId: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description The title of the code; the same for every error with this code. */
            title: string;
            /** @description The page that explains the code, on this server. */
            type: string;
        };
        /** @description A profile, by name. */
        ProfileId: string;
        /** @description All profiles, by id. */
        ProfileList: {
            /** @description All of them. */
            profiles: components["schemas"]["AgentProfile"][];
        };
        /**
         * Format: uuid
         * @description A group of sessions and workspaces.
         */
        ProjectId: string;
        /** @description A model provider. Its key is never shown. */
        ProviderItem: {
            /** @description The base URL of its API. */
            baseUrl: string;
            /** @description Whether there is a key. */
            hasKey: boolean;
            /** @description The demo model answers instead, because there is no key and no base URL. */
            isDemo: boolean;
            /** @description A key or base URL is stored and takes precedence over the configuration; it can be removed. */
            isSet: boolean;
            /** @description The last four characters of the key, if the key is long enough. */
            keyEnding?: string | null;
            keySource?: components["schemas"]["ProviderKeySource"] | null;
            /** @description Its display name. */
            label: string;
            /** @description Its name. */
            name: string;
            /** @description Why the stored key is not used. */
            problem?: string | null;
            /** @description The environment variable from which the server reads a key at its start. */
            variable: string;
        };
        /**
         * @description Where a provider's key comes from.
         * @enum {string}
         */
        ProviderKeySource: "config" | "environment" | "page";
        /** @description All model providers. */
        ProviderList: {
            /** @description All of them. */
            providers: components["schemas"]["ProviderItem"][];
        };
        /**
         * @description Sets the key and the base URL of a provider together: absent fields are cleared. So a stored key is never sent to a
         *     different address than its own.
         */
        ProviderPut: {
            /** @description The key. It is stored encrypted and never shown again. If absent, requests are sent without a key. */
            apiKey?: string | null;
            /**
             * @description The base URL of the API; the configured one if absent. Plain HTTP is allowed for this machine only, unless
             *     `models.allow_http_base_url` is set.
             */
            baseUrl?: string | null;
        };
        /**
         * @description The result of a provider test.
         * @enum {string}
         */
        ProviderTestStatus: "ok" | "noKey" | "wrongKey" | "wrongUrl" | "unreachable" | "failed";
        /** @description The result of asking a provider for its models. */
        ProviderTested: {
            /** @description What to do about it. */
            hint?: string | null;
            /** @description The same for people. */
            message: string;
            /**
             * Format: int64
             * @description The number of its models that sandboxes may use.
             */
            models?: number | null;
            /** @description The result. */
            status: components["schemas"]["ProviderTestStatus"];
        };
        /** @description Whether the server is ready. */
        Ready: {
            /** @description `ready`, or what is missing. */
            status: string;
        };
        /**
         * @description How much a model thinks before it answers. More takes longer and costs more.
         * @enum {string}
         */
        ReasoningEffort: "low" | "medium" | "high";
        /** @description A replay of a run, or of all runs of a session, with the recorded model responses. */
        Replay: components["schemas"]["ReplayOutcome"] & {
            endedAt?: components["schemas"]["Timestamp"] | null;
            /** @description Its name. */
            replayId: components["schemas"]["ReplayId"];
            runId?: components["schemas"]["RunId"] | null;
            /** @description One report per run, if the whole session is replayed. */
            runs?: components["schemas"]["ReplayedRun"][];
            /** @description The replayed session. */
            sessionId: components["schemas"]["SessionId"];
            /** @description When it began. */
            startedAt: components["schemas"]["Timestamp"];
            /** @description Its status. */
            status: components["schemas"]["ReplayStatus"];
        };
        /** @description The number of compared items, and how many were equal. */
        ReplayCount: {
            /**
             * Format: int64
             * @description The number of items on either side.
             */
            compared: number;
            /**
             * Format: int64
             * @description The number of equal items.
             */
            equal: number;
        };
        /** @description A difference that did not end the replay. */
        ReplayDifference: {
            conversationId?: components["schemas"]["ConversationId"] | null;
            /** @description What is different. */
            diff: string;
            /** @description For people. */
            message: string;
            runId?: components["schemas"]["RunId"] | null;
            /** @description Matches it with the tool call. */
            toolUseId?: string | null;
        };
        /** @description The first divergence of a replay. */
        ReplayDivergence: {
            conversationId?: components["schemas"]["ConversationId"] | null;
            /** @description The difference, as a unified diff of the recording and the replay. */
            diff?: string | null;
            /**
             * Format: int64
             * @description The recorded model call, from 1.
             */
            index?: number | null;
            /** @description The kind of divergence. */
            kind: components["schemas"]["ReplayDivergenceKind"];
            /** @description For people. */
            message: string;
            runId?: components["schemas"]["RunId"] | null;
        };
        /**
         * @description The kind of a divergence.
         * @enum {string}
         */
        ReplayDivergenceKind: "request" | "extra_call" | "missing_call" | "egress" | "approval" | "outcome" | "event" | "files";
        /** @description Files of the resulting tree. */
        ReplayFiles: {
            /**
             * Format: int64
             * @description The number of items on either side.
             */
            compared: number;
            /** @description The paths of the others; at most 100. */
            different: string[];
            /**
             * Format: int64
             * @description The number of files with the same content, kind and mode.
             */
            equal: number;
        };
        /**
         * Format: uuid
         * @description A replay of a run or of a whole session.
         */
        ReplayId: string;
        /** @description The result of a replay. */
        ReplayOutcome: {
            /** @description Model calls: recorded and replayed. */
            calls: components["schemas"]["ReplayCount"];
            /** @description Differences that did not end the replay: tool output. */
            differences: components["schemas"]["ReplayDifference"][];
            /** @description Whether anything differed from the recording; absent while unknown. */
            diverged?: boolean | null;
            error?: components["schemas"]["ReplayProblem"] | null;
            /** @description Entries of the log. */
            events: components["schemas"]["ReplayCount"];
            /** @description Files of the resulting tree. */
            files: components["schemas"]["ReplayFiles"];
            firstDivergence?: components["schemas"]["ReplayDivergence"] | null;
            /** @description Remarks: what could not be compared, and why. */
            notes?: string[];
        };
        /** @description Part of a session's replays, newest first. */
        ReplayPage: {
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description The part. */
            replays: components["schemas"]["Replay"][];
        };
        /** @description Why a replay failed. */
        ReplayProblem: {
            /** @description A stable code; see `docs/errors/`. */
            code: components["schemas"]["ErrorCode"];
            /** @description What happened. */
            message: string;
        };
        /** @description Options of a new replay. */
        ReplayStart: {
            /** @description Answer when it has ended, not when it has started. */
            wait?: boolean;
        };
        /**
         * @description The status of a replay.
         * @enum {string}
         */
        ReplayStatus: "running" | "done" | "failed";
        /** @description One run of a replayed session. */
        ReplayedRun: components["schemas"]["ReplayOutcome"] & {
            /** @description Which. */
            runId: components["schemas"]["RunId"];
            /** @description Its status. */
            status: components["schemas"]["ReplayStatus"];
        };
        /**
         * @description The resolution of an approval.
         * @enum {string}
         */
        Resolution: "allow" | "allow_always" | "deny" | "expired";
        /**
         * @description How a rule's pattern is compared with a call.
         * @enum {string}
         */
        RuleScope: "exact" | "prefix" | "directory" | "tool";
        /**
         * @description Where the next run starts if an earlier one left uncommitted changes.
         * @enum {string}
         */
        RunFrom: "head" | "version";
        /**
         * Format: uuid
         * @description A run.
         */
        RunId: string;
        /** @description A run, ended, active or queued. */
        RunItem: {
            baseVersion?: components["schemas"]["Version"] | null;
            /** @description The message. */
            content: components["schemas"]["Content"];
            /** @description When it was requested. */
            createdAt: components["schemas"]["Timestamp"];
            endedAt?: components["schemas"]["Timestamp"] | null;
            error?: components["schemas"]["RunProblem"] | null;
            /** @description What the sender set for it. */
            options: components["schemas"]["RunOptions"];
            /** @description Its name. */
            runId: components["schemas"]["RunId"];
            /** @description The log entry that announced it. */
            seq: components["schemas"]["Seq"];
            /** @description The session of the run. */
            sessionId: components["schemas"]["SessionId"];
            startedAt?: components["schemas"]["Timestamp"] | null;
            /** @description Its status. */
            status: components["schemas"]["RunStatus"];
            /** @description The usage. */
            usage: components["schemas"]["Usage"];
            version?: components["schemas"]["Version"] | null;
        };
        /** @description Options of a run or, as defaults, of a session. */
        RunOptions: {
            budget?: components["schemas"]["Budget"] | null;
            effort?: components["schemas"]["ReasoningEffort"] | null;
            /** @description The model that the agent should use. */
            model?: string | null;
            permissionMode?: components["schemas"]["PermissionMode"] | null;
            timeBudget?: components["schemas"]["TimeBudget"] | null;
        };
        /** @description Part of a session's runs, newest first. */
        RunPage: {
            earlier?: components["schemas"]["Usage"] | null;
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description The part. */
            runs: components["schemas"]["RunItem"][];
        };
        /** @description Changes a queued message. */
        RunPatch: {
            content?: components["schemas"]["Content"] | null;
            /**
             * Format: int32
             * @description Its new position in the queue, from 1, if it changes; a position past the end means the last.
             */
            position?: number | null;
        };
        /** @description Why a run failed. */
        RunProblem: {
            /** @description A stable code; see `docs/errors/`. */
            code: string;
            /** @description What happened. */
            message: string;
        };
        /**
         * @description The status of a run. Stored with the run's record, and always changed together with its event.
         * @enum {string}
         */
        RunStatus: "queued" | "running" | "completed" | "failed" | "interrupted" | "steered";
        /** @description A whole session as of `lastSeq`: follow the events after it to stay up to date. */
        RuntimeSessionData: components["schemas"]["SessionListItem"] & {
            /** @description The main conversation. */
            blocks: components["schemas"]["Block"][];
            /** @description With `limit`: there are older blocks of the main conversation. Pass it as `before` to the list of messages. */
            previousCursor?: string | null;
            /** @description Queued runs, the next one first. */
            queue: components["schemas"]["RunId"][];
            /**
             * @description They are held, because a person stopped the run before them: a new message or `PATCH` with `queueHeld: false`
             *     releases them.
             */
            queueHeld?: boolean;
            /** @description With `include=rawTranscript`: the agent's own transcript of the main conversation; absent before its first run. */
            rawTranscript?: string | null;
            /** @description The subagents' conversations, in the order in which they opened. */
            subagents: components["schemas"]["SubagentThread"][];
            /** @description Files of its workspace as last seen; empty with `limit`. Never their content. */
            workspaceFiles: components["schemas"]["WorkspaceFile"][];
        };
        /** @description A sandbox from one start; a restart creates a new one. */
        SandboxId: string;
        /** @description A session's sandbox, for people. */
        SandboxItem: {
            /** @description Its actual isolation. */
            isolation?: unknown;
            /** @description Its limits. */
            limits?: unknown;
            /** @description Its history, newest last. */
            log: unknown[];
            /** @description Its current usage. */
            resources?: unknown;
            /** @description Whether the session is loaded, and its sandbox if it has one. */
            runtime: components["schemas"]["SessionRuntimeState"];
            /** @description Whose it is. */
            sessionId: components["schemas"]["SessionId"];
        };
        /** @description All sandboxes of this node. */
        SandboxList: {
            /** @description All of them. */
            sandboxes: components["schemas"]["SandboxItem"][];
        };
        /** @description One sandbox. */
        SandboxState: {
            /** @description Its actual isolation. */
            isolation?: unknown;
            /**
             * Format: int64
             * @description When it last responded, in milliseconds since 1970.
             */
            lastHealthCheck: number;
            /**
             * Format: int32
             * @description How often it was restarted because it was unhealthy.
             */
            restartCount: number;
            /** @description Which one. */
            sandboxId: components["schemas"]["SandboxId"];
            /** @description Its status. */
            status: components["schemas"]["SandboxStatus"];
            /** @description A status message. */
            statusMessage?: string | null;
        };
        /**
         * @description The status of a sandbox.
         * @enum {string}
         */
        SandboxStatus: "starting" | "ready" | "unhealthy" | "terminated";
        /**
         * Format: int64
         * @description A position in a session's log. The first event is 1; 0 is before it.
         */
        Seq: number;
        /** @description Changes of a session's own data. */
        SessionChanges: {
            /** @description Its complete new metadata. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Its new name. */
            name?: string | null;
            /** @description Its complete new options. */
            options?: unknown;
            /** @description Whether queued messages are held, as they are after a person stopped a run. The next run releases them. */
            queueHeld?: boolean | null;
        };
        /** @description Creates a session. All fields are optional. */
        SessionCreate: {
            agentProfileReference?: components["schemas"]["ProfileId"] | null;
            /**
             * @description `true` (the default without `workspaceId`) gives the session its own workspace; `false` uses the project's
             *     oldest one.
             */
            createWorkspace?: boolean | null;
            /** @description The client's own data, returned unchanged. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description A display name. */
            name?: string | null;
            options?: components["schemas"]["SessionOptions"] | null;
            projectId?: components["schemas"]["ProjectId"] | null;
            type?: components["schemas"]["AgentType"] | null;
            workspaceId?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description Ends a session. */
        SessionEnd: {
            /** @description The reason; it is recorded. */
            reason?: string | null;
        };
        /** @description Forks a session from a version of another. */
        SessionFork: {
            /** @description A display name. */
            name?: string | null;
            profile?: components["schemas"]["ProfileId"] | null;
            type?: components["schemas"]["AgentType"] | null;
            version?: components["schemas"]["Version"] | null;
        };
        /** @description A fork. */
        SessionForked: components["schemas"]["SessionListItem"] & {
            /** @description What the fork lacks, in words. */
            loss?: string[];
        };
        /**
         * Format: uuid
         * @description One conversation with one agent. Immutable; UUIDv7, so that IDs sort by creation.
         */
        SessionId: string;
        /** @description Creates a session from an agent's transcript. */
        SessionImport: {
            agentProfileReference?: components["schemas"]["ProfileId"] | null;
            /** @description The client's own data, returned unchanged. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description A display name. */
            name?: string | null;
            projectId?: components["schemas"]["ProjectId"] | null;
            /** @description Its subagents' transcripts. */
            subagents?: components["schemas"]["ImportedThread"][];
            /** @description The main transcript, as the agent wrote it. */
            transcript: string;
            /** @description The agent that wrote the transcript and continues it. */
            type: components["schemas"]["AgentType"];
        };
        /** @description A session in a list. Its state is derived at the time of the request; none is stored. */
        SessionListItem: {
            activeRunId?: components["schemas"]["RunId"] | null;
            /** @description Its profile. */
            agentProfileReference: components["schemas"]["ProfileId"];
            /**
             * Format: int64
             * @description When it was created, in milliseconds since 1970.
             */
            createdAt: number;
            forkedFrom?: components["schemas"]["ForkedFrom"] | null;
            /**
             * Format: int64
             * @description The time of its last activity, in milliseconds since 1970.
             */
            lastActivity: number;
            lastRunStatus?: components["schemas"]["RunStatus"] | null;
            /** @description The head of its log. */
            lastSeq: components["schemas"]["Seq"];
            /** @description The client's own data. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description A display name. */
            name?: string | null;
            /** @description Defaults for its runs. */
            options: unknown;
            /** @description The project it belongs to. */
            projectId: components["schemas"]["ProjectId"];
            /** @description Whether it is loaded, and its sandbox. */
            runtime: components["schemas"]["SessionRuntimeState"];
            /** @description Its permanent ID. */
            sessionId: components["schemas"]["SessionId"];
            /** @description Its agent. */
            type: components["schemas"]["AgentType"];
            /** @description Its latest version. */
            version: components["schemas"]["Version"];
            /** @description Its workspace. */
            workspaceId: components["schemas"]["WorkspaceId"];
        };
        /**
         * @description A change of a session in the list.
         * @enum {string}
         */
        SessionNews: "created" | "changed" | "erased" | "missed";
        /** @description Defaults for the runs of a session. */
        SessionOptions: {
            budget?: components["schemas"]["Budget"] | null;
            effort?: components["schemas"]["ReasoningEffort"] | null;
            /** @description The model that the agent should use. */
            model?: string | null;
            permissionMode?: components["schemas"]["PermissionMode"] | null;
            timeBudget?: components["schemas"]["TimeBudget"] | null;
        };
        /** @description Part of the list of sessions, newest first. */
        SessionPage: {
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description The part. */
            sessions: components["schemas"]["SessionListItem"][];
        };
        /** @description Changes a session's own data. Absent fields stay unchanged. */
        SessionPatch: {
            /** @description Its complete new metadata. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Its new name. */
            name?: string | null;
            options?: components["schemas"]["SessionOptions"] | null;
            /** @description `false` resumes queued messages that a stop holds; `true` holds them. */
            queueHeld?: boolean | null;
        };
        /** @description Restores an older version. */
        SessionRestore: {
            /** @description Which one. */
            version: components["schemas"]["Version"];
        };
        /** @description Whether a session is loaded, and the state of its sandbox. */
        SessionRuntimeState: {
            /** @description The session is loaded on some node. */
            isLoaded: boolean;
            sandbox?: components["schemas"]["SandboxState"] | null;
        };
        /**
         * @description A line of `GET /api/events`: a change in the list of sessions. It has no number; after a disconnect, list the
         *     sessions again.
         */
        SessionsChanged: {
            /** @description What happened. */
            change: components["schemas"]["SessionNews"];
            session?: components["schemas"]["SessionListItem"] | null;
            sessionId?: components["schemas"]["SessionId"] | null;
            /** @description Always `sessions_changed`. */
            type: string;
        };
        /** @description Signs a browser in with the user's token. */
        SignIn: {
            /** @description The token. The browser gets a cookie with the same permissions, which expires after 30 days or with the token. */
            token: string;
        };
        /** @description Signs a browser in, once. */
        SignInLink: {
            /** @description When the link stops working. */
            expiresAt: components["schemas"]["Timestamp"];
            /** @description Path and query to open on this server. */
            path: string;
        };
        /** @description A skill: instructions that an agent looks up when it needs them. */
        Skill: {
            /** @description When to use it. */
            description?: string;
            /** @description Its name. */
            name: string;
            /** @description npm packages it needs. */
            npmDependencies?: string[];
            /** @description pip packages it needs. */
            pipDependencies?: string[];
            /** @description The skill itself. */
            skillMd?: string;
            /** @description Files beside it. */
            supportingFiles?: components["schemas"]["WorkspaceTemplateFile"][];
        };
        /** @description A file that could not be saved. */
        SkippedFile: {
            /** @description Relative to the workspace; or absolute in the sandbox, if it is not in the workspace. */
            path: string;
            /**
             * @description `special`: a device, pipe or socket; `unreadable`: it could not be opened or read; `too_long`: its path is;
             *     `link_out`: a link of an imported archive that leads out of the workspace.
             */
            why: string;
        };
        /** @description A long field that is stored as a blob. */
        Spilled: {
            /** @description The blob that holds it. */
            blob: components["schemas"]["BlobHash"];
            /** @description JSON pointer of the field inside the event. */
            pointer: string;
            /**
             * Format: int64
             * @description The size of the full text in bytes.
             */
            sizeBytes: number;
        };
        /**
         * @description How a step ended.
         * @enum {string}
         */
        StepStatus: "success" | "failed" | "skipped";
        /** @description An agent that another one can call. */
        Subagent: {
            /** @description When to call it. */
            description?: string;
            /** @description Its model. */
            model?: string | null;
            /** @description Its name. */
            name: string;
            /** @description Its prompt. */
            prompt?: string;
            /** @description Tools it may use; all if absent. */
            tools?: string[] | null;
        };
        /** @description A subagent's thread opens. */
        SubagentStarted: {
            /** @description The task it was given. */
            input: unknown;
            /** @description The kind of subagent. */
            name?: string | null;
            /** @description The thread that called it. */
            parent: components["schemas"]["ConversationId"];
            /** @description The agent's own ID for it. */
            subagentId: string;
            /** @description The tool call that started it. */
            toolUseId?: string | null;
        };
        /** @description A subagent's conversation. */
        SubagentThread: {
            /** @description Its blocks. */
            blocks: components["schemas"]["Block"][];
            /** @description The ID of its conversation. */
            id: components["schemas"]["ConversationId"];
            /** @description With `include=rawTranscript`: the agent's own transcript of it, where the agent keeps one. */
            rawTranscript?: string | null;
        };
        /**
         * @description The kind of a system message.
         * @enum {string}
         */
        SystemSubtype: "session_start" | "session_end" | "error" | "status" | "hook_response" | "auth_status";
        /** @description The time budget of a run. */
        TimeBudget: {
            /**
             * Format: int64
             * @description After this many seconds the run is stopped.
             */
            hardSeconds: number;
            /**
             * Format: int64
             * @description After this many seconds the agent is asked to wrap up.
             */
            softSeconds?: number | null;
        };
        /** Format: date-time */
        Timestamp: string;
        /** @description Creates a token. */
        TokenCreate: {
            expiresAt?: components["schemas"]["Timestamp"] | null;
            /** @description A display name. */
            name: string;
            /** @description Its owner: messages of all tokens of one owner are counted together. If absent, the token is counted on its own. */
            owner?: string | null;
            /** @description Its plan: `unpaid`, `paid` or `unlimited`; the default of its scope if absent. */
            plan?: string | null;
            /** @description Its permissions: `admin`, `admin:ro`, `project:<id>` or `project:<id>:ro`. */
            scope: string;
        };
        /** @description A new token with its secret, which is shown only once. */
        TokenCreated: components["schemas"]["TokenItem"] & {
            /** @description For `Authorization: Bearer …`. It is not stored and cannot be shown again. */
            secret: string;
        };
        /**
         * Format: uuid
         * @description The public ID of a token; reveals nothing about its secret.
         */
        TokenId: string;
        /** @description A token, without its secret. */
        TokenItem: {
            /** @description When it was created. */
            createdAt: components["schemas"]["Timestamp"];
            expiresAt?: components["schemas"]["Timestamp"] | null;
            /** @description A display name. */
            name: string;
            /** @description Its owner, if set. */
            owner?: string | null;
            parent?: components["schemas"]["TokenId"] | null;
            /** @description Its plan, if set. */
            plan?: string | null;
            /** @description Its permissions. */
            scope: string;
            /** @description Its public name. */
            tokenId: components["schemas"]["TokenId"];
        };
        /** @description All tokens, oldest first. */
        TokenList: {
            /** @description All of them. */
            tokens: components["schemas"]["TokenItem"][];
        };
        /**
         * @description How a tool ended.
         * @enum {string}
         */
        ToolStatus: "success" | "failed";
        /** @description A transcript at a version. */
        TranscriptLength: {
            /**
             * Format: int64
             * @description Its size in bytes.
             */
            bytes: number;
            /** @description `main`, or the agent's own ID for it. */
            thread: string;
        };
        /**
         * @description What happened to a file between two versions.
         * @enum {string}
         */
        TreeChange: "added" | "removed" | "changed";
        /** @description An entry of a version's directory. */
        TreeEntry: {
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description `file`, `directory` or `symlink`. */
            kind: string;
            /**
             * Format: int32
             * @description Permission bits.
             */
            mode: number;
            /** @description When it was last modified. */
            modifiedAt: components["schemas"]["Timestamp"];
            /** @description Its name. */
            name: string;
            /** @description The path, for requests. */
            path: string;
            /**
             * Format: int64
             * @description Its size in bytes.
             */
            sizeBytes: number;
            /** @description The target of a link. */
            target?: string | null;
        };
        /** @description A directory of a version. */
        TreeListing: {
            /** @description Its entries, by name. */
            entries: components["schemas"]["TreeEntry"][];
            /** @description The directory. */
            path: string;
        };
        /** @description The uploaded files. */
        Uploaded: {
            /** @description In the order of the upload. */
            files: components["schemas"]["FileItem"][];
        };
        /** @description Tokens and money of one model call, one run or one session. */
        Usage: {
            /**
             * Format: int64
             * @description Input tokens read from a provider's cache.
             * @default 0
             */
            cacheReadTokens: number;
            /**
             * Format: int64
             * @description Input tokens written into a provider's cache.
             * @default 0
             */
            cacheWriteTokens: number;
            /**
             * Format: double
             * @description Cost in US dollars, by the price table. Includes the cost of estimated tokens.
             * @default 0
             */
            costUSD: number;
            /**
             * Format: int64
             * @description Estimated tokens of calls whose provider did not report everything. Part of the total and of no other field.
             * @default 0
             */
            estimatedTokens: number;
            /**
             * Format: int64
             * @description Input tokens, without cached ones.
             * @default 0
             */
            inputTokens: number;
            /**
             * @description The model, or `None` when several took part.
             * @default null
             */
            model: string | null;
            /**
             * Format: int64
             * @description Output tokens.
             * @default 0
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Output tokens spent on thinking, if the provider reports them.
             * @default 0
             */
            thinkingTokens: number;
            /**
             * Format: int64
             * @description All of the above that are billed: input, output, cache, and estimated tokens.
             * @default 0
             */
            totalTokens: number;
        };
        /** @description Usage by group. */
        UsageReport: {
            /** @description The groups. */
            rows: components["schemas"]["UsageRow"][];
            /** @description All of them together. */
            total: components["schemas"]["Usage"];
        };
        /** @description The usage of one group. */
        UsageRow: {
            /** @description The group's name. */
            group: string;
            /**
             * Format: int64
             * @description How many runs ended.
             */
            runs: number;
            /** @description Their usage. */
            usage: components["schemas"]["Usage"];
        };
        /**
         * Format: int64
         * @description A version of a session. v0 is its initial state.
         */
        Version: number;
        /**
         * @description Why a version was created.
         * @enum {string}
         */
        VersionCause: "run" | "interrupt" | "recovered" | "idle" | "edited" | "template" | "manual" | "restore" | "import" | "fork";
        /** @description Paths of the workspace that differ between two versions, or a part of them. */
        VersionChanges: {
            /** @description Files, links, and directories that only one of them has; by path, a directory before its content. */
            changes: components["schemas"]["PathChange"][];
            /** @description Before. */
            from: components["schemas"]["VersionPlace"];
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description After. */
            to: components["schemas"]["VersionPlace"];
        };
        /** @description One version in full. */
        VersionDetail: components["schemas"]["VersionItem"] & {
            /** @description Excluded paths: caches and dependencies. */
            excluded: string[];
            /** @description Files that could not be saved, at most 1,000 of them. */
            skipped?: components["schemas"]["SkippedFile"][];
            /** @description The agent's transcripts. */
            transcripts: components["schemas"]["TranscriptLength"][];
            /** @description Files that kept changing while they were read, at most 1,000 of them; their last content is saved. */
            unstable?: string[];
        };
        /** @description How two versions differ. */
        VersionDiff: {
            /** @description New blocks of the main conversation. Empty if only some files were requested, with `path` or `after`. */
            blocks: components["schemas"]["Block"][];
            /** @description Files that differ, by path. */
            files: components["schemas"]["FileDiff"][];
            /** @description Before. */
            from: components["schemas"]["Version"];
            /** @description After. */
            to: components["schemas"]["Version"];
            /** @description More files differ. */
            truncated?: boolean;
        };
        /** @description The current state of a session. */
        VersionHead: {
            /** @description There are uncommitted changes: a run failed, or files changed between runs. The next run commits them first. */
            dirty: boolean;
            /** @description Its latest version. */
            version: components["schemas"]["Version"];
        };
        /** @description A version in a list. */
        VersionItem: {
            /** @description Its base version. */
            base: components["schemas"]["Version"];
            /**
             * Format: int64
             * @description The number of new blocks since its base.
             */
            blocks: number;
            /** @description Why it was created. */
            cause: components["schemas"]["VersionCause"];
            /**
             * Format: double
             * @description The cost.
             */
            costUSD: number;
            /** @description When it was created. */
            createdAt: components["schemas"]["Timestamp"];
            /** @description Its files and transcripts have been deleted. */
            expired?: boolean;
            /** @description File changes since its base. */
            files: components["schemas"]["FileCounts"];
            /** @description A name; labelled versions are kept forever. */
            label?: string | null;
            restored?: components["schemas"]["Version"] | null;
            runId?: components["schemas"]["RunId"] | null;
            /** @description Its last log entry. */
            seq: components["schemas"]["Seq"];
            /** @description Another session worked in the same workspace at the same time. */
            shared?: boolean;
            /**
             * Format: int64
             * @description Bytes of all its files.
             */
            sizeBytes: number;
            /** @description The session's usage up to then. */
            usage: components["schemas"]["Usage"];
            /** @description Its number. */
            version: components["schemas"]["Version"];
        };
        /** @description Labels a version. */
        VersionLabel: {
            /** @description The label, 1 to 100 characters; `null` removes it. */
            label?: string | null;
        };
        /** @description Part of the list of versions, newest first. */
        VersionPage: {
            /** @description The current state of the session. */
            head: components["schemas"]["VersionHead"];
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description The part. */
            versions: components["schemas"]["VersionItem"][];
        };
        /** @description A reference to a version, possibly of the session that this one was forked from. */
        VersionPlace: {
            /** @description Why it was created. */
            cause: components["schemas"]["VersionCause"];
            /** @description Whose. */
            sessionId: components["schemas"]["SessionId"];
            /** @description Which. */
            version: components["schemas"]["Version"];
        };
        /**
         * @description What to do with a message that arrives while a run is in progress.
         * @enum {string}
         */
        WhenBusy: "queue" | "steer" | "reject";
        /** @description The signed-in caller. */
        WhoAmI: {
            /** @description For browsers: the value of `X-Warren-CSRF` for requests that change something. */
            csrf?: string | null;
            /** @description Its display name. */
            name: string;
            /** @description Its permissions. */
            scope: string;
            /** @description The caller's token, or the one behind the browser's cookie. */
            tokenId: components["schemas"]["TokenId"];
        };
        /** @description A file of a workspace. */
        WorkspaceFile: {
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description `file`, `directory`, `symlink` or, for pipes and similar, `other`. */
            kind: string;
            /**
             * Format: int32
             * @description Permission bits.
             */
            mode: number;
            /** @description When it was last modified. */
            modifiedAt: components["schemas"]["Timestamp"];
            /** @description Relative to the workspace. */
            path: string;
            /**
             * Format: int64
             * @description Its size in bytes.
             */
            sizeBytes: number;
        };
        /**
         * Format: uuid
         * @description A directory tree that sessions work in.
         */
        WorkspaceId: string;
        /** @description A file a workspace starts with. */
        WorkspaceTemplateFile: {
            /** @description Text content. */
            content: string;
            /** @description Relative path. */
            path: string;
        };
    };
    responses: {
        /** @description A problem document with one of these codes: BAD_REQUEST, AGENT_UNKNOWN */
        Problem400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: UNAUTHORIZED */
        Problem401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: BUDGET_EXCEEDED */
        Problem402: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: FORBIDDEN */
        Problem403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: NOT_FOUND */
        Problem404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: METHOD_NOT_ALLOWED */
        Problem405: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: NOT_ACCEPTABLE */
        Problem406: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: CONFLICT, RUN_IN_PROGRESS, APPROVAL_NOT_PENDING, VERSION_CONFLICT, SESSION_ELSEWHERE */
        Problem409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: SESSION_ENDED, RECORDING_EXPIRED */
        Problem410: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: PRECONDITION_FAILED */
        Problem412: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: TOO_LARGE */
        Problem413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: UNSUPPORTED_MEDIA_TYPE */
        Problem415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: RANGE_NOT_SATISFIABLE */
        Problem416: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: MISDIRECTED */
        Problem421: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: IDEMPOTENCY_MISMATCH, CONVERSION_FAILED */
        Problem422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: QUEUE_FULL, MESSAGE_LIMIT */
        Problem429: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: DATA_DAMAGED, INTERNAL */
        Problem500: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: SANDBOX_ERROR, AGENT_ERROR, LLM_ERROR */
        Problem502: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: UNAVAILABLE, CONVERTER_MISSING, ISOLATION_MISSING, SERVER_RESTARTED */
        Problem503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: TIMEOUT */
        Problem504: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A problem document with one of these codes: OUT_OF_MEMORY, DISK_LIMIT, STORAGE_LIMIT */
        Problem507: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
