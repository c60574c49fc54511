mod driving;
mod profile;

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Value, json};
use warren_domain::{AgentProfile, PermissionMode, ProfileId, SessionId, Timestamp};

use crate::{LaunchRequest, ModelApi, ModelEndpoint, Output};

static PROGRAMS: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(|| [("opencode".to_owned(), vec!["/agents/opencode/bin/opencode".to_owned()])].into());

static ENDPOINTS: LazyLock<[ModelEndpoint; 2]> = LazyLock::new(|| {
    let endpoint = |api, port| ModelEndpoint {
        api,
        base_url: format!("http://127.0.0.1:{port}"),
        placeholder_key: "placeholder".to_owned(),
    };
    [endpoint(ModelApi::Anthropic, 4100), endpoint(ModelApi::OpenAiChat, 4101)]
});

fn now() -> Timestamp {
    Timestamp::from_millis(0)
}

fn profile(value: Value) -> AgentProfile {
    let mut profile: AgentProfile = serde_json::from_value(value).expect("a profile");
    profile.id = ProfileId::from("p");
    profile
}

fn request(profile: &AgentProfile) -> LaunchRequest<'_> {
    LaunchRequest {
        session: SessionId(uuid::Uuid::nil()),
        workspace: "/workspace",
        home: "/home/agent",
        resume: false,
        state: None,
        permission_mode: PermissionMode::Auto,
        programs: &PROGRAMS,
        model: None,
        effort: None,
        context_window: |_| None,
        profile,
        endpoints: &*ENDPOINTS,
    }
}

/// What was sent, without numbers and times.
fn sent(outputs: &[Output]) -> Vec<Value> {
    let mut lines = Vec::new();
    for output in outputs {
        if let Output::Send(bytes) = output {
            let mut line: Value = serde_json::from_slice(bytes).expect("JSON");
            let fields = line.as_object_mut().expect("an object");
            fields.remove("id");
            fields.remove("timeoutMs");
            lines.push(line);
        }
    }
    lines
}

fn event(kind: &str, properties: Value) -> String {
    json!({"type": kind, "properties": properties}).to_string()
}
