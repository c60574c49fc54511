//! The schemas of all types, by name.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::{ToSchema, openapi::RefOr, openapi::schema::Schema};
use warren_domain::{AgentProfile, Event};

use crate::{
    AgentList, ApprovalAnswer, ApprovalPage, Doctor, EventPage, Forced, Health, Interrupted, MessageAccepted,
    MessagePage, MessageSend, Problem, ProfileList, Ready, RunItem, RunPage, RunReword, RuntimeSessionData,
    SandboxItem, SandboxList, SessionCreate, SessionEnd, SessionImport, SessionListItem, SessionPage,
    SessionPatch, SessionsChanged, SignInLink, TokenCreate, TokenCreated, TokenItem, TokenList, UsageReport,
    WhoAmI,
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
    add::<SignInLink>(&mut found);
    add::<TokenCreate>(&mut found);
    add::<TokenCreated>(&mut found);
    add::<TokenItem>(&mut found);
    add::<TokenList>(&mut found);
    add::<UsageReport>(&mut found);
    add::<WhoAmI>(&mut found);
    found.into_iter().filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?))).collect()
}

fn add<T: ToSchema>(found: &mut Vec<(String, RefOr<Schema>)>) {
    found.push((T::name().into_owned(), T::schema()));
    T::schemas(found);
}
