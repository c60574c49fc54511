//! The schemas of all types, by name.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::{ToSchema, openapi::RefOr, openapi::schema::Schema};
use warren_domain::{AgentProfile, ErrorCode, Event, Replay};

use crate::{
    AgentList, ApprovalAnswer, ApprovalPage, ArtifactHistory, ArtifactList, Doctor, EventPage, FileListing,
    Forced, Health, Interrupted, MessageAccepted, MessagePage, MessageSend, PreviewLink, Problem,
    ProfileList, Ready, ReplayPage, ReplayStart, RunItem, RunPage, RunReword, RuntimeSessionData,
    SandboxItem, SandboxList, SessionCreate, SessionEnd, SessionFork, SessionForked, SessionImport,
    SessionListItem, SessionPage, SessionPatch, SessionRestore, SessionsChanged, SignIn, SignInLink,
    TokenCreate, TokenCreated, TokenItem, TokenList, TreeListing, Uploaded, UsageReport, VersionDetail,
    VersionDiff, VersionItem, VersionLabel, VersionPage, WhoAmI,
};

/// Every type that a route takes or gives, with all types inside them.
pub(super) fn all() -> BTreeMap<String, Value> {
    let mut found = Vec::new();
    add::<AgentProfile>(&mut found);
    add::<Doctor>(&mut found);
    add::<Event>(&mut found);
    add::<EventPage>(&mut found);
    add::<Forced>(&mut found);
    add::<Health>(&mut found);
    add::<Interrupted>(&mut found);
    add::<MessageAccepted>(&mut found);
    add::<MessagePage>(&mut found);
    add::<MessageSend>(&mut found);
    add::<Problem>(&mut found);
    add::<ProfileList>(&mut found);
    add::<Ready>(&mut found);
    add::<RunItem>(&mut found);
    add::<AgentList>(&mut found);
    add::<ApprovalAnswer>(&mut found);
    add::<ApprovalPage>(&mut found);
    add::<Replay>(&mut found);
    add::<ReplayPage>(&mut found);
    add::<ReplayStart>(&mut found);
    add::<RunPage>(&mut found);
    add::<SessionImport>(&mut found);
    add::<RunReword>(&mut found);
    add::<RuntimeSessionData>(&mut found);
    add::<SandboxItem>(&mut found);
    add::<SandboxList>(&mut found);
    add::<SessionCreate>(&mut found);
    add::<SessionEnd>(&mut found);
    add::<SessionListItem>(&mut found);
    add::<SessionPage>(&mut found);
    add::<SessionPatch>(&mut found);
    add::<SessionsChanged>(&mut found);
    add::<SignIn>(&mut found);
    add::<SignInLink>(&mut found);
    add::<TokenCreate>(&mut found);
    add::<TokenCreated>(&mut found);
    add::<TokenItem>(&mut found);
    add::<TokenList>(&mut found);
    add::<UsageReport>(&mut found);
    add::<SessionFork>(&mut found);
    add::<SessionForked>(&mut found);
    add::<SessionRestore>(&mut found);
    add::<TreeListing>(&mut found);
    add::<VersionDetail>(&mut found);
    add::<VersionDiff>(&mut found);
    add::<VersionItem>(&mut found);
    add::<VersionLabel>(&mut found);
    add::<VersionPage>(&mut found);
    add::<WhoAmI>(&mut found);
    add::<ArtifactHistory>(&mut found);
    add::<ArtifactList>(&mut found);
    add::<FileListing>(&mut found);
    add::<PreviewLink>(&mut found);
    add::<Uploaded>(&mut found);
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
