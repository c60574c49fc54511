// Generated from docs/openapi.json by `npm run codegen`. Never edited.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An agent, or a program that can be one. */
        AgentItem: {
            /** @description The version that is installed. */
            installedVersion?: string | null;
            /** @description Whether it can be the `type` of a session; what cannot is a program for the `command` of a profile. */
            isAgent: boolean;
            /** @description Its name. */
            name: string;
            /** @description The version that would be installed. */
            pinnedVersion?: string | null;
            /** @description Whether it can be used now: it needs no program, or the program is installed. */
            ready: boolean;
            /**
             * Format: int64
             * @description Bytes of the program on disk.
             */
            sizeBytes?: number | null;
        };
        /** @description All agents. */
        AgentList: {
            /** @description In the order in which they are offered. */
            agents: components["schemas"]["AgentItem"][];
        };
        /** @description What an agent is given: instructions, skills, subagents, commands, tools, environment and files. */
        AgentProfile: {
            /** @description Instructions in the manner of CLAUDE.md. */
            agentMDFile?: string | null;
            /** @description MCP servers that come with the profile's own files. */
            bundledMCPs?: components["schemas"]["McpServer"][];
            /** @description The command to start, for agents that are only a command. */
            command?: string[] | null;
            /** @description Prompts with a name. */
            commands?: components["schemas"]["Command"][];
            /** @description Files a new workspace starts with. */
            defaultWorkspaceFiles?: components["schemas"]["WorkspaceTemplateFile"][];
            /** @description What it is for. */
            description?: string | null;
            /** @description Hosts the agent may reach: `example.com`, `*.example.com`, each perhaps with a port. Nothing else leaves a sandbox. */
            egressAllow?: string[];
            /** @description Environment of the agent. Never a place for secrets: the sandbox can read it. */
            environmentVariables?: {
                [key: string]: string;
            };
            /** @description MCP servers elsewhere. */
            externalMCPs?: components["schemas"]["McpServer"][];
            /** @description Its name in requests. */
            id?: components["schemas"]["ProfileId"];
            /** @description The model to ask for. */
            model?: string | null;
            /** @description Its name for people. */
            name?: string | null;
            projectId?: components["schemas"]["ProjectId"] | null;
            /** @description Whether the agent may use tools that the model's provider runs, such as web search. They cost extra. */
            providerTools?: boolean;
            /** @description Things the agent can look up how to do. */
            skills?: components["schemas"]["Skill"][];
            /** @description Agents it may call. */
            subagents?: components["schemas"]["Subagent"][];
            /** @description Put before everything else the agent is told. */
            systemPrompt?: string | null;
            /** @description Tools it may use; all if absent. */
            tools?: string[] | null;
        };
        /** @description Which agent a session talks to (`builtin`, `claude-code`, …). */
        AgentType: string;
        /** @description Answers an agent. The same decision again changes nothing. */
        ApprovalAnswer: {
            /** @description For questions: the question's text → the chosen label, a list of labels, or free text. */
            answers?: {
                [key: string]: unknown;
            } | null;
            /** @description Yes, yes for the rest of the session, or no. */
            decision: components["schemas"]["ApprovalDecision"];
            /** @description What the agent is told with it. */
            message?: string | null;
            rule?: components["schemas"]["ApprovalRule"] | null;
        };
        /**
         * @description What a person may say.
         * @enum {string}
         */
        ApprovalDecision: "allow" | "allow_always" | "deny";
        /**
         * Format: uuid
         * @description A question to a person.
         */
        ApprovalId: string;
        /** @description Something an agent asked, and what became of it. */
        ApprovalItem: components["schemas"]["ApprovalRequest"] & {
            /** @description When it asked. */
            requestedAt: components["schemas"]["Timestamp"];
            resolution?: components["schemas"]["ApprovalOutcome"] | null;
            runId?: components["schemas"]["RunId"] | null;
            /** @description Whose agent asks. */
            sessionId: components["schemas"]["SessionId"];
            /** @description Whether an answer is waited for. */
            status: components["schemas"]["ApprovalStatus"];
        };
        /**
         * @description What is asked for.
         * @enum {string}
         */
        ApprovalKind: "permission" | "question" | "egress";
        /** @description What became of an approval. */
        ApprovalOutcome: {
            /** @description For questions: what was answered to each. */
            answers?: {
                [key: string]: unknown;
            } | null;
            /** @description When. */
            at: components["schemas"]["Timestamp"];
            /** @description Who decided. */
            by: string;
            /** @description The decision. */
            decision: components["schemas"]["Resolution"];
            /** @description What the agent was told with it. */
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
        /** @description Something a person is asked. */
        ApprovalRequest: {
            /** @description Its name. */
            approvalId: components["schemas"]["ApprovalId"];
            /**
             * @description A permission: `{"toolName", "input", …}`. A question: `{"questions": [{"question", "header"?, "options":
             *     [{"label", "description"?}], "multiSelect"?}]}`.
             */
            detail: unknown;
            /** @description After this nobody waits for an answer. */
            expiresAt: components["schemas"]["Timestamp"];
            /** @description What is asked for. */
            kind: components["schemas"]["ApprovalKind"];
            /** @description What may be answered. */
            options: components["schemas"]["ApprovalDecision"][];
            /** @description Rules that `allow_always` can grant, the narrowest first. Another one is taken too, if it covers what is asked. */
            rules?: components["schemas"]["ApprovalRule"][];
            /** @description One line for people. */
            title: string;
            /** @description The tool call it is about. */
            toolUseId?: string | null;
        };
        /** @description What was answered, by whom. */
        ApprovalResolution: {
            /** @description For questions: the question's text → the chosen label, a list of labels, or free text. */
            answers?: {
                [key: string]: unknown;
            } | null;
            /** @description Which one. */
            approvalId: components["schemas"]["ApprovalId"];
            /**
             * @description Who decided; `run`, `time` and `agent` when nobody did, `rule` when a rule of an earlier answer did
             *     (`always` in older logs).
             */
            by: string;
            /** @description What became of it. */
            decision: components["schemas"]["Resolution"];
            /** @description What the agent is told with it. */
            message?: string | null;
            rule?: components["schemas"]["ApprovalRule"] | null;
        };
        /** @description What a person allows for the rest of a session. */
        ApprovalRule: {
            /**
             * @description `exact`: the command, the path, or the input as JSON. `prefix`: the first words of a command. `directory`: a
             *     directory. `tool`: `*`.
             */
            pattern: string;
            /** @description How `pattern` is compared with a call. */
            scope: components["schemas"]["RuleScope"];
            /** @description The tool, by its agent's name for it. */
            tool: string;
        };
        /**
         * @description Whether an answer is waited for.
         * @enum {string}
         */
        ApprovalStatus: "pending" | "resolved" | "expired";
        /** @description A thing worth showing. */
        Artifact: {
            /** @description What starts it. */
            command?: string | null;
            createdSeq?: components["schemas"]["Seq"] | null;
            createdVersion?: components["schemas"]["Version"] | null;
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description The same for the same path, however often it is made and removed. */
            id: components["schemas"]["ArtifactId"];
            /** @description How to show it. */
            kind: components["schemas"]["ArtifactKind"];
            /** @description A name for people. */
            name: string;
            /** @description Relative to the workspace; a directory for an app. An app of which only its port is known has `port:3000`. */
            path: string;
            /**
             * Format: int32
             * @description Where it listens inside the sandbox, or will once it is started.
             */
            port?: number | null;
            /** @description Where a browser that was let in sees it. Ask for a way in with `POST …/artifacts/{id}/preview`. */
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
         * @description The part of an artifact that changed.
         * @enum {string}
         */
        ArtifactChange: "content" | "kind" | "name" | "port" | "command" | "previewUrl";
        /** @description What became of an artifact. */
        ArtifactHistory: {
            /** @description Newest first. */
            versions: components["schemas"]["ArtifactVersion"][];
        };
        /**
         * Format: uuid
         * @description A thing worth showing: the same for the same path of the same session.
         */
        ArtifactId: string;
        /**
         * @description How an artifact is shown.
         * @enum {string}
         */
        ArtifactKind: "web_app" | "pptx" | "docx" | "excel" | "markdown" | "image" | "pdf" | "csv" | "html" | "code";
        /** @description What is worth showing of what a session made. */
        ArtifactList: {
            /** @description By path. */
            artifacts: components["schemas"]["Artifact"][];
        };
        /** @description An artifact, as packets tell of it. */
        ArtifactMetadata: {
            /**
             * Format: uuid
             * @description Its name for ever.
             */
            id: string;
            /** @description A name for people. */
            name: string;
            /** @description Relative to `/outputs`. */
            path: string;
            /** @description Where it can be looked at. */
            preview_url?: string | null;
            /** @description What kind of thing it is. */
            type: components["schemas"]["BuildArtifactType"];
        };
        /** @description One state of an artifact. */
        ArtifactVersion: {
            /** @description As it was then. */
            artifact: components["schemas"]["Artifact"];
            /** @description When. */
            at: components["schemas"]["Timestamp"];
            /** @description `created`, `updated` or `deleted`. */
            change: string;
            /** @description What of it changed. */
            changes?: components["schemas"]["ArtifactChange"][];
            /** @description The entry of the log that tells of it. */
            seq: components["schemas"]["Seq"];
            version?: components["schemas"]["Version"] | null;
        };
        /** @description A place in a request's JSON. */
        At: {
            /** @description Column, from 1. */
            column: number;
            /** @description The field, as `options.model`; absent when the text is not JSON at all. */
            field?: string | null;
            /** @description Line, from 1. */
            line: number;
        };
        /** @description The BLAKE3 of a blob's bytes, in hexadecimal. */
        BlobHash: string;
        /** @description A piece of conversation: what a person sees, and the fold of the events that carry its id. */
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
            /** @description Which model wrote it. */
            model?: string | null;
            /** @description When it began. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "assistant_text";
        } | {
            /** @description The thought so far. */
            content: string;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description A short form, where the agent gives one. */
            summary?: string | null;
            /** @description When it began. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "thinking";
        } | {
            /** @description What this call does, for people. */
            description?: string | null;
            /** @description A name for people. */
            displayName?: string | null;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description Its arguments. */
            input: unknown;
            /** @description How far it is. */
            status: components["schemas"]["BlockStatus"];
            /** @description When it was called. */
            timestamp: components["schemas"]["Timestamp"];
            /** @description The tool's name as the agent knows it. */
            toolName: string;
            /** @description Pairs it with its result. */
            toolUseId: string;
            /** @enum {string} */
            type: "tool_use";
        } | {
            /**
             * Format: int64
             * @description How long it took.
             */
            durationMs?: number | null;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description The tool failed. */
            isError: boolean;
            /** @description The answer: text, or whatever the tool gave. */
            output: unknown;
            /** @description The output is markdown. */
            renderOutputAsMarkdown?: boolean | null;
            /** @description When it answered. */
            timestamp: components["schemas"]["Timestamp"];
            /** @description Which call it answers. */
            toolUseId: string;
            /** @enum {string} */
            type: "tool_result";
        } | {
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description The text. */
            message: string;
            /** @description More, for programs. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description What kind of saying it is. */
            subtype: components["schemas"]["SystemSubtype"];
            /** @description When it was said. */
            timestamp: components["schemas"]["Timestamp"];
            /** @enum {string} */
            type: "system";
        } | {
            /**
             * Format: int64
             * @description How long it took.
             */
            durationMs?: number | null;
            /** @description Its name. */
            id: components["schemas"]["BlockId"];
            /** @description The task it was given. */
            input: unknown;
            /** @description The kind of subagent. */
            name?: string | null;
            /** @description What it reported. */
            output?: unknown;
            /** @description How far it is. */
            status: components["schemas"]["BlockStatus"];
            /** @description The thread's conversation id. */
            subagentId: string;
            /** @description When it was called. */
            timestamp: components["schemas"]["Timestamp"];
            /** @description The tool call that made it. */
            toolUseId?: string | null;
            /** @enum {string} */
            type: "subagent";
        } | {
            /** @description A stable code, where there is one. */
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
        /** @description A block's name, the same in the live stream and in the parsed transcript. */
        BlockId: string;
        /**
         * @description How far a tool call or a subagent is.
         * @enum {string}
         */
        BlockStatus: "pending" | "running" | "success" | "error";
        /** @description What may be spent. What is spent is known after each model call; a call that could go beyond is refused. */
        Budget: {
            /**
             * Format: double
             * @description At most this much money.
             */
            costUsd?: number | null;
            /**
             * Format: int64
             * @description At most this many tokens, in and out.
             */
            tokens?: number | null;
        };
        /** @description Something worth showing. */
        BuildArtifact: {
            /** @description When it was found first. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description Its name for ever.
             */
            id: string;
            /** @description A name for people. */
            name: string;
            /** @description Relative to `/outputs`. */
            path: string;
            /**
             * @description Where a browser sees it, for at least half an hour and without a token; only of what is served. Read the artifact
             *     again for a new one.
             */
            preview_url?: string | null;
            /** @description Whose it is. */
            session_id: components["schemas"]["SessionId"];
            /** @description What kind of thing it is. */
            type: components["schemas"]["BuildArtifactType"];
            /** @description When it last changed. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /** @description What a session made that is worth showing. */
        BuildArtifactList: {
            /** @description All of it, by path. */
            artifacts: components["schemas"]["BuildArtifact"][];
        };
        /**
         * @description What kind of thing an artifact is: the six that clients of this API know.
         * @enum {string}
         */
        BuildArtifactType: "web_app" | "pptx" | "docx" | "image" | "markdown" | "excel";
        /** @description One thing in a directory. */
        BuildFile: {
            /** @description What a file is, by its name; `null` for anything else. */
            mime_type?: string | null;
            /** @description When it was last changed. */
            modified_at: components["schemas"]["Timestamp"];
            /** @description Its name. */
            name: string;
            /** @description From the root, as the other routes take it: `/outputs/web/package.json`. */
            path: string;
            /**
             * Format: int64
             * @description How long a file is; `null` for anything else.
             */
            size_bytes?: number | null;
            /** @description `file`, `directory`, `symlink` or `other`. */
            type: string;
        };
        /** @description What is in a directory. */
        BuildFileListing: {
            /** @description Directories first, then by name. */
            entries: components["schemas"]["BuildFile"][];
            /** @description The directory, from the root: `/outputs/web`. */
            path: string;
        };
        /** @description How many messages may be sent. */
        BuildLimit: {
            /**
             * Format: int64
             * @description Messages that it gives; `null`: any number.
             */
            limit?: number | null;
            /** @description `unpaid`, `paid` or `unlimited`. */
            plan: string;
            /**
             * Format: int64
             * @description Messages that are left; `null`: any number.
             */
            remaining?: number | null;
            resetsAt?: components["schemas"]["Timestamp"] | null;
            resets_at?: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description Messages that were sent.
             */
            used: number;
        };
        /** @description One message of a conversation. */
        BuildMessage: {
            /** @description The text: what the user wrote, or all that the agent answered. */
            content: string;
            /** @description When it was said, or began. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description Its name for ever. A user's message has the number of its run.
             */
            id: string;
            /** @description What the agent did, as its stream told it; pieces of one text are joined. */
            packets?: components["schemas"]["Packet"][];
            /** @description Where it was said. */
            session_id: components["schemas"]["SessionId"];
            /** @description Who said it. */
            type: components["schemas"]["BuildMessageType"];
        };
        /** @description A whole conversation, oldest first. */
        BuildMessageList: {
            /** @description All of it. */
            messages: components["schemas"]["BuildMessage"][];
        };
        /** @description Sends a message. */
        BuildMessageSend: {
            /** @description The same id gives the same answer, for seven days; at most 255 bytes. */
            client_request_id?: string | null;
            /** @description The text. */
            content: string;
        };
        /**
         * @description Who said a message.
         * @enum {string}
         */
        BuildMessageType: "user" | "assistant";
        /** @description Where a session's agent works: one for each session, whichever container it is in. */
        BuildSandbox: {
            container_id?: components["schemas"]["SandboxId"] | null;
            /** @description When its session was made. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description The same for ever.
             */
            id: string;
            last_heartbeat?: components["schemas"]["Timestamp"] | null;
            /** @description Whose it is. */
            session_id: components["schemas"]["SessionId"];
            /** @description Its condition. */
            status: components["schemas"]["BuildSandboxStatus"];
        };
        /**
         * @description Condition of a sandbox.
         * @enum {string}
         */
        BuildSandboxStatus: "provisioning" | "running" | "idle" | "terminated";
        /** @description A session. */
        BuildSession: {
            /** @description What it made that is worth showing, by path. */
            artifacts?: components["schemas"]["BuildArtifact"][];
            /** @description When it was made. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Its name for ever. */
            id: components["schemas"]["SessionId"];
            /** @description When something last happened in it. */
            last_activity_at: components["schemas"]["Timestamp"];
            /** @description A name for people. */
            name?: string | null;
            /** @description Where its agent works. */
            sandbox: components["schemas"]["BuildSandbox"];
            /** @description What is kept of it, oldest first. */
            snapshots?: components["schemas"]["BuildSnapshot"][];
            /** @description Whether it has a sandbox. */
            status: components["schemas"]["BuildSessionStatus"];
            /**
             * Format: uuid
             * @description Whose it is; `null` if it was made with a token that stands for no user.
             */
            user_id?: string | null;
        };
        /** @description Makes a session. Everything has a default. */
        BuildSessionCreate: {
            agent_type?: components["schemas"]["AgentType"] | null;
            /** @description A name for people. */
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
        /** @description A version of a session, kept. */
        BuildSnapshot: {
            /** @description When it was taken. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: uuid
             * @description Its name for ever.
             */
            id: string;
            /** @description Whose it is. */
            session_id: components["schemas"]["SessionId"];
            /**
             * Format: int64
             * @description How long it is, where that is known.
             */
            size_bytes?: number | null;
            /** @description Where it can be had. */
            storage_path: string;
        };
        /** @description Files that were uploaded. */
        BuildUploaded: {
            /** @description In the order in which they came. */
            files: components["schemas"]["BuildFile"][];
        };
        /** @description A prompt with a name. */
        Command: {
            /** @description What it does. */
            description?: string;
            /** @description Its name. */
            name: string;
            /** @description The prompt. */
            prompt: string;
        };
        /** @description How to try again. */
        ConflictRetry: {
            /**
             * Format: int64
             * @description How long to wait before the first, in milliseconds; then twice as long each time. At most 10000.
             */
            backoffMs: number;
            /**
             * Format: int32
             * @description How often; at most 10.
             */
            retries: number;
        };
        /**
         * @description What to do, in a word.
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
            /** @description Base64 of the picture's bytes. */
            image: string;
            /** @description Its MIME type. */
            mediaType: string;
        } | {
            /** @description Path relative to the sandbox's root of uploads. */
            file: string;
        };
        /** @description `main`, or a subagent's thread inside a session. */
        ConversationId: string;
        /** @description What is known of a run that went wrong. */
        Diagnostics: {
            /**
             * Format: int32
             * @description The agent's exit code.
             */
            exitCode?: number | null;
            lastLines?: components["schemas"]["BlobHash"] | null;
            /** @description It was killed for its memory limit. */
            outOfMemory?: boolean;
            /**
             * Format: int32
             * @description The signal that ended the agent.
             */
            signal?: number | null;
            /** @description The last of what it wrote to its error stream. */
            stderrTail?: string | null;
        };
        /** @description What this machine can give: isolation, agents, models, and what is missing with the command that fixes it. */
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
            /** @description Its place in the log: contiguous from 1. */
            seq: components["schemas"]["Seq"];
            /** @description Whose log it is. */
            sessionId: components["schemas"]["SessionId"];
            /** @description Fields that were too long and are kept as blobs; the event carries their first part. */
            spilled?: components["schemas"]["Spilled"][];
            /** @description When it was recorded. */
            timestamp: components["schemas"]["Timestamp"];
        };
        /** @description What happened. Past tense or noun; the names are the protocol. */
        EventBody: {
            agentType: components["schemas"]["AgentType"];
            forkedFrom?: components["schemas"]["ForkedFrom"] | null;
            name?: string | null;
            /** @description What its runs are given until an update says otherwise. Absent in logs of the first versions. */
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
            /** @description What it holds for: `run`, `session` or `project`. */
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
            /** @description The part. The server writes the stored bytes; it does not serialise them anew. */
            events: components["schemas"]["Event"][];
            /** @description The head of the log: when it is greater than `lastSeq` there is more. */
            head: components["schemas"]["Seq"];
            /** @description Pass it as `after` for the next part: the last number of this part, never one that was left out. */
            lastSeq: components["schemas"]["Seq"];
        };
        /**
         * @description How a file changed.
         * @enum {string}
         */
        FileChange: "created" | "modified" | "deleted";
        /** @description How many files are different from those of the base. */
        FileCounts: {
            /**
             * Format: int64
             * @description New ones.
             */
            added?: number;
            /**
             * Format: int64
             * @description Other content, mode or kind.
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
             * @description How many lines are new, where they were counted. Also those that a diff that is cut does not show.
             */
            added?: number | null;
            after?: components["schemas"]["FileLook"] | null;
            before?: components["schemas"]["FileLook"] | null;
            /** @description It is not text. `false` too where nobody looked, because `lines` was `none`. */
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
             * @description How many lines are gone, where they were counted.
             */
            removed?: number | null;
            /** @description The diff is cut, or there was no room or no time for one. */
            truncated?: boolean;
        };
        /** @description One thing in a directory. */
        FileItem: {
            /** @description Pass it as `If-Match` to replace exactly this. */
            etag: string;
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description `file`, `directory`, `symlink` or `other`. */
            kind: string;
            /**
             * Format: int32
             * @description Permission bits.
             */
            mode: number;
            /** @description When it was last changed. */
            modifiedAt: components["schemas"]["Timestamp"];
            /** @description Its name. */
            name: string;
            /** @description As the other routes take it. */
            path: string;
            /**
             * Format: int64
             * @description Its length.
             */
            sizeBytes: number;
        };
        /** @description What is in a directory of a session. */
        FileListing: {
            /** @description Directories first, then by name. */
            entries: components["schemas"]["FileItem"][];
            /** @description Relative to the workspace, or with the name of another volume before it, as `/user-input`. */
            path: string;
            /** @description `live`: as the sandbox has it, or will have it. `version`: as the latest version has it. */
            source: components["schemas"]["FileSource"];
            /** @description There is more than is told. */
            truncated?: boolean;
        };
        /** @description What a file is, without its content. */
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
             * @description Its length.
             */
            sizeBytes: number;
        };
        /** @description Moves a file, or a directory with all in it. */
        FileMove: {
            /** @description Where it is: relative to the workspace, or in `/workspace`, `/outputs` or `/user-input`. */
            from: string;
            /** @description Where it will be, with its name, in the same volume. Directories above it are made; nothing may be there. */
            to: string;
        };
        /**
         * @description Where files were found.
         * @enum {string}
         */
        FileSource: "live" | "version";
        /** @description Ends something that may be at work. */
        Forced: {
            /** @description Interrupt the run that is going on instead of answering 409. */
            force?: boolean;
        };
        /** @description Where a forked session comes from. */
        ForkedFrom: {
            /** @description The session that was forked. */
            sessionId: components["schemas"]["SessionId"];
            /** @description At which version. */
            version: components["schemas"]["Version"];
        };
        /** @description The process answers. */
        Health: {
            /** @description Always `ok`. */
            status: string;
            /** @description The server's version. */
            version: string;
        };
        /** @description A subagent's transcript. */
        ImportedThread: {
            /** @description The agent's own name for it. */
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
            /** @description By path, which is relative to `/knowledge`. The `INDEX.md` that is made from them is not among them. */
            files: components["schemas"]["FileItem"][];
            /**
             * Format: int64
             * @description How much it may be.
             */
            maxBytes: number;
            /**
             * Format: int64
             * @description Their length together.
             */
            sizeBytes: number;
            /** @description There is more than is told. */
            truncated?: boolean;
        };
        /** @description An MCP server, in the agent-neutral form. */
        McpServer: {
            /** @description Its name. */
            name: string;
        } & {
            [key: string]: unknown;
        };
        /** @description A message that was taken. */
        MessageAccepted: {
            /**
             * Format: int32
             * @description How often `baseVersion` was not the latest any more, before the message was taken.
             */
            retries?: number;
            /** @description The run that carries it out. */
            runId: components["schemas"]["RunId"];
            /** @description The entry of the log that announced the run; its events begin there. */
            seq: components["schemas"]["Seq"];
            /** @description The session it was sent to. */
            sessionId: components["schemas"]["SessionId"];
        };
        /** @description Part of a conversation, oldest first. */
        MessagePage: {
            /** @description The part. */
            blocks: components["schemas"]["Block"][];
            /**
             * @description The position of the log at which the blocks are current. Whoever follows the log skips what it says about them
             *     up to here.
             */
            lastSeq?: components["schemas"]["Seq"];
            /** @description Pass it as `after` for the next part; absent at the end. */
            nextCursor?: string | null;
            /**
             * @description Pass it as `before` for the part before this one; absent at the beginning, and in parts that were not asked for
             *     from the end.
             */
            previousCursor?: string | null;
        };
        /** @description Sends a message. */
        MessageSend: {
            baseVersion?: components["schemas"]["Version"] | null;
            /** @description Text, or parts. */
            content: components["schemas"]["Content"];
            from?: components["schemas"]["RunFrom"] | null;
            /** @description The same key gives the same run, for seven days; at most 255 bytes. */
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
             * @description The most tokens that the call can use. It counts as this many if its end is never recorded.
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
             * @description 1, or more when the gateway tried again.
             */
            attempt: number;
            callId?: components["schemas"]["ModelCallId"] | null;
            /**
             * Format: double
             * @description Its price.
             */
            costUSD: number;
            /** @description Which model answered. */
            model: string;
            /**
             * Format: int64
             * @description From request to the answer's last byte.
             */
            ms: number;
            recording?: components["schemas"]["BlobHash"] | null;
            /**
             * Format: int64
             * @description How many bytes the recording takes. Absent in logs of the first versions.
             */
            recordingBytes?: number | null;
            /** @description BLAKE3 of the request's body. */
            requestHash: components["schemas"]["BlobHash"];
            /**
             * Format: int32
             * @description HTTP status of the answer. 0 if the server stopped during the call, so that nobody knows how it ended.
             */
            status: number;
            /** @description What the answer says it used, and an estimate of what it does not say (`estimatedTokens`). */
            usage: components["schemas"]["Usage"];
        };
        /** @description A model that can be chosen. */
        ModelItem: {
            /** @description The agents that can use it. */
            agents: string[];
            /**
             * Format: int64
             * @description How many tokens it can be told at once, if known.
             */
            contextWindow?: number | null;
            /** @description Its name for people, if it has another one. */
            displayName?: string | null;
            /** @description The name to ask for it by. */
            id: string;
            price?: components["schemas"]["ModelPrice"] | null;
            /** @description Whose it is; `demo` for the demo model, which answers where no key is set. */
            provider: string;
        };
        /** @description The models that can be chosen. */
        ModelList: {
            /** @description By provider, then in the provider's order. */
            models: components["schemas"]["ModelItem"][];
            /** @description Providers that did not list their models. */
            problems: components["schemas"]["ModelProblem"][];
        };
        /** @description US dollars for a million tokens. */
        ModelPrice: {
            /**
             * Format: double
             * @description Input that the provider's cache answered.
             */
            cacheRead: number;
            /**
             * Format: double
             * @description Input that came from no cache.
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
        /** @description What to do when `baseVersion` is not the latest any more. */
        OnConflict: components["schemas"]["ConflictWord"] | components["schemas"]["ConflictRetry"];
        /** @description One packet. */
        Packet: components["schemas"]["PacketBody"] & {
            /** @description When it was recorded. */
            timestamp: components["schemas"]["Timestamp"];
        };
        /** @description What a packet says. The names and fields are those of the platform this API is for; an absent field is absent. */
        PacketBody: {
            /** @description What was done, in a sentence. */
            summary?: string | null;
            /** @enum {string} */
            type: "done";
        } | {
            /** @description A stable code: `TIMEOUT`, `SANDBOX_ERROR`, `LLM_ERROR`, … */
            code?: string | null;
            /** @description What went wrong. */
            message: string;
            /** @description Sending the message again may help. */
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
            /** @description What it is given. */
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
            /** @description Relative to `/outputs`; a file outside of it is named from there, as `../notes.txt`. */
            path: string;
            /**
             * Format: int64
             * @description Its length.
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
        /** @description A path that two versions do not have alike. */
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
        /** @description A way into a preview. */
        PreviewLink: {
            /** @description When it stops being good. */
            expiresAt: components["schemas"]["Timestamp"];
            /** @description Whether something listens there already; if not, the browser sees a page that waits for it. */
            ready: boolean;
            /** @description Good for one browser, once. Leads to the preview. */
            url: string;
        };
        /** @description An RFC 9457 problem document; its media type is `application/problem+json`. */
        Problem: {
            at?: components["schemas"]["At"] | null;
            /** @description A stable name to act on. */
            code: components["schemas"]["ErrorCode"];
            currentVersion?: components["schemas"]["Version"] | null;
            /** @description What is wrong with this request. */
            detail: string;
            /** @description What to do about it. */
            hint?: string | null;
            /** @description The path that was asked for. */
            instance: string;
            /** @description Finds the request in the server's log. */
            requestId: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description What kind of failure, for people; the same for every failure with this code. */
            title: string;
            /** @description The page that explains the code, on this server. */
            type: string;
        };
        /** @description What an agent is given, by name. */
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
            /** @description Where its API begins. */
            baseUrl: string;
            /** @description Whether there is a key. */
            hasKey: boolean;
            /** @description The demo model answers instead, because there is nothing to ask the provider with. */
            isDemo: boolean;
            /** @description Something was set here and counts before the configuration; it can be removed. */
            isSet: boolean;
            /** @description The last four characters of the key, if the key is long enough. */
            keyEnding?: string | null;
            keySource?: components["schemas"]["ProviderKeySource"] | null;
            /** @description Its name for people. */
            label: string;
            /** @description Its name. */
            name: string;
            /** @description Why what was set is not used. */
            problem?: string | null;
            /** @description The environment variable that the server takes a key from at its start. */
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
         * @description Sets the key and the base URL of a provider, whole: what is absent is not kept from before. So a key that was set is
         *     never sent to another address than the one it was given for.
         */
        ProviderPut: {
            /** @description The key. It is kept encrypted and not shown again. None is sent if absent. */
            apiKey?: string | null;
            /**
             * @description Where the API begins; where the configuration says if absent. Plain HTTP is for this machine only, unless
             *     `models.allow_http_base_url` allows it.
             */
            baseUrl?: string | null;
        };
        /**
         * @description How the test of a provider went.
         * @enum {string}
         */
        ProviderTestStatus: "ok" | "noKey" | "wrongKey" | "wrongUrl" | "unreachable" | "failed";
        /** @description What a provider said when it was asked for its models. */
        ProviderTested: {
            /** @description What to do about it. */
            hint?: string | null;
            /** @description The same for people. */
            message: string;
            /**
             * Format: int64
             * @description How many models it offers that sandboxes may ask for.
             */
            models?: number | null;
            /** @description How it went. */
            status: components["schemas"]["ProviderTestStatus"];
        };
        /** @description Whether the server can do its work. */
        Ready: {
            /** @description `ready`, or what is missing. */
            status: string;
        };
        /** @description A run, or all runs of a session, carried out once more with the recorded answers of the model. */
        Replay: components["schemas"]["ReplayOutcome"] & {
            endedAt?: components["schemas"]["Timestamp"] | null;
            /** @description Its name. */
            replayId: components["schemas"]["ReplayId"];
            runId?: components["schemas"]["RunId"] | null;
            /** @description Each run by itself, if all are replayed. */
            runs?: components["schemas"]["ReplayedRun"][];
            /** @description What is replayed. */
            sessionId: components["schemas"]["SessionId"];
            /** @description When it began. */
            startedAt: components["schemas"]["Timestamp"];
            /** @description How far it is. */
            status: components["schemas"]["ReplayStatus"];
        };
        /** @description How many were compared, and how many of them were equal. */
        ReplayCount: {
            /**
             * Format: int64
             * @description How many there are on either side.
             */
            compared: number;
            /**
             * Format: int64
             * @description How many are the same on both.
             */
            equal: number;
        };
        /** @description Something that was different without leading anywhere else. */
        ReplayDifference: {
            conversationId?: components["schemas"]["ConversationId"] | null;
            /** @description What is different. */
            diff: string;
            /** @description For people. */
            message: string;
            runId?: components["schemas"]["RunId"] | null;
            /** @description Pairs it with the tool's call. */
            toolUseId?: string | null;
        };
        /** @description Where a replay first was not as recorded. */
        ReplayDivergence: {
            conversationId?: components["schemas"]["ConversationId"] | null;
            /** @description What is different, as a unified diff of what was recorded and what was replayed. */
            diff?: string | null;
            /**
             * Format: int64
             * @description The recorded call to the model, from 1.
             */
            index?: number | null;
            /** @description In what way. */
            kind: components["schemas"]["ReplayDivergenceKind"];
            /** @description For people. */
            message: string;
            runId?: components["schemas"]["RunId"] | null;
        };
        /**
         * @description In what way a replay was not as recorded.
         * @enum {string}
         */
        ReplayDivergenceKind: "request" | "extra_call" | "missing_call" | "egress" | "approval" | "outcome" | "event" | "files";
        /** @description Files of the resulting tree. */
        ReplayFiles: {
            /**
             * Format: int64
             * @description How many there are on either side.
             */
            compared: number;
            /** @description The paths of the others; at most 100. */
            different: string[];
            /**
             * Format: int64
             * @description How many have the same content, kind and mode on both.
             */
            equal: number;
        };
        /**
         * Format: uuid
         * @description A run, or a whole session, carried out once more.
         */
        ReplayId: string;
        /** @description What a replay came to. */
        ReplayOutcome: {
            /** @description Calls to the model: how many were recorded, and how many were made again. */
            calls: components["schemas"]["ReplayCount"];
            /** @description What was different without leading anywhere else: what tools said. */
            differences: components["schemas"]["ReplayDifference"][];
            /** @description Whether anything was not as recorded; absent while it is not known. */
            diverged?: boolean | null;
            error?: components["schemas"]["ReplayProblem"] | null;
            /** @description Entries of the log. */
            events: components["schemas"]["ReplayCount"];
            /** @description Files of the resulting tree. */
            files: components["schemas"]["ReplayFiles"];
            firstDivergence?: components["schemas"]["ReplayDivergence"] | null;
            /** @description What a reader should know: that something could not be compared, and why. */
            notes?: string[];
        };
        /** @description Part of a session's replays, newest first. */
        ReplayPage: {
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description The part. */
            replays: components["schemas"]["Replay"][];
        };
        /** @description Why a replay could not be carried out. */
        ReplayProblem: {
            /** @description A stable code; see `docs/errors/`. */
            code: components["schemas"]["ErrorCode"];
            /** @description What happened. */
            message: string;
        };
        /** @description How a replay is begun. */
        ReplayStart: {
            /** @description Answer when it is over, not when it has begun. */
            wait?: boolean;
        };
        /**
         * @description How far a replay is.
         * @enum {string}
         */
        ReplayStatus: "running" | "done" | "failed";
        /** @description One run of a session that is replayed whole. */
        ReplayedRun: components["schemas"]["ReplayOutcome"] & {
            /** @description Which. */
            runId: components["schemas"]["RunId"];
            /** @description How far it is. */
            status: components["schemas"]["ReplayStatus"];
        };
        /**
         * @description What became of an approval.
         * @enum {string}
         */
        Resolution: "allow" | "allow_always" | "deny" | "expired";
        /**
         * @description How a rule's pattern is compared with a call.
         * @enum {string}
         */
        RuleScope: "exact" | "prefix" | "directory" | "tool";
        /**
         * @description Where the next run begins when an earlier one left something that is in no version.
         * @enum {string}
         */
        RunFrom: "head" | "version";
        /**
         * Format: uuid
         * @description One message carried out.
         */
        RunId: string;
        /** @description One message carried out, or to be. */
        RunItem: {
            baseVersion?: components["schemas"]["Version"] | null;
            /** @description The message. */
            content: components["schemas"]["Content"];
            /** @description When it was asked for. */
            createdAt: components["schemas"]["Timestamp"];
            endedAt?: components["schemas"]["Timestamp"] | null;
            error?: components["schemas"]["RunProblem"] | null;
            /** @description What the sender set for it. */
            options: components["schemas"]["RunOptions"];
            /** @description Its name. */
            runId: components["schemas"]["RunId"];
            /** @description The entry of the log that announced it. */
            seq: components["schemas"]["Seq"];
            /** @description Whose run. */
            sessionId: components["schemas"]["SessionId"];
            startedAt?: components["schemas"]["Timestamp"] | null;
            /** @description Where it stands. */
            status: components["schemas"]["RunStatus"];
            /** @description What was spent. */
            usage: components["schemas"]["Usage"];
            version?: components["schemas"]["Version"] | null;
        };
        /** @description What a caller may set for one run or, as a default, for a session. */
        RunOptions: {
            budget?: components["schemas"]["Budget"] | null;
            /** @description The model the agent is asked to use. */
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
        /** @description Changes a message that waits. */
        RunPatch: {
            content?: components["schemas"]["Content"] | null;
            /**
             * Format: int32
             * @description Its new place among those that wait, from 1, if that changes; one past the end means the last.
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
         * @description Where a run stands. Stored with the run's record, and always changed together with the event that says so.
         * @enum {string}
         */
        RunStatus: "queued" | "running" | "completed" | "failed" | "interrupted" | "steered";
        /** @description A whole session, true at `lastSeq`: follow the events after it to stay up to date. */
        RuntimeSessionData: components["schemas"]["SessionListItem"] & {
            /** @description The main conversation. */
            blocks: components["schemas"]["Block"][];
            /** @description With `limit`: there are older blocks of the main conversation. Pass it as `before` to the list of messages. */
            previousCursor?: string | null;
            /** @description Runs that wait, the next one first. */
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
        /** @description One sandbox of one start; a restart makes a new one. */
        SandboxId: string;
        /** @description A session's sandbox, for people. */
        SandboxItem: {
            /** @description The isolation it really got. */
            isolation?: unknown;
            /** @description What it may use. */
            limits?: unknown;
            /** @description What happened to it, newest last. */
            log: unknown[];
            /** @description What it uses. */
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
            /** @description The isolation it really got. */
            isolation?: unknown;
            /**
             * Format: int64
             * @description When it last answered, in milliseconds since 1970.
             */
            lastHealthCheck: number;
            /**
             * Format: int32
             * @description How often it was restarted because it was unhealthy.
             */
            restartCount: number;
            /** @description Which one. */
            sandboxId: components["schemas"]["SandboxId"];
            /** @description Its condition. */
            status: components["schemas"]["SandboxStatus"];
            /** @description What is going on, for people. */
            statusMessage?: string | null;
        };
        /**
         * @description Condition of a sandbox.
         * @enum {string}
         */
        SandboxStatus: "starting" | "ready" | "unhealthy" | "terminated";
        /**
         * Format: int64
         * @description A place in a session's log. The first event is 1; 0 is before it.
         */
        Seq: number;
        /** @description What of a session's own data changed. */
        SessionChanges: {
            /** @description Its new metadata, whole. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Its new name. */
            name?: string | null;
            /** @description Its new options, whole. */
            options?: unknown;
            /** @description Whether queued messages are held, as they are after a person stopped a run. The next run releases them. */
            queueHeld?: boolean | null;
        };
        /** @description Makes a session. Everything has a default. */
        SessionCreate: {
            agentProfileReference?: components["schemas"]["ProfileId"] | null;
            /**
             * @description `true` (the default without `workspaceId`) gives the session a workspace of its own; `false` puts it into the
             *     project's oldest one.
             */
            createWorkspace?: boolean | null;
            /** @description The client's own data, given back as it is. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description A name for people. */
            name?: string | null;
            options?: components["schemas"]["SessionOptions"] | null;
            projectId?: components["schemas"]["ProjectId"] | null;
            type?: components["schemas"]["AgentType"] | null;
            workspaceId?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description Ends a session. */
        SessionEnd: {
            /** @description Why, for people; it is recorded. */
            reason?: string | null;
        };
        /** @description Makes a session that goes on from a version of another. */
        SessionFork: {
            /** @description A name for people. */
            name?: string | null;
            profile?: components["schemas"]["ProfileId"] | null;
            type?: components["schemas"]["AgentType"] | null;
            version?: components["schemas"]["Version"] | null;
        };
        /** @description A session that was forked. */
        SessionForked: components["schemas"]["SessionListItem"] & {
            /** @description What of the version the new session does not have, for people. */
            loss?: string[];
        };
        /**
         * Format: uuid
         * @description One conversation with one agent. Immutable; UUIDv7, so that ids sort by creation.
         */
        SessionId: string;
        /** @description Makes a session out of an agent's transcript. */
        SessionImport: {
            agentProfileReference?: components["schemas"]["ProfileId"] | null;
            /** @description The client's own data, given back as it is. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description A name for people. */
            name?: string | null;
            projectId?: components["schemas"]["ProjectId"] | null;
            /** @description Its subagents' transcripts. */
            subagents?: components["schemas"]["ImportedThread"][];
            /** @description The main transcript, as the agent wrote it. */
            transcript: string;
            /** @description The agent that wrote the transcript, and will go on. */
            type: components["schemas"]["AgentType"];
        };
        /** @description A session as it is listed. Its state is derived at the moment of asking; none is stored. */
        SessionListItem: {
            activeRunId?: components["schemas"]["RunId"] | null;
            /** @description What the agent is given. */
            agentProfileReference: components["schemas"]["ProfileId"];
            /**
             * Format: int64
             * @description When it was made, in milliseconds since 1970.
             */
            createdAt: number;
            forkedFrom?: components["schemas"]["ForkedFrom"] | null;
            /**
             * Format: int64
             * @description When something last happened in it, in milliseconds since 1970.
             */
            lastActivity: number;
            lastRunStatus?: components["schemas"]["RunStatus"] | null;
            /** @description The head of its log. */
            lastSeq: components["schemas"]["Seq"];
            /** @description The client's own data. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description A name for people. */
            name?: string | null;
            /** @description Defaults for its runs. */
            options: unknown;
            /** @description The project it belongs to. */
            projectId: components["schemas"]["ProjectId"];
            /** @description Whether it is in memory, and its sandbox. */
            runtime: components["schemas"]["SessionRuntimeState"];
            /** @description Its name for ever. */
            sessionId: components["schemas"]["SessionId"];
            /** @description The agent it talks to. */
            type: components["schemas"]["AgentType"];
            /** @description Its latest version. */
            version: components["schemas"]["Version"];
            /** @description The workspace it works in. */
            workspaceId: components["schemas"]["WorkspaceId"];
        };
        /**
         * @description What happened to a session, as far as a list shows it.
         * @enum {string}
         */
        SessionNews: "created" | "changed" | "erased" | "missed";
        /** @description Defaults for the runs of a session. */
        SessionOptions: {
            budget?: components["schemas"]["Budget"] | null;
            /** @description The model the agent is asked to use. */
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
        /** @description Changes a session's own data. What is absent stays. */
        SessionPatch: {
            /** @description Its new metadata, whole. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Its new name. */
            name?: string | null;
            options?: components["schemas"]["SessionOptions"] | null;
            /** @description `false` lets queued messages go on that a stop holds; `true` holds them. */
            queueHeld?: boolean | null;
        };
        /** @description Makes an older version the latest once more. */
        SessionRestore: {
            /** @description Which one. */
            version: components["schemas"]["Version"];
        };
        /** @description Whether a session is in memory, and what its sandbox does. */
        SessionRuntimeState: {
            /** @description The session is loaded on some node. */
            isLoaded: boolean;
            sandbox?: components["schemas"]["SandboxState"] | null;
        };
        /**
         * @description What a line of `GET /api/events` says: something about the list of sessions is new. It has no number; whoever was
         *     away lists the sessions again.
         */
        SessionsChanged: {
            /** @description What happened. */
            change: components["schemas"]["SessionNews"];
            session?: components["schemas"]["SessionListItem"] | null;
            sessionId?: components["schemas"]["SessionId"] | null;
            /** @description Always `sessions_changed`. */
            type: string;
        };
        /** @description Signs a browser in with a token that its user has. */
        SignIn: {
            /** @description The token. The browser keeps a cookie instead, which may do as much and ends after 30 days or with the token. */
            token: string;
        };
        /** @description Signs a browser in, once. */
        SignInLink: {
            /** @description When the link stops working. */
            expiresAt: components["schemas"]["Timestamp"];
            /** @description Path and query to open on this server. */
            path: string;
        };
        /** @description Something an agent can look up how to do. */
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
        /** @description Something that could not be kept. */
        SkippedFile: {
            /** @description Relative to the workspace; or absolute in the sandbox, if it is not in the workspace. */
            path: string;
            /**
             * @description `special`: a device, pipe or socket; `unreadable`: it could not be opened or read; `too_long`: its path is;
             *     `link_out`: a link of an imported archive that leads out of the workspace.
             */
            why: string;
        };
        /** @description A field that was cut, and where the whole of it is. */
        Spilled: {
            /** @description The blob that holds it. */
            blob: components["schemas"]["BlobHash"];
            /** @description JSON pointer of the field inside the event. */
            pointer: string;
            /**
             * Format: int64
             * @description Bytes of the whole text.
             */
            sizeBytes: number;
        };
        /**
         * @description How a step ended.
         * @enum {string}
         */
        StepStatus: "success" | "failed" | "skipped";
        /** @description An agent that another may call. */
        Subagent: {
            /** @description When to call it. */
            description?: string;
            /** @description Which model it uses. */
            model?: string | null;
            /** @description Its name. */
            name: string;
            /** @description What it is told. */
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
            /** @description The agent's own name for it. */
            subagentId: string;
            /** @description The tool call that made it. */
            toolUseId?: string | null;
        };
        /** @description A subagent's conversation. */
        SubagentThread: {
            /** @description Its blocks. */
            blocks: components["schemas"]["Block"][];
            /** @description Its conversation's name. */
            id: components["schemas"]["ConversationId"];
            /** @description With `include=rawTranscript`: the agent's own transcript of it, where the agent keeps one. */
            rawTranscript?: string | null;
        };
        /**
         * @description What kind of thing the system says.
         * @enum {string}
         */
        SystemSubtype: "session_start" | "session_end" | "error" | "status" | "hook_response" | "auth_status";
        /** @description How long a run may take. */
        TimeBudget: {
            /**
             * Format: int64
             * @description After this many seconds the run is ended.
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
        /** @description Makes a token. */
        TokenCreate: {
            expiresAt?: components["schemas"]["Timestamp"] | null;
            /** @description A name for people. */
            name: string;
            /** @description Whose it is: the messages of all tokens of one owner are counted together. The token stands for itself if absent. */
            owner?: string | null;
            /** @description How many messages its owner may send: `unpaid`, `paid` or `unlimited`; what its scope is given if absent. */
            plan?: string | null;
            /** @description What it may do: `admin`, `admin:ro`, `project:<id>` or `project:<id>:ro`. */
            scope: string;
        };
        /** @description A new token with its secret, which is shown this once. */
        TokenCreated: components["schemas"]["TokenItem"] & {
            /** @description Goes into `Authorization: Bearer …`. It is not kept here and cannot be shown again. */
            secret: string;
        };
        /**
         * Format: uuid
         * @description The public name of a token; says nothing about its secret.
         */
        TokenId: string;
        /** @description A token, without its secret. */
        TokenItem: {
            /** @description When it was made. */
            createdAt: components["schemas"]["Timestamp"];
            expiresAt?: components["schemas"]["Timestamp"] | null;
            /** @description A name for people. */
            name: string;
            /** @description Whose it is, if that was said. */
            owner?: string | null;
            parent?: components["schemas"]["TokenId"] | null;
            /** @description How many messages its owner may send, if that was said. */
            plan?: string | null;
            /** @description What it may do. */
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
             * @description Its length.
             */
            bytes: number;
            /** @description `main`, or the agent's own name for it. */
            thread: string;
        };
        /**
         * @description What happened to a file between two versions.
         * @enum {string}
         */
        TreeChange: "added" | "removed" | "changed";
        /** @description Something in a directory of a version. */
        TreeEntry: {
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description `file`, `directory` or `symlink`. */
            kind: string;
            /**
             * Format: int32
             * @description Permission bits.
             */
            mode: number;
            /** @description When it was last changed. */
            modifiedAt: components["schemas"]["Timestamp"];
            /** @description Its name. */
            name: string;
            /** @description Where it is, to ask for it. */
            path: string;
            /**
             * Format: int64
             * @description Its length.
             */
            sizeBytes: number;
            /** @description Where a link points to. */
            target?: string | null;
        };
        /** @description A directory of a version. */
        TreeListing: {
            /** @description What is in it, by name. */
            entries: components["schemas"]["TreeEntry"][];
            /** @description The directory. */
            path: string;
        };
        /** @description Files that were uploaded. */
        Uploaded: {
            /** @description In the order in which they came. */
            files: components["schemas"]["FileItem"][];
        };
        /** @description Tokens and money of one model call, one run or one session. */
        Usage: {
            /**
             * Format: int64
             * @description Input tokens that a provider's cache answered.
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
             * @description Estimated tokens of calls whose provider did not report all that they used. Part of the total and of no other field.
             * @default 0
             */
            estimatedTokens: number;
            /**
             * Format: int64
             * @description Tokens read by the model, without those that came from a cache.
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
             * @description Tokens written by the model.
             * @default 0
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Output tokens spent on thinking, where the provider tells.
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
        /** @description What was spent, group by group. */
        UsageReport: {
            /** @description The groups. */
            rows: components["schemas"]["UsageRow"][];
            /** @description All of them together. */
            total: components["schemas"]["Usage"];
        };
        /** @description What one group spent. */
        UsageRow: {
            /** @description The group's name. */
            group: string;
            /**
             * Format: int64
             * @description How many runs ended.
             */
            runs: number;
            /** @description What they spent. */
            usage: components["schemas"]["Usage"];
        };
        /**
         * Format: int64
         * @description A version of a session. v0 is what it starts with.
         */
        Version: number;
        /**
         * @description Why a version was made.
         * @enum {string}
         */
        VersionCause: "run" | "interrupt" | "recovered" | "idle" | "edited" | "template" | "manual" | "restore" | "import" | "fork";
        /** @description Paths of the workspace that two versions do not have alike, or a part of them. */
        VersionChanges: {
            /** @description Files, links, and directories that only one of them has; by path, a directory before what is in it. */
            changes: components["schemas"]["PathChange"][];
            /** @description Before. */
            from: components["schemas"]["VersionPlace"];
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description After. */
            to: components["schemas"]["VersionPlace"];
        };
        /** @description One version, whole. */
        VersionDetail: components["schemas"]["VersionItem"] & {
            /** @description Paths that were there and are not in it: caches and dependencies. */
            excluded: string[];
            /** @description What is not in it because it could not be kept, at most 1,000 of them. */
            skipped?: components["schemas"]["SkippedFile"][];
            /** @description What the agent remembered. */
            transcripts: components["schemas"]["TranscriptLength"][];
            /** @description Files that changed every time they were read, at most 1,000 of them: they are in it as they were found. */
            unstable?: string[];
        };
        /** @description How two versions differ. */
        VersionDiff: {
            /** @description Blocks of the main conversation that are new. None if only some files were asked for, with `path` or `after`. */
            blocks: components["schemas"]["Block"][];
            /** @description Files that differ, by path. */
            files: components["schemas"]["FileDiff"][];
            /** @description Before. */
            from: components["schemas"]["Version"];
            /** @description After. */
            to: components["schemas"]["Version"];
            /** @description There are more files that differ. */
            truncated?: boolean;
        };
        /** @description What a session has now. */
        VersionHead: {
            /** @description There is more than that: a run failed, or files changed between runs. The next run commits it first. */
            dirty: boolean;
            /** @description Its latest version. */
            version: components["schemas"]["Version"];
        };
        /** @description A version as it is listed. */
        VersionItem: {
            /** @description The one it was made from. */
            base: components["schemas"]["Version"];
            /**
             * Format: int64
             * @description How many blocks are new since its base.
             */
            blocks: number;
            /** @description Why it was made. */
            cause: components["schemas"]["VersionCause"];
            /**
             * Format: double
             * @description The price of that.
             */
            costUSD: number;
            /** @description When it was made. */
            createdAt: components["schemas"]["Timestamp"];
            /** @description Its files and transcripts are not kept any more. */
            expired?: boolean;
            /** @description What happened to files since its base. */
            files: components["schemas"]["FileCounts"];
            /** @description A name for people; keeps it for ever. */
            label?: string | null;
            restored?: components["schemas"]["Version"] | null;
            runId?: components["schemas"]["RunId"] | null;
            /** @description The last entry of the log that belongs to it. */
            seq: components["schemas"]["Seq"];
            /** @description Another session worked in the same workspace meanwhile. */
            shared?: boolean;
            /**
             * Format: int64
             * @description Bytes of all its files.
             */
            sizeBytes: number;
            /** @description What the session had spent until then. */
            usage: components["schemas"]["Usage"];
            /** @description Its number. */
            version: components["schemas"]["Version"];
        };
        /** @description Names a version. */
        VersionLabel: {
            /** @description Its name, of 1 to 100 characters; `null` takes it away. */
            label?: string | null;
        };
        /** @description Part of the list of versions, newest first. */
        VersionPage: {
            /** @description What the session has now. */
            head: components["schemas"]["VersionHead"];
            /** @description Pass it as `cursor` for the next part; absent at the end. */
            nextCursor?: string | null;
            /** @description The part. */
            versions: components["schemas"]["VersionItem"][];
        };
        /** @description Where a version is. It may be of the session that another was forked from. */
        VersionPlace: {
            /** @description Why it was made. */
            cause: components["schemas"]["VersionCause"];
            /** @description Whose. */
            sessionId: components["schemas"]["SessionId"];
            /** @description Which. */
            version: components["schemas"]["Version"];
        };
        /**
         * @description What to do with a message that arrives while a run is going on.
         * @enum {string}
         */
        WhenBusy: "queue" | "steer" | "reject";
        /** @description Who the server takes the caller for. */
        WhoAmI: {
            /** @description For browsers: the value of `X-Warren-CSRF` that calls which change something need. */
            csrf?: string | null;
            /** @description Its name for people. */
            name: string;
            /** @description What it may do. */
            scope: string;
            /** @description The token the caller showed, or the one behind the browser's cookie. */
            tokenId: components["schemas"]["TokenId"];
        };
        /** @description A file of a workspace. */
        WorkspaceFile: {
            hash?: components["schemas"]["BlobHash"] | null;
            /** @description `file`, `directory`, `symlink` or, for pipes and the like, `other`. */
            kind: string;
            /**
             * Format: int32
             * @description Permission bits.
             */
            mode: number;
            /** @description When it was last changed. */
            modifiedAt: components["schemas"]["Timestamp"];
            /** @description Relative to the workspace. */
            path: string;
            /**
             * Format: int64
             * @description Its length.
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
