//! The schemas of all types, by name.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::{ToSchema, openapi::RefOr, openapi::schema::Schema};
use warren_domain::{AgentProfile, ErrorCode, Event, Replay};

use crate::{
    AgentList, ApprovalAnswer, ApprovalPage, ArtifactHistory, ArtifactList, BuildArtifactList,
    BuildFileListing, BuildLimit, BuildMessageList, BuildMessageSend, BuildSessionCreate, BuildSessionList,
    BuildUploaded, Doctor, EventPage, FileChanges, FileListing, FileMove, Forced, Health, Interrupted,
    KnowledgeListing, MessageAccepted, MessagePage, MessageSend, ModelList, Packet, PreviewLink, Problem,
    ProfileList, ProviderItem, ProviderList, ProviderPut, ProviderTested, Ready, ReplayPage, ReplayStart,
    RunItem, RunPage, RunPatch, RuntimeSessionData, SandboxItem, SandboxList, SessionCreate, SessionEnd,
    SessionFork, SessionForked, SessionImport, SessionListItem, SessionPage, SessionPatch, SessionRestore,
    SessionsChanged, SignIn, SignInLink, TokenCreate, TokenCreated, TokenItem, TokenList, TreeListing,
    Uploaded, UsageReport, VersionChanges, VersionDetail, VersionDiff, VersionItem, VersionLabel,
    VersionPage, WhoAmI,
};

/// The name and the schema of each type.
macro_rules! schemas_of {
    ($($shape:ty),+ $(,)?) => {{
        let mut found = Vec::new();
        $(add::<$shape>(&mut found);)+
        found
    }};
}

/// Every type that a route takes or gives, with all types inside them.
pub(super) fn all() -> BTreeMap<String, Value> {
    #[rustfmt::skip]
    let found: Vec<(String, RefOr<Schema>)> = schemas_of![
        AgentList, AgentProfile, ApprovalAnswer, ApprovalPage, ArtifactHistory, ArtifactList,
        BuildArtifactList, BuildFileListing, BuildLimit, BuildUploaded, BuildMessageList, BuildMessageSend, BuildSessionCreate,
        BuildSessionList, Doctor, Event, EventPage, FileChanges, FileListing, FileMove, Forced, Health, Interrupted,
        KnowledgeListing, MessageAccepted, MessagePage, MessageSend, ModelList, Packet, PreviewLink, Problem, ProfileList, ProviderItem,
        ProviderList, ProviderPut, ProviderTested, Ready,
        Replay, ReplayPage, ReplayStart, RunItem, RunPage, RunPatch, RuntimeSessionData, SandboxItem,
        SandboxList, SessionCreate, SessionEnd, SessionFork, SessionForked, SessionImport,
        SessionListItem, SessionPage, SessionPatch, SessionRestore, SessionsChanged, SignIn, SignInLink,
        TokenCreate, TokenCreated, TokenItem, TokenList, TreeListing, Uploaded, UsageReport,
        VersionChanges, VersionDetail, VersionDiff, VersionItem, VersionLabel, VersionPage, WhoAmI,
    ];
    let mut all: BTreeMap<_, _> = found
        .into_iter()
        .filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?)))
        .collect();
    for name in CAMEL_CASED {
        all.get_mut(name).map(camel_case_fields);
    }
    if let Some(codes) = all.get_mut("ErrorCode") {
        codes["enum"] = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    }
    all
}

/// Enums whose variants' fields serde renames all at once, which the derive of schemas does not see; nor does it see a
/// name that a macro wrote, as those of the error codes.
const CAMEL_CASED: [&str; 3] = ["EventBody", "Block", "ContentPart"];

/// Gives the fields of every variant the names that are sent.
fn camel_case_fields(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                *properties = std::mem::take(properties)
                    .into_iter()
                    .map(|(key, value)| (camel_case(&key), value))
                    .collect();
            }
            if let Some(Value::Array(required)) = fields.get_mut("required") {
                for name in required {
                    if let Value::String(name) = name {
                        *name = camel_case(name);
                    }
                }
            }
            fields.values_mut().for_each(camel_case_fields);
        }
        Value::Array(items) => items.iter_mut().for_each(camel_case_fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

fn add<T: ToSchema>(found: &mut Vec<(String, RefOr<Schema>)>) {
    found.push((T::name().into_owned(), T::schema()));
    T::schemas(found);
}
