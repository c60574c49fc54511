//! Values of profiles that are written and never read: what an MCP server is shown (`headers`, `env`), and the agent's
//! environment. Whoever reads a profile gets [`KEPT`] in their place; whoever sends that back keeps what is stored.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use warren_domain::{AgentProfile, McpServer};

use crate::RequestError;

/// Stands for a value that is stored and not shown.
pub const KEPT: &str = "***kept***";

/// Settings of an MCP server whose values are secret, as the agents' formats call them.
const SECRET: [&str; 5] = ["headers", "http_headers", "httpheaders", "env", "environment"];

/// The profile as it may be read.
pub(super) fn hidden(mut profile: AgentProfile) -> AgentProfile {
    profile.environment_variables.values_mut().for_each(|value| KEPT.clone_into(value));
    for server in profile.bundled_mcps.iter_mut().chain(&mut profile.external_mcps) {
        secrets_of(&mut server.settings).for_each(hide);
    }
    profile
}

/// The profile as it is to be stored: what was sent as [`KEPT`] is what `stored` has in its place.
pub(super) fn restored(
    mut profile: AgentProfile,
    stored: Option<&AgentProfile>,
) -> Result<AgentProfile, RequestError> {
    let nothing = BTreeMap::new();
    let known = stored.map_or(&nothing, |stored| &stored.environment_variables);
    for (name, value) in profile.environment_variables.iter_mut().filter(|(_, value)| *value == KEPT) {
        let kept = known.get(name).ok_or_else(|| not_stored(&format!("environmentVariables.{name}")))?;
        value.clone_from(kept);
    }
    restore_all(
        &mut profile.bundled_mcps,
        stored.map(|stored| stored.bundled_mcps.as_slice()),
        "bundledMCPs",
    )?;
    restore_all(
        &mut profile.external_mcps,
        stored.map(|stored| stored.external_mcps.as_slice()),
        "externalMCPs",
    )?;
    Ok(profile)
}

fn restore_all(
    servers: &mut [McpServer],
    stored: Option<&[McpServer]>,
    list: &str,
) -> Result<(), RequestError> {
    for server in servers {
        let known = stored.unwrap_or_default().iter().find(|known| known.name == server.name);
        let McpServer { name, settings } = server;
        for (key, value) in settings.iter_mut().filter(|(key, _)| is_secret(key)) {
            let known = known.and_then(|known| known.settings.get(key));
            restore(value, known, &format!("{list}.{name}.{key}"))?;
        }
    }
    Ok(())
}

fn restore(value: &mut Value, stored: Option<&Value>, at: &str) -> Result<(), RequestError> {
    match value {
        Value::String(text) if text == KEPT => {
            *value = stored.cloned().ok_or_else(|| not_stored(at))?;
            Ok(())
        }
        Value::Object(fields) => fields.iter_mut().try_for_each(|(name, value)| {
            restore(value, stored.and_then(|stored| stored.get(name)), &format!("{at}.{name}"))
        }),
        Value::Array(items) => items.iter_mut().enumerate().try_for_each(|(place, value)| {
            restore(value, stored.and_then(|stored| stored.get(place)), &format!("{at}[{place}]"))
        }),
        _ => Ok(()),
    }
}

fn secrets_of(settings: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    settings.iter_mut().filter(|(key, _)| is_secret(key)).map(|(_, value)| value)
}

fn is_secret(key: &str) -> bool {
    SECRET.iter().any(|secret| key.eq_ignore_ascii_case(secret))
}

/// Names stay: without them nobody could say which value to replace.
fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(hide),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => *value = Value::String(KEPT.to_owned()),
    }
}

fn not_stored(at: &str) -> RequestError {
    RequestError::Invalid {
        message: format!("`{}` is `{KEPT}`, but no value is stored for it", at.escape_debug()),
        hint: "send the value itself; `***kept***` keeps one that was stored under the same name",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use warren_domain::AgentProfile;

    use super::{KEPT, hidden, restored};

    fn profile(bearer: &str, variable: &str) -> AgentProfile {
        let text = json!({
            "id": "p",
            "environmentVariables": {"TOKEN": variable},
            "bundledMCPs": [{"name": "local", "command": "x", "env": {"KEY": bearer, "N": 5, "NONE": null}}],
            "externalMCPs": [{"name": "far", "url": "https://far.example", "Headers": {"Authorization": bearer}}],
        });
        serde_json::from_value(text).expect("a profile")
    }

    #[test]
    fn what_is_secret_is_not_read_and_the_rest_is() {
        let read = serde_json::to_value(hidden(profile("Bearer s3cret", "s3cret"))).expect("JSON");
        assert!(!read.to_string().contains("s3cret"), "{read}");
        assert_eq!(read["externalMCPs"][0]["url"], "https://far.example");
        assert_eq!(read["externalMCPs"][0]["Headers"], json!({"Authorization": KEPT}));
        assert_eq!(read["bundledMCPs"][0]["env"], json!({"KEY": KEPT, "N": KEPT, "NONE": null}));
        assert_eq!(read["environmentVariables"], json!({"TOKEN": KEPT}));
    }

    #[test]
    fn what_was_read_and_is_sent_back_keeps_what_is_stored() {
        let stored = profile("Bearer s3cret", "s3cret");
        let back = restored(hidden(stored.clone()), Some(&stored)).expect("kept");
        assert_eq!(back, stored);
        let mut changed = hidden(stored.clone());
        changed.external_mcps[0].settings["Headers"]["Authorization"] = Value::from("Bearer new");
        let back = restored(changed, Some(&stored)).expect("kept");
        assert_eq!(back.external_mcps[0].settings["Headers"]["Authorization"], "Bearer new");
        assert_eq!(back.bundled_mcps, stored.bundled_mcps);
    }

    #[test]
    fn a_marker_for_what_is_not_stored_is_refused() {
        let stored = profile("Bearer s3cret", "s3cret");
        assert!(restored(hidden(stored.clone()), None).is_err(), "there is no such profile yet");
        let mut renamed = hidden(stored.clone());
        renamed.external_mcps[0].name = "elsewhere".to_owned();
        let refused = restored(renamed, Some(&stored)).expect_err("refused").to_string();
        assert_eq!(
            refused,
            "`externalMCPs.elsewhere.Headers.Authorization` is `***kept***`, but no value is stored for it"
        );
    }
}
