//! The table of routes: one row each. Adding a route begins here.

mod build;

use warren_domain::ErrorCode as Code;

use crate::{
    Access::{self, Admin, AdminRead, AdminReadOrLocal, Operator, Public, Read, Write},
    Answer, Media,
    Method::{self, Delete, Get, Patch, Post, Put},
    Query, QueryKind, Route, RouteName as Name,
    Subject::{self, Approval, Project, Server, Session, Visible},
    routes::{Body, BodyForm},
};

/// All routes.
pub const ROUTES: &[Route] = &[
    // The server itself.
    row(Name::Health, Get, "/health", "Health check: the process responds").needs(Public, Server).gives(HEALTH),
    row(Name::Ready, Get, "/ready", "Readiness check: the server can work")
        .needs(Public, Server)
        .gives(READY)
        .fails(&[Code::Unavailable]),
    row(Name::Metrics, Get, "/metrics", "Metrics in Prometheus text format")
        .needs(AdminReadOrLocal, Server)
        .gives(TEXT),
    row(Name::OpenApi, Get, "/openapi.json", "This document").needs(Public, Server).gives(ANY_JSON),
    row(Name::ErrorPage, Get, "/errors/{code}", "Explains an error code")
        .needs(Public, Server)
        .gives(&[Answer { status: 200, media: Media::Markdown, schema: None }])
        .fails(&[Code::NotFound]),
    row(Name::DoctorGet, Get, "/api/doctor", "What this machine provides, and what is missing")
        .needs(AdminRead, Server)
        .gives(DOCTOR),
    row(Name::SandboxList, Get, "/api/sandboxes", "All sandboxes of this node")
        .needs(AdminRead, Server)
        .gives(SANDBOXES),
    row(Name::UsageGet, Get, "/api/usage", "Usage of the runs that ended in a period")
        .needs(Read, Visible)
        .asks(&[
            Query { name: "from", kind: QueryKind::Time, summary: "Runs that ended at or after this" },
            Query { name: "to", kind: QueryKind::Time, summary: "Runs that ended before this" },
            Query { name: "groupBy", kind: QueryKind::OneOf(USAGE_GROUPS), summary: "`day` if absent" },
            PROJECT,
        ])
        .gives(USAGE)
        .fails(&[Code::NotFound]),
    // The web page.
    row(Name::PageGet, Get, "/", "The web page").needs(Public, Server).gives(&[Answer {
        status: 200,
        media: Media::Html,
        schema: None,
    }]),
    row(Name::PageFile, Get, "/assets/{file}", "A file of the web page")
        .needs(Public, Server)
        .gives(&[Answer { status: 200, media: Media::Bytes, schema: None }])
        .fails(&[Code::NotFound]),
    // Who may come in.
    row(Name::AuthSignIn, Get, "/auth", "Signs a browser in with a one-time code, and redirects to the page")
        .needs(Public, Server)
        .asks(&[
            Query { name: "code", kind: QueryKind::Text, summary: "From the link" },
            Query { name: "session", kind: QueryKind::Id, summary: "The session to show; the start page if absent" },
        ])
        .gives(&[Answer { status: 303, media: Media::Nothing, schema: None }])
        .fails(&[Code::Unauthorized]),
    row(
        Name::AuthSignInToken,
        Post,
        "/api/auth/sign-in",
        "Signs a browser in with a token, with the token's permissions",
    )
    .needs(Public, Server)
    .takes("SignIn")
    .gives(WHO)
    .fails(&[Code::Unauthorized]),
    row(Name::AuthLink, Post, "/api/auth/link", "Creates a one-time sign-in link for a browser")
        .needs(Admin, Server)
        .gives(LINK),
    row(Name::AuthSignOut, Post, "/api/auth/sign-out", "Ends the browser's sign-in")
        .needs(Read, Visible)
        .gives(NOTHING),
    row(Name::AuthWhoAmI, Get, "/api/auth", "The signed-in caller")
        .needs(Read, Visible)
        .gives(WHO),
    row(Name::TokenList, Get, "/api/tokens", "Lists tokens, without their secrets")
        .needs(AdminRead, Server)
        .gives(TOKENS),
    row(Name::TokenCreate, Post, "/api/tokens", "Creates a token and shows its secret once")
        .needs(Admin, Server)
        .takes("TokenCreate")
        .gives(TOKEN_CREATED)
        .fails(&[Code::NotFound]),
    row(Name::TokenGet, Get, "/api/tokens/{tokenId}", "One token")
        .needs(AdminRead, Server)
        .gives(TOKEN)
        .fails(&[Code::NotFound]),
    row(Name::TokenDelete, Delete, "/api/tokens/{tokenId}", "Revokes a token; it stops working at once")
        .needs(Admin, Server)
        .gives(NOTHING)
        .fails(&[Code::NotFound]),
    row(Name::ProfileList, Get, "/api/profiles", "Lists profiles")
        .needs(Read, Visible)
        .asks(&[PROFILES_OF])
        .gives(PROFILES)
        .fails(&[Code::NotFound]),
    row(Name::ProfileGet, Get, "/api/profiles/{profileId}", "One profile")
        .needs(Read, Visible)
        .asks(&[PROFILE_OF])
        .gives(PROFILE)
        .fails(&[Code::NotFound]),
    row(Name::ProfilePut, Put, "/api/profiles/{profileId}", "Creates or replaces a profile")
        .needs(Write, Visible)
        .asks(&[PROFILE_OF])
        .takes("AgentProfile")
        .gives(PROFILE)
        .fails(&[Code::NotFound]),
    row(Name::ProfileDelete, Delete, "/api/profiles/{profileId}", "Removes a profile")
        .needs(Write, Visible)
        .asks(&[PROFILE_OF])
        .gives(NOTHING)
        .fails(&[Code::NotFound]),
    row(Name::AgentList, Get, "/api/agents", "Lists agents and whether their programs are installed")
        .needs(Read, Visible)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("AgentList") }]),
    row(Name::AgentGet, Get, "/api/agents/{agent}", "One agent and whether its program is installed")
        .needs(Read, Visible)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("AgentItem") }])
        .fails(&[Code::NotFound]),
    row(Name::AgentInstall, Post, "/api/agents/{agent}", "Installs an agent's program and waits for it")
        .needs(Operator, Server)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("AgentItem") }])
        .fails(&[Code::NotFound, Code::Unavailable]),
    row(Name::AgentRemove, Delete, "/api/agents/{agent}", "Removes an agent's program")
        .needs(Operator, Server)
        .gives(NOTHING)
        .fails(&[Code::NotFound, Code::Unavailable]),
    // Who answers model calls.
    row(Name::ModelList, Get, "/api/models", "Lists available models, with price and context size")
        .needs(Read, Visible)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ModelList") }]),
    row(Name::ProviderList, Get, "/api/providers", "Lists model providers, without their keys")
        .needs(AdminRead, Server)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ProviderList") }]),
    row(
        Name::ProviderPut,
        Put,
        "/api/providers/{provider}",
        "Sets the key and the base URL of a model provider; applies from the next model call",
    )
    .needs(Operator, Server)
    .takes("ProviderPut")
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ProviderItem") }])
    .fails(&[Code::NotFound, Code::Conflict, Code::Unavailable]),
    row(
        Name::ProviderRemove,
        Delete,
        "/api/providers/{provider}",
        "Removes the stored key and base URL; the configuration applies again",
    )
    .needs(Operator, Server)
    .gives(NOTHING)
    .fails(&[Code::NotFound]),
    row(
        Name::ProviderTest,
        Post,
        "/api/providers/{provider}/test",
        "Tests a model provider's key and base URL by asking for its models",
    )
    .needs(Operator, Server)
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ProviderTested") }])
    .fails(&[Code::NotFound]),
    // Sessions.
    row(Name::SessionChanges, Get, "/api/events", "Streams changes of the list of sessions")
        .needs(Read, Visible)
        .gives(&[Answer { status: 200, media: Media::EventStream, schema: Some("SessionsChanged") }]),
    row(Name::SessionCreate, Post, "/api/sessions", "Creates a session; no sandbox yet")
        .needs(Write, Visible)
        .takes("SessionCreate")
        .gives(&[Answer { status: 201, media: Media::Json, schema: Some("SessionListItem") }])
        .fails(&[Code::NotFound, Code::AgentUnknown, Code::Unavailable]),
    row(Name::SessionImport, Post, "/api/import", "Creates a session from an agent's transcript")
        .needs(Write, Visible)
        .takes_much("SessionImport", LONGEST_IMPORT)
        .gives(&[Answer { status: 201, media: Media::Json, schema: Some("SessionListItem") }])
        .fails(&[Code::NotFound, Code::AgentUnknown, Code::Unavailable]),
    row(Name::SessionList, Get, "/api/sessions", "Lists sessions, newest first")
        .needs(Read, Visible)
        .asks(&[
            Query { name: "q", kind: QueryKind::Text, summary: "Part of a name or an ID" },
            Query { name: "type", kind: QueryKind::Text, summary: "Only this agent" },
            Query { name: "state", kind: QueryKind::OneOf(STATES), summary: "Only sessions in this state" },
            PROJECT,
            LIMIT,
            CURSOR,
        ])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("SessionPage") }])
        .fails(&[Code::NotFound, Code::AgentUnknown]),
    row(Name::SessionGet, Get, "/api/sessions/{id}", "A whole session; loads it, never starts a sandbox")
        .needs(Read, Session)
        .asks(&[
            Query {
                name: "limit",
                kind: QueryKind::Number(1, 500),
                summary: "Only the newest blocks of the conversation, at most this many, and no list of files",
            },
            Query {
                name: "include",
                kind: QueryKind::OneOf(&["rawTranscript"]),
                summary: "Also the agent's own transcripts, as text",
            },
        ])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("RuntimeSessionData") }]),
    row(Name::SessionUpdate, Patch, "/api/sessions/{id}", "Changes its name, metadata or options")
        .needs(Write, Session)
        .takes("SessionPatch")
        .gives(SESSION)
        .fails(&[Code::SessionEnded]),
    row(Name::SessionErase, Delete, "/api/sessions/{id}", "Stops its sandbox and erases all its data")
        .needs(Write, Session)
        .gives(NOTHING),
    row(Name::SessionLoad, Post, "/api/sessions/{id}/load", "Loads it into memory; never starts a sandbox")
        .needs(Write, Session)
        .gives(SESSION),
    row(Name::SessionUnload, Post, "/api/sessions/{id}/unload", "Stops its sandbox and unloads it from memory")
        .needs(Write, Session)
        .may_take("Forced")
        .gives(SESSION)
        .fails(&[Code::RunInProgress]),
    row(Name::SessionEnd, Post, "/api/sessions/{id}/end", "Ends the session; it accepts no more messages")
        .needs(Write, Session)
        .may_take("SessionEnd")
        .gives(SESSION)
        .fails(&[Code::SessionEnded]),
    row(Name::SessionInterrupt, Post, "/api/sessions/{id}/interrupt", "Stops the run, keeps the session")
        .needs(Write, Session)
        .gives(&[Answer { status: 202, media: Media::Json, schema: Some("Interrupted") }]),
    row(
        Name::MessageSend,
        Post,
        "/api/sessions/{id}/messages",
        "Sends a message; may stream its run's events",
    )
    .needs(Write, Session)
    .takes("MessageSend")
    .gives(&[
        Answer { status: 202, media: Media::Json, schema: Some("MessageAccepted") },
        Answer { status: 200, media: Media::EventStream, schema: Some("Event") },
    ])
    .fails(&[
        Code::RunInProgress,
        Code::VersionConflict,
        Code::SessionEnded,
        Code::IdempotencyMismatch,
        Code::QueueFull,
        Code::MessageLimit,
        Code::StorageLimit,
        Code::Unavailable,
    ]),
    row(
        Name::MessageGet,
        Get,
        "/api/sessions/{id}/messages/{blockId}",
        "One block, including texts that are stored as blobs",
    )
    .needs(Read, Session)
    .asks(&[Query {
        name: "conversationId",
        kind: QueryKind::Text,
        summary: "A subagent's conversation instead of the main one",
    }])
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("Block") }]),
    row(
        Name::MessageList,
        Get,
        "/api/sessions/{id}/messages",
        "The main conversation's blocks, oldest first",
    )
    .needs(Read, Session)
    .asks(&[
        Query { name: "after", kind: QueryKind::Text, summary: "The block to continue after" },
        Query { name: "before", kind: QueryKind::Text, summary: "The block to read backwards from" },
        Query {
            name: "order",
            kind: QueryKind::OneOf(&["oldest", "newest"]),
            summary: "`newest`: the last part first; within a part, oldest first",
        },
        Query {
            name: "conversationId",
            kind: QueryKind::Text,
            summary: "A subagent's conversation instead of the main one",
        },
        Query {
            name: "only",
            kind: QueryKind::Text,
            summary: "Only the blocks with these IDs, as a JSON list: shows which of them are in that part",
        },
        LIMIT,
    ])
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("MessagePage") }]),
    row(
        Name::EventRead,
        Get,
        "/api/sessions/{id}/events",
        "Reads or streams the log after a number",
    )
    .needs(Read, Session)
    .asks(&[
        Query {
            name: "after",
            kind: QueryKind::Number(0, u64::MAX),
            summary: "The last number already seen",
        },
        Query { name: "limit", kind: QueryKind::Number(0, MAX_EVENTS), summary: "At most this many" },
        Query {
            name: "wait",
            kind: QueryKind::Number(0, MAX_WAIT),
            summary: "Seconds to wait for the first entry",
        },
    ])
    .gives(&[
        Answer { status: 200, media: Media::Json, schema: Some("EventPage") },
        Answer { status: 200, media: Media::EventStream, schema: Some("Event") },
    ]),
    row(Name::ApprovalList, Get, "/api/approvals", "Lists approvals, newest first")
        .needs(Read, Visible)
        .asks(&[
            Query {
                name: "status",
                kind: QueryKind::OneOf(APPROVAL_STATES),
                summary: "Only pending ones, or only resolved ones",
            },
            Query { name: "sessionId", kind: QueryKind::Id, summary: "Only of this session" },
            PROJECT,
            LIMIT,
            CURSOR,
        ])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ApprovalPage") }])
        .fails(&[Code::NotFound]),
    row(Name::ApprovalGet, Get, "/api/approvals/{approvalId}", "One approval")
        .needs(Read, Approval)
        .gives(APPROVAL),
    row(Name::ApprovalAnswer, Post, "/api/approvals/{approvalId}", "Answers an approval")
        .needs(Write, Approval)
        .takes("ApprovalAnswer")
        .gives(APPROVAL)
        .fails(&[Code::ApprovalNotPending, Code::Unavailable]),
    row(
        Name::ApprovalRuleWithdraw,
        Delete,
        "/api/approvals/{approvalId}/rule",
        "Withdraws the rule that the answer to an approval granted",
    )
    .needs(Write, Approval)
    .gives(APPROVAL)
    .fails(&[Code::Unavailable]),
    row(Name::RunList, Get, "/api/sessions/{id}/runs", "A session's runs, newest first")
        .needs(Read, Session)
        .asks(&[
            LIMIT,
            CURSOR,
            Query {
                name: "sum",
                kind: QueryKind::OneOf(&["earlier"]),
                summary: "`earlier`: also the total usage of all runs before this part",
            },
        ])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("RunPage") }]),
    row(Name::RunGet, Get, "/api/sessions/{id}/runs/{runId}", "One run").needs(Read, Session).gives(RUN),
    row(
        Name::RunUpdate,
        Patch,
        "/api/sessions/{id}/runs/{runId}",
        "Changes a queued message, or its position",
    )
    .needs(Write, Session)
    .takes("RunPatch")
    .gives(RUN),
    row(Name::RunDrop, Delete, "/api/sessions/{id}/runs/{runId}", "Removes a queued message")
        .needs(Write, Session)
        .gives(NOTHING),
    row(
        Name::ReplayRun,
        Post,
        "/api/sessions/{id}/runs/{runId}/replay",
        "Replays a run with the recorded model responses",
    )
    .needs(Write, Session)
    .may_take("ReplayStart")
    .gives(REPLAY_STARTED)
    .fails(&[Code::Conflict]),
    row(
        Name::ReplaySession,
        Post,
        "/api/sessions/{id}/replay",
        "Replays every run of a session, each from its own base version",
    )
    .needs(Write, Session)
    .may_take("ReplayStart")
    .gives(REPLAY_STARTED),
    row(Name::ReplayList, Get, "/api/sessions/{id}/replays", "A session's replays, newest first")
        .needs(Read, Session)
        .asks(&[LIMIT, CURSOR])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ReplayPage") }]),
    row(Name::ReplayGet, Get, "/api/sessions/{id}/replays/{replayId}", "One replay and its result")
        .needs(Read, Session)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("Replay") }]),
    row(
        Name::ReplayEnd,
        Delete,
        "/api/sessions/{id}/replays/{replayId}",
        "Stops an active replay; an ended one stays unchanged",
    )
    .needs(Write, Session)
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("Replay") }]),
    row(
        Name::ReplayEvents,
        Get,
        "/api/sessions/{id}/replays/{replayId}/events",
        "Reads a replay's log after a number, or streams it to its end",
    )
    .needs(Read, Session)
    .asks(&[
        Query {
            name: "after",
            kind: QueryKind::Number(0, u64::MAX),
            summary: "The last number already seen",
        },
        Query { name: "limit", kind: QueryKind::Number(0, MAX_EVENTS), summary: "At most this many" },
        Query {
            name: "wait",
            kind: QueryKind::Number(0, MAX_WAIT),
            summary: "Seconds to wait for the first entry",
        },
    ])
    .gives(&[
        Answer { status: 200, media: Media::Json, schema: Some("EventPage") },
        Answer { status: 200, media: Media::EventStream, schema: Some("Event") },
    ]),
    row(
        Name::TranscriptGet,
        Get,
        "/api/sessions/{id}/transcript",
        "The agent's own transcript, unchanged",
    )
    .needs(Read, Session)
    .asks(&[Query { name: "subagent", kind: QueryKind::Text, summary: "Of this subagent" }])
    .gives(TEXT),
    row(
        Name::BlobGet,
        Get,
        "/api/sessions/{id}/blobs/{hash}",
        "Downloads an event field that was stored as a blob",
    )
    .needs(Read, Session)
    .gives(&[Answer { status: 200, media: Media::Bytes, schema: None }]),
    row(Name::SandboxGet, Get, "/api/sessions/{id}/sandbox", "Its sandbox: isolation, resources, log")
        .needs(Read, Session)
        .gives(SANDBOX),
    row(Name::SandboxStart, Post, "/api/sessions/{id}/sandbox/start", "Starts its sandbox and waits for it")
        .needs(Write, Session)
        .gives(SANDBOX)
        .fails(&[Code::SandboxError, Code::IsolationMissing, Code::SessionEnded, Code::Unavailable]),
    row(Name::SandboxStop, Post, "/api/sessions/{id}/sandbox/stop", "Stops its sandbox")
        .needs(Write, Session)
        .may_take("Forced")
        .gives(NOTHING)
        .fails(&[Code::RunInProgress, Code::SandboxError]),
    // Versions.
    row(Name::VersionList, Get, "/api/sessions/{id}/versions", "A session's versions, newest first")
        .needs(Read, Session)
        .asks(&[LIMIT, CURSOR])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("VersionPage") }]),
    row(Name::VersionGet, Get, "/api/sessions/{id}/versions/{version}", "One version")
        .needs(Read, Session)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("VersionDetail") }]),
    row(
        Name::VersionDiff,
        Get,
        "/api/sessions/{id}/versions/{version}/diff",
        "The changes of a version: files, line by line, and blocks",
    )
    .needs(Read, Session)
    .asks(&[
        Query {
            name: "against",
            kind: QueryKind::Number(0, u64::MAX),
            summary: "The version to compare with; its base if absent",
        },
        Query {
            name: "lines",
            kind: QueryKind::OneOf(&["all", "counts", "none"]),
            summary: "`counts`: only how many lines differ, as `added` and `removed`. `none`: only which files, up to 20,000, \
                      and none is read. `all` if absent",
        },
        Query {
            name: "path",
            kind: QueryKind::Text,
            summary: "Only this file, with more of its lines",
        },
        Query {
            name: "after",
            kind: QueryKind::Text,
            summary: "Only files after this one: the last `path` of an answer that is `truncated`",
        },
        Query {
            name: "limit",
            kind: QueryKind::Number(1, 20_000),
            summary: "At most this many files; with lines or counts at most 500",
        },
    ])
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("VersionDiff") }])
    .fails(VERSION_UNREAD),
    row(
        Name::VersionChanges,
        Get,
        "/api/sessions/{id}/versions/{version}/changes",
        "Paths of the workspace that differ from the imported files, without their content",
    )
    .needs(Read, Session)
    .asks(&[
        Query {
            name: "against",
            kind: QueryKind::Number(0, u64::MAX),
            summary: "The version to compare with; if absent, the one whose files were imported last, else version 0",
        },
        Query { name: "limit", kind: QueryKind::Number(1, 5_000), summary: "At most this many" },
        CURSOR,
    ])
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("VersionChanges") }])
    .fails(VERSION_UNREAD),
    row(Name::VersionFiles, Get, "/api/sessions/{id}/versions/{version}/files", "A directory of a version")
        .needs(Read, Session)
        .asks(&[PATH])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("TreeListing") }])
        .fails(VERSION_UNREAD),
    row(
        Name::VersionFile,
        Get,
        "/api/sessions/{id}/versions/{version}/file",
        "A file of a version; takes `Range` and `If-None-Match`",
    )
    .needs(Read, Session)
    .asks(&[PATH])
    .gives(BYTES)
    .fails(VERSION_UNREAD),
    row(
        Name::VersionArchive,
        Get,
        "/api/sessions/{id}/versions/{version}/archive",
        "The workspace of a version, as a tar archive compressed by gzip",
    )
    .needs(Read, Session)
    .gives(ARCHIVE)
    .fails(VERSION_UNREAD),
    row(
        Name::VersionLabel,
        Put,
        "/api/sessions/{id}/versions/{version}/label",
        "Sets or removes the label of a version; labelled versions are kept forever",
    )
    .needs(Write, Session)
    .takes("VersionLabel")
    .gives(VERSION)
    .fails(&[Code::Conflict]),
    row(
        Name::VersionCommit,
        Post,
        "/api/sessions/{id}/snapshot",
        "Saves the current state as a version; returns the latest, if nothing changed",
    )
    .needs(Write, Session)
    .gives(VERSION)
    .fails(VERSION_UNMADE),
    row(Name::VersionSync, Post, "/api/sessions/{id}/sync", "The same as `snapshot`")
        .needs(Write, Session)
        .gives(VERSION)
        .fails(VERSION_UNMADE),
    row(
        Name::VersionRestore,
        Post,
        "/api/sessions/{id}/restore",
        "Restores an older version; stops the sandbox",
    )
    .needs(Write, Session)
    .takes("SessionRestore")
    .gives(VERSION)
    .fails(&[
        Code::RunInProgress,
        Code::Conflict,
        Code::SessionEnded,
        Code::DataDamaged,
        Code::SandboxError,
        Code::Unavailable,
    ]),
    row(
        Name::SessionFork,
        Post,
        "/api/sessions/{id}/fork",
        "Forks the session from a version",
    )
    .needs(Write, Session)
    .may_take("SessionFork")
    .gives(&[Answer { status: 201, media: Media::Json, schema: Some("SessionForked") }])
    .fails(&[Code::AgentUnknown, Code::Conflict, Code::DataDamaged, Code::Unavailable]),
    // Files, what is worth showing of them, and what listens.
    row(Name::FileList, Get, "/api/sessions/{id}/fs", "Lists a directory; never starts a sandbox")
        .needs(Read, Session)
        .asks(&[PATH])
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("FileListing") }]),
    row(Name::FileRead, Get, "/api/sessions/{id}/fs/read", "A file, or a range of it; never starts a sandbox")
        .needs(Read, Session)
        .asks(&[PATH])
        .gives(FILE)
        .fails(&[Code::RangeNotSatisfiable]),
    row(
        Name::FileChanges,
        Get,
        "/api/sessions/{id}/fs/changes",
        "Files of the workspace that are not as in the latest version; never makes a sandbox",
    )
    .needs(Read, Session)
    .asks(&[
        Query { name: "limit", kind: QueryKind::Number(1, 5_000), summary: "At most this many" },
        CURSOR,
    ])
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("FileChanges") }])
    .fails(VERSION_UNREAD),
    row(
        Name::FileConvert,
        Get,
        "/api/sessions/{id}/fs/convert",
        "A document as PDF, converted by LibreOffice in its own sandbox; `X-Warren-Converter` names the converter",
    )
    .needs(Read, Session)
    .asks(&[
        PATH,
        Query { name: "to", kind: QueryKind::OneOf(&["pdf"]), summary: "The format; `pdf` if absent" },
        Query {
            name: "version",
            kind: QueryKind::Number(0, u64::MAX),
            summary: "The version to read the document from; the current file if absent",
        },
    ])
    .gives(FILE)
    .fails(&[
        Code::Conflict,
        Code::TooLarge,
        Code::ConversionFailed,
        Code::DataDamaged,
        Code::SandboxError,
        Code::IsolationMissing,
        Code::ConverterMissing,
        Code::Unavailable,
    ]),
    row(Name::FileArchive, Get, "/api/sessions/{id}/fs/archive", "A directory as `.tar.gz`")
        .needs(Read, Session)
        .asks(&[PATH])
        .gives(ARCHIVE),
    row(Name::FilePut, Put, "/api/sessions/{id}/fs", "Creates or replaces a file; wakes the sandbox")
        .needs(Write, Session)
        .asks(&[PATH])
        .takes_stream(BodyForm::Bytes, MAX_FILE)
        .gives(FILE_ITEM)
        .fails(&[Code::PreconditionFailed, Code::Conflict, Code::SandboxError, Code::DiskLimit]),
    row(
        Name::FileUpload,
        Post,
        "/api/sessions/{id}/fs/upload",
        "Uploads new files into `/user-input` or another directory",
    )
    .needs(Write, Session)
    .asks(&[PATH])
    .takes_stream(BodyForm::Multipart, MAX_UPLOAD)
    .gives(&[Answer { status: 201, media: Media::Json, schema: Some("Uploaded") }])
    .fails(&[Code::Conflict, Code::SandboxError, Code::DiskLimit]),
    row(
        Name::FileImport,
        Post,
        "/api/sessions/{id}/fs/import",
        "Imports the files of a tar, tar.gz or zip into the workspace, as a version",
    )
    .needs(Write, Session)
    .takes_stream(BodyForm::Bytes, MAX_IMPORT)
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("VersionDetail") }])
    .fails(&[Code::RunInProgress, Code::Conflict, Code::SandboxError, Code::DiskLimit, Code::DataDamaged]),
    row(Name::FileRemove, Delete, "/api/sessions/{id}/fs", "Deletes a file, or a directory with its content")
        .needs(Write, Session)
        .asks(&[PATH])
        .gives(NOTHING)
        .fails(&[Code::PreconditionFailed, Code::SandboxError]),
    row(
        Name::FileMove,
        Post,
        "/api/sessions/{id}/fs/move",
        "Moves or renames a file, or a directory with its content; wakes the sandbox",
    )
    .needs(Write, Session)
    .takes("FileMove")
    .gives(FILE_ITEM)
    .fails(&[Code::PreconditionFailed, Code::Conflict, Code::SandboxError, Code::DiskLimit]),
    row(
        Name::DirectoryMake,
        Post,
        "/api/sessions/{id}/fs/mkdir",
        "Creates a directory and its parents; wakes the sandbox",
    )
    .needs(Write, Session)
    .asks(&[PATH])
    .gives(FILE_ITEM)
    .fails(&[Code::Conflict, Code::SandboxError, Code::DiskLimit]),
    row(Name::ArtifactList, Get, "/api/sessions/{id}/artifacts", "Lists its artifacts")
        .needs(Read, Session)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ArtifactList") }]),
    row(Name::ArtifactGet, Get, "/api/sessions/{id}/artifacts/{artifactId}", "One artifact")
        .needs(Read, Session)
        .gives(&[Answer { status: 200, media: Media::Json, schema: Some("Artifact") }]),
    row(Name::ArtifactContent, Get, "/api/sessions/{id}/artifacts/{artifactId}/content", "Its content")
        .needs(Read, Session)
        .gives(FILE)
        .fails(&[Code::RangeNotSatisfiable]),
    row(
        Name::ArtifactVersions,
        Get,
        "/api/sessions/{id}/artifacts/{artifactId}/versions",
        "Its history",
    )
    .needs(Read, Session)
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("ArtifactHistory") }]),
    row(
        Name::ArtifactPreview,
        Post,
        "/api/sessions/{id}/artifacts/{artifactId}/preview",
        "Creates a preview link for a browser; starts the app, if the token may write",
    )
    .needs(Read, Session)
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("PreviewLink") }])
    .fails(&[Code::Conflict, Code::SandboxError]),
    // What projects know.
    row(
        Name::KnowledgeList,
        Get,
        "/api/projects/{projectId}/knowledge",
        "What a project's sessions can read as `/knowledge`",
    )
    .needs(Read, Project)
    .gives(&[Answer { status: 200, media: Media::Json, schema: Some("KnowledgeListing") }]),
    row(
        Name::KnowledgeAdd,
        Post,
        "/api/projects/{projectId}/knowledge",
        "Uploads files: all of the form or none; files of the same name are replaced",
    )
    .needs(Write, Project)
    .asks(&[KNOWLEDGE_DIRECTORY])
    .takes_stream(BodyForm::Multipart, MAX_UPLOAD)
    .gives(&[Answer { status: 201, media: Media::Json, schema: Some("Uploaded") }])
    .fails(&[Code::Conflict, Code::DiskLimit]),
    row(
        Name::KnowledgeRemove,
        Delete,
        "/api/projects/{projectId}/knowledge",
        "Deletes a file, or a directory with its content",
    )
    .needs(Write, Project)
    .asks(&[KNOWLEDGE_PATH])
    .gives(NOTHING)
    .fails(&[Code::Conflict]),
    // The same in the words of another platform.
    build::CREATE,
    build::LIST,
    build::GET,
    build::ERASE,
    build::SEND,
    build::HISTORY,
    build::ARTIFACTS,
    build::ARTIFACT,
    build::CONTENT,
    build::UPLOAD,
    build::FILES,
    build::READ,
    build::LIMITS,
];

const VERSION_UNREAD: &[Code] = &[Code::Conflict, Code::DataDamaged];
const VERSION_UNMADE: &[Code] = &[Code::RunInProgress, Code::SandboxError, Code::Unavailable];
/// The largest file, and the most that one upload can bring.
const MAX_FILE: usize = 50_000_000;
const MAX_UPLOAD: usize = 201_000_000;
/// The largest archive.
const MAX_IMPORT: usize = 2_000_000_000;
/// The longest transcripts that can be imported, with their subagents'.
const LONGEST_IMPORT: usize = 256 << 20;
/// The most entries of a log that one answer carries.
const MAX_EVENTS: u64 = 5000;
/// The longest a reader of a log may wait, in seconds.
const MAX_WAIT: u64 = 60;

const USAGE_GROUPS: &[&str] = &["day", "model", "session", "agent", "project"];
const APPROVAL_STATES: &[&str] = &["pending", "resolved"];
const STATES: &[&str] = &["running", "loaded", "sandboxed"];

const PROFILES_OF: Query = Query {
    name: "projectId",
    kind: QueryKind::Id,
    summary: "Profiles that sessions of this project can use: its own, and those of the partition unless the project \
             has one of the same name. Without it, an administrator sees all profiles, and a project token those of \
             its project",
};
const PROFILE_OF: Query = Query {
    name: "projectId",
    kind: QueryKind::Id,
    summary: "The project it belongs to. Without it, a project token means its own project, and an administrator the \
             profiles of the whole partition",
};
const PROJECT: Query = Query { name: "projectId", kind: QueryKind::Id, summary: "Only this project" };
const LIMIT: Query = Query { name: "limit", kind: QueryKind::Number(1, 500), summary: "At most this many" };
const CURSOR: Query =
    Query { name: "cursor", kind: QueryKind::Text, summary: "The `nextCursor` of the previous part" };

const PATH: Query = Query {
    name: "path",
    kind: QueryKind::Text,
    summary: "Relative to the workspace, or in `/workspace`, `/outputs`, `/user-input`, `/knowledge`, `/instructions`",
};

const KNOWLEDGE_DIRECTORY: Query = Query {
    name: "path",
    kind: QueryKind::Text,
    summary: "A directory, relative to `/knowledge`; created if missing",
};
const KNOWLEDGE_PATH: Query =
    Query { name: "path", kind: QueryKind::Text, summary: "Relative to `/knowledge`" };

const FILE_ITEM: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("FileItem") }];
const FILE: &[Answer] = &[Answer { status: 200, media: Media::File, schema: None }];
const ARCHIVE: &[Answer] = &[Answer { status: 200, media: Media::Archive, schema: None }];
const BYTES: &[Answer] = &[Answer { status: 200, media: Media::Bytes, schema: None }];
const VERSION: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("VersionItem") }];
const NOTHING: &[Answer] = &[Answer { status: 204, media: Media::Nothing, schema: None }];
const TEXT: &[Answer] = &[Answer { status: 200, media: Media::Text, schema: None }];
const ANY_JSON: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: None }];
const HEALTH: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("Health") }];
const READY: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("Ready") }];
const DOCTOR: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("Doctor") }];
const SANDBOX: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("SandboxItem") }];
const SANDBOXES: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("SandboxList") }];
const USAGE: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("UsageReport") }];
const LINK: &[Answer] = &[Answer { status: 201, media: Media::Json, schema: Some("SignInLink") }];
const WHO: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("WhoAmI") }];
const TOKEN: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("TokenItem") }];
const TOKENS: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("TokenList") }];
const TOKEN_CREATED: &[Answer] = &[Answer { status: 201, media: Media::Json, schema: Some("TokenCreated") }];
const PROFILE: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("AgentProfile") }];
const PROFILES: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("ProfileList") }];
const SESSION: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("SessionListItem") }];
const APPROVAL: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("ApprovalItem") }];
const REPLAY_STARTED: &[Answer] = &[
    Answer { status: 202, media: Media::Json, schema: Some("Replay") },
    Answer { status: 200, media: Media::Json, schema: Some("Replay") },
];
const RUN: &[Answer] = &[Answer { status: 200, media: Media::Json, schema: Some("RunItem") }];

const fn row(name: Name, method: Method, path: &'static str, summary: &'static str) -> Route {
    Route {
        name,
        method,
        path,
        // Whoever forgets to say it gets the strictest.
        access: Access::Admin,
        subject: Subject::Server,
        summary,
        query: &[],
        body: None,
        answers: &[],
        errors: &[],
    }
}

impl Route {
    const fn needs(mut self, access: Access, subject: Subject) -> Self {
        self.access = access;
        self.subject = subject;
        self
    }

    const fn asks(mut self, query: &'static [Query]) -> Self {
        self.query = query;
        self
    }

    const fn takes(mut self, schema: &'static str) -> Self {
        self.body = Some(Body { form: BodyForm::Json, schema, required: true, limit: None });
        self
    }

    /// Takes a body that may be longer than others.
    const fn takes_much(mut self, schema: &'static str, limit: usize) -> Self {
        self.body = Some(Body { form: BodyForm::Json, schema, required: true, limit: Some(limit) });
        self
    }

    /// Takes a body that is not JSON, as it comes.
    const fn takes_stream(mut self, form: BodyForm, limit: usize) -> Self {
        self.body = Some(Body { form, schema: "", required: true, limit: Some(limit) });
        self
    }

    const fn may_take(mut self, schema: &'static str) -> Self {
        self.body = Some(Body { form: BodyForm::Json, schema, required: false, limit: None });
        self
    }

    const fn gives(mut self, answers: &'static [Answer]) -> Self {
        self.answers = answers;
        self
    }

    const fn fails(mut self, errors: &'static [Code]) -> Self {
        self.errors = errors;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::ROUTES;
    use crate::{Access, Media, Method, RouteName, Subject};

    #[test]
    fn every_name_has_exactly_one_row() {
        for name in RouteName::ALL {
            assert_eq!(ROUTES.iter().filter(|route| route.name == *name).count(), 1, "{name}");
        }
        assert_eq!(ROUTES.len(), RouteName::ALL.len());
    }

    #[test]
    fn no_two_rows_answer_the_same_request() {
        let mut seen = std::collections::BTreeSet::new();
        for route in ROUTES {
            assert!(seen.insert((route.method.as_str(), route.path)), "{}", route.name);
        }
    }

    #[test]
    fn a_row_that_acts_on_a_session_names_it_in_its_path_and_only_such_a_row() {
        for route in ROUTES {
            let names_it = ["/api/sessions/{id}", "/api/build/sessions/{id}"]
                .iter()
                .any(|it| route.path.starts_with(it));
            assert_eq!(route.subject == Subject::Session, names_it, "{}", route.name);
            let names_approval = route.path.starts_with("/api/approvals/{approvalId}");
            assert_eq!(route.subject == Subject::Approval, names_approval, "{}", route.name);
            let names_project = route.path.starts_with("/api/projects/{projectId}");
            assert_eq!(route.subject == Subject::Project, names_project, "{}", route.name);
        }
    }

    #[test]
    fn only_these_routes_are_open_to_strangers() {
        let open: Vec<_> = ROUTES
            .iter()
            .filter(|route| matches!(route.access, Access::Public | Access::AdminReadOrLocal))
            .map(|route| route.path)
            .collect();
        assert_eq!(
            open,
            [
                "/health",
                "/ready",
                "/metrics",
                "/openapi.json",
                "/errors/{code}",
                "/",
                "/assets/{file}",
                "/auth",
                "/api/auth/sign-in"
            ]
        );
    }

    #[test]
    fn what_changes_something_is_never_a_get_and_needs_more_than_reading() {
        for route in ROUTES.iter().filter(|route| route.access != Access::Public) {
            let writes = matches!(route.access, Access::Write | Access::Admin | Access::Operator);
            // Whoever may only read can still sign out.
            let expected = route.method != Method::Get
                // A way in changes nothing by itself; what has to be started asks for the right to write.
                && !matches!(route.name, RouteName::AuthSignOut | RouteName::ArtifactPreview);
            assert_eq!(writes, expected, "{}", route.name);
        }
    }

    #[test]
    fn every_row_says_how_it_answers() {
        for route in ROUTES {
            assert!(!route.answers.is_empty(), "{}", route.name);
            for answer in route.answers {
                assert_eq!(
                    answer.media == Media::Nothing,
                    matches!(answer.status, 204 | 303),
                    "{}",
                    route.name
                );
            }
        }
    }
}
