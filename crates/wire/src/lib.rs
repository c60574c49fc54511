//! Every public JSON shape, and the table of routes they travel on.
//!
//! Stands between the server and its clients: the server answers in these types, clients read the same ones, and the
//! OpenAPI document is made from them and from [`ROUTES`].
//! **Invariant:** no logic. Nothing here knows HTTP libraries, the runtime or who is asking; a request with a field
//! that is not in its type is refused, an answer only ever gains fields.
//! Start with [`ROUTES`], then [`SessionCreate`] and [`MessageSend`].

mod replay;
mod routes;
mod table;

mod agent;
mod approval;
mod auth;
mod build;
mod event;
mod files;
mod machine;
mod message;
mod packet;
mod problem;
mod profile;
mod provider;
mod run;
mod session;
mod socket;
mod version;

mod openapi;

pub use agent::{AgentItem, AgentList};
pub use approval::{ApprovalAnswer, ApprovalItem, ApprovalOutcome, ApprovalPage, ApprovalStatus};
pub use auth::{
    CSRF_COOKIE, CSRF_HEADER, SESSION_COOKIE, SignIn, SignInLink, TokenCreate, TokenCreated, TokenItem,
    TokenList, WhoAmI,
};
pub use build::{
    BuildArtifact, BuildArtifactList, BuildFile, BuildFileListing, BuildLimit, BuildMessageList,
    BuildMessageSend, BuildSandbox, BuildSandboxStatus, BuildSession, BuildSessionCreate, BuildSessionList,
    BuildSessionStatus, BuildSnapshot, BuildUploaded,
};
pub use event::{EventPage, SessionNews, SessionsChanged};
pub use files::{
    ArtifactHistory, ArtifactList, ArtifactVersion, FileChangeItem, FileChanges, FileItem, FileListing,
    FileMove, FileSource, KnowledgeListing, PreviewLink, Uploaded,
};
pub use machine::{Doctor, Health, Ready, SandboxItem, SandboxList, UsageReport, UsageRow};
pub use message::{MessageAccepted, MessagePage, MessageSend};
pub use openapi::openapi;
pub use packet::{
    ArtifactMetadata, BuildArtifactType, BuildMessage, BuildMessageType, History, Packet, PacketBody,
    Packets, StepStatus, ToolStatus,
};
pub use problem::{At, Problem};
pub use profile::ProfileList;
pub use provider::{
    ModelItem, ModelList, ModelPrice, ModelProblem, ProviderItem, ProviderKeySource, ProviderList,
    ProviderPut, ProviderTestStatus, ProviderTested,
};
pub use replay::{ReplayPage, ReplayStart};
pub use routes::{Access, Answer, BodyForm, Media, Method, Query, QueryKind, Route, RouteName, Subject};
pub use run::{Interrupted, RunItem, RunPage, RunPatch, RunProblem};
pub use session::{
    Forced, ImportedThread, RuntimeSessionData, SessionCreate, SessionEnd, SessionImport, SessionListItem,
    SessionOptions, SessionPage, SessionPatch, SubagentThread, WorkspaceFile,
};
pub use socket::{SOCKET_PATH, SocketAuth, SocketMessage, SocketSession, socket_messages, socket_status};
pub use table::ROUTES;
pub use version::{
    ConflictRetry, ConflictWord, FileDiff, FileLook, OnConflict, PathChange, SessionFork, SessionForked,
    SessionRestore, SkippedFile, TranscriptLength, TreeChange, TreeEntry, TreeListing, VersionChanges,
    VersionDetail, VersionDiff, VersionHead, VersionItem, VersionLabel, VersionPage, VersionPlace,
};
