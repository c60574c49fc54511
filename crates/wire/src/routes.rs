//! What a route is.

use std::fmt;

use warren_domain::ErrorCode;

/// One row of the table: everything the server, the tests and the documentation need to know about a route.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Its name: noun first. The server has exactly one handler for it.
    pub name: RouteName,
    /// The method it answers.
    pub method: Method,
    /// Its path, with `{parameters}`.
    pub path: &'static str,
    /// What it demands of the caller.
    pub access: Access,
    /// What it acts on, and so what the caller's scope is compared with.
    pub subject: Subject,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// Its query parameters; any other is refused.
    pub query: &'static [Query],
    /// Its body, if it takes one.
    pub body: Option<Body>,
    /// How it answers when all is well; the first is the default.
    pub answers: &'static [Answer],
    /// Codes of its own, beside those that every route may answer.
    pub errors: &'static [ErrorCode],
}

/// What a route demands of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Public,
    /// A token that may read.
    Read,
    /// A token that may change things.
    Write,
    /// An administrator's token, read-only or not.
    AdminRead,
    /// An administrator's token that may change things.
    Admin,
    /// An operator's: an administrator's of the default partition that may change things. For what all partitions share.
    Operator,
    /// As [`Access::AdminRead`], or nothing when only this machine can reach the listener.
    AdminReadOrLocal,
}

/// What a route acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The whole server.
    Server,
    /// Whatever the caller may see: answers are narrowed to it.
    Visible,
    /// The session whose id is the path's `{id}`.
    Session,
    /// The project whose id is the path's `{projectId}`; `default` is where a session without one would be made.
    Project,
    /// The session of the approval whose id is the path's `{approvalId}`.
    Approval,
}

/// The methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are HTTP's own")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// A query parameter.
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: QueryKind,
    /// One sentence for the documentation.
    pub summary: &'static str,
}

/// What a query parameter takes.
#[derive(Debug, Clone, Copy)]
pub enum QueryKind {
    /// Any text.
    Text,
    /// A UUID.
    Id,
    /// A point in time, as RFC 3339.
    Time,
    /// A whole number from the first to the second.
    Number(u64, u64),
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// A body.
#[derive(Debug, Clone, Copy)]
pub struct Body {
    /// What it is made of.
    pub form: BodyForm,
    /// The name of its schema, if it is JSON.
    pub schema: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// The most bytes, where it may be longer than the bodies of other routes.
    pub limit: Option<usize>,
}

/// What a body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    /// JSON, read whole before it is looked at.
    Json,
    /// Bytes of any kind, taken as they come.
    Bytes,
    /// Parts of a form, taken as they come.
    Multipart,
}

/// One way a route answers when all is well.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The form of the body.
    pub media: Media,
    /// The name of the schema of the body, or of one line's data in a stream.
    pub schema: Option<&'static str>,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// No body at all.
    Nothing,
    /// JSON.
    Json,
    /// Server-sent events.
    EventStream,
    /// Plain text.
    Text,
    /// A page for people.
    Markdown,
    /// The web page.
    Html,
    /// Bytes.
    Bytes,
    /// A tar archive compressed by gzip. Whoever asks for it gets it, whatever it says it accepts.
    Archive,
    /// A file, of whatever type it is. Whoever asks for a file gets it, whatever it says it accepts.
    File,
}

impl Media {
    /// The media type, if there is a body.
    #[must_use]
    pub fn essence(self) -> Option<&'static str> {
        match self {
            Media::Nothing => None,
            Media::Json => Some("application/json"),
            Media::EventStream => Some("text/event-stream"),
            Media::Text => Some("text/plain"),
            Media::Markdown => Some("text/markdown"),
            Media::Html => Some("text/html"),
            Media::Bytes => Some("application/octet-stream"),
            Media::Archive => Some("application/gzip"),
            Media::File => Some("*/*"),
        }
    }
}

impl Route {
    /// Whether it may answer with a stream of events.
    #[must_use]
    pub fn streams(&self) -> bool {
        self.answers.iter().any(|answer| answer.media == Media::EventStream)
    }

    /// The names of the path's parameters, in order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

impl Method {
    /// The method as HTTP writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

macro_rules! names {
    ($($variant:ident = $name:literal,)*) => {
        /// The name of a route. An enum, so that the server's registry of handlers is complete or does not compile.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each is described by its row of the table")]
        pub enum RouteName { $($variant,)* }

        impl RouteName {
            /// All names.
            pub const ALL: &'static [RouteName] = &[$(RouteName::$variant,)*];

            /// The name as logs, metrics and the OpenAPI document write it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(RouteName::$variant => $name,)* }
            }
        }
    };
}

names! {
    AgentGet = "agent_get",
    AgentInstall = "agent_install",
    AgentList = "agent_list",
    AgentRemove = "agent_remove",
    ApprovalAnswer = "approval_answer",
    ApprovalGet = "approval_get",
    ApprovalList = "approval_list",
    ApprovalRuleWithdraw = "approval_rule_withdraw",
    ArtifactContent = "artifact_content",
    ArtifactGet = "artifact_get",
    ArtifactList = "artifact_list",
    ArtifactPreview = "artifact_preview",
    ArtifactVersions = "artifact_versions",
    AuthLink = "auth_link",
    AuthSignIn = "auth_sign_in",
    AuthSignInToken = "auth_sign_in_token",
    AuthSignOut = "auth_sign_out",
    AuthWhoAmI = "auth_who_am_i",
    BlobGet = "blob_get",
    BuildArtifactContent = "build_artifact_content",
    BuildArtifactGet = "build_artifact_get",
    BuildArtifactList = "build_artifact_list",
    BuildFileList = "build_file_list",
    BuildFileRead = "build_file_read",
    BuildFileUpload = "build_file_upload",
    BuildLimitGet = "build_limit_get",
    BuildMessageList = "build_message_list",
    BuildMessageSend = "build_message_send",
    BuildSessionCreate = "build_session_create",
    BuildSessionErase = "build_session_erase",
    BuildSessionGet = "build_session_get",
    BuildSessionList = "build_session_list",
    DirectoryMake = "directory_make",
    DoctorGet = "doctor_get",
    ErrorPage = "error_page",
    EventRead = "event_read",
    FileArchive = "file_archive",
    FileChanges = "file_changes",
    FileConvert = "file_convert",
    FileImport = "file_import",
    FileList = "file_list",
    FileMove = "file_move",
    FilePut = "file_put",
    FileRead = "file_read",
    FileRemove = "file_remove",
    FileUpload = "file_upload",
    Health = "health",
    KnowledgeAdd = "knowledge_add",
    KnowledgeList = "knowledge_list",
    KnowledgeRemove = "knowledge_remove",
    MessageGet = "message_get",
    MessageList = "message_list",
    MessageSend = "message_send",
    Metrics = "metrics",
    ModelList = "model_list",
    OpenApi = "openapi",
    PageFile = "page_file",
    PageGet = "page_get",
    ProfileDelete = "profile_delete",
    ProfileGet = "profile_get",
    ProfileList = "profile_list",
    ProfilePut = "profile_put",
    ProviderList = "provider_list",
    ProviderPut = "provider_put",
    ProviderRemove = "provider_remove",
    ProviderTest = "provider_test",
    Ready = "ready",
    ReplayEnd = "replay_end",
    ReplayEvents = "replay_events",
    ReplayGet = "replay_get",
    ReplayList = "replay_list",
    ReplayRun = "replay_run",
    ReplaySession = "replay_session",
    RunDrop = "run_drop",
    RunGet = "run_get",
    RunList = "run_list",
    RunUpdate = "run_update",
    SandboxGet = "sandbox_get",
    SandboxList = "sandbox_list",
    SandboxStart = "sandbox_start",
    SandboxStop = "sandbox_stop",
    SessionChanges = "session_changes",
    SessionCreate = "session_create",
    SessionEnd = "session_end",
    SessionErase = "session_erase",
    SessionFork = "session_fork",
    SessionGet = "session_get",
    SessionImport = "session_import",
    SessionInterrupt = "session_interrupt",
    SessionList = "session_list",
    SessionLoad = "session_load",
    SessionUnload = "session_unload",
    SessionUpdate = "session_update",
    TokenCreate = "token_create",
    TokenDelete = "token_delete",
    TokenGet = "token_get",
    TokenList = "token_list",
    TranscriptGet = "transcript_get",
    UsageGet = "usage_get",
    VersionArchive = "version_archive",
    VersionChanges = "version_changes",
    VersionCommit = "version_commit",
    VersionDiff = "version_diff",
    VersionFile = "version_file",
    VersionFiles = "version_files",
    VersionGet = "version_get",
    VersionLabel = "version_label",
    VersionList = "version_list",
    VersionRestore = "version_restore",
    VersionSync = "version_sync",
}

impl fmt::Display for RouteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
