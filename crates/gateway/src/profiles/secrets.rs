//! Values of profiles that are written and never read: what an MCP server is shown (`headers`, `env`, the query of its
//! address, settings with a name like `apiKey`), and the agent's environment. Whoever reads a profile gets [`KEPT`] in their place; whoever sends that back keeps what is stored.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use warren_domain::{AgentProfile, McpServer};

use crate::RequestError;

/// Stands for a value that is stored and not shown.
pub const KEPT: &str = "***kept***";

/// Settings of an MCP server whose values are secret, as the agents' formats call them.
const SECRET: [&str; 5] = ["headers", "http_headers", "httpheaders", "env", "environment"];

/// Parts of the names of other settings whose values are taken for secret.
const SECRET_PARTS: [&str; 8] =
    ["secret", "token", "password", "credential", "authorization", "apikey", "api_key", "api-key"];

/// The profile as it may be read.
pub(super) fn hidden(mut profile: AgentProfile) -> AgentProfile {
    profile.environment_variables.values_mut().for_each(|value| KEPT.clone_into(value));
    for server in profile.bundled_mcps.iter_mut().chain(&mut profile.external_mcps) {
        hide_within(&mut server.settings);
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
        for (key, value) in settings.iter_mut() {
            let known = known.and_then(|known| known.settings.get(key));
            restore(value, known, &format!("{list}.{name}.{key}"))?;
        }
    }
    Ok(())
}

fn restore(value: &mut Value, stored: Option<&Value>, at: &str) -> Result<(), RequestError> {
    match value {
        Value::String(text) => {
            if let Some(shown) = text.strip_suffix(KEPT) {
                let is_it = |stored: &&Value| match stored {
                    _ if shown.is_empty() => true,
                    Value::String(stored) => hidden_query(stored).is_some_and(|hidden| hidden == *text),
                    _ => false,
                };
                *value = stored.filter(is_it).cloned().ok_or_else(|| not_stored(at))?;
            }
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

/// Hides what is secret among settings, however deep it is.
fn hide_within(settings: &mut Map<String, Value>) {
    for (key, value) in settings {
        match value {
            _ if is_secret(key) => hide(value),
            Value::Object(fields) => hide_within(fields),
            Value::String(text) => {
                if let Some(hidden) = hidden_query(text) {
                    *text = hidden;
                }
            }
            _ => {}
        }
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET.contains(&key.as_str()) || SECRET_PARTS.iter().any(|part| key.contains(part))
}

/// An address without what is asked of it: many servers take their key there.
fn hidden_query(address: &str) -> Option<String> {
    let is_address = address.contains("://") && !address.contains(char::is_whitespace);
    let (place, _) = address.split_once('?').filter(|_| is_address)?;
    Some(format!("{place}?{KEPT}"))
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
    fn keys_in_addresses_and_in_nested_settings_are_kept_too() {
        let text = json!({"id": "p", "externalMCPs": [{
            "name": "far", "url": "https://far.example/mcp?key=s3cret", "auth": {"clientSecret": "s3cret", "id": "me"},
            "bearerToken": "s3cret", "description": "is it there?",
        }]});
        let stored: AgentProfile = serde_json::from_value(text).expect("a profile");
        let read = hidden(stored.clone());
        let shown = serde_json::to_value(&read).expect("JSON");
        assert!(!shown.to_string().contains("s3cret"), "{shown}");
        let server = &shown["externalMCPs"][0];
        assert_eq!(server["url"], format!("https://far.example/mcp?{KEPT}"));
        assert_eq!(server["auth"], json!({"clientSecret": KEPT, "id": "me"}));
        assert_eq!(server["description"], "is it there?");
        assert_eq!(restored(read.clone(), Some(&stored)).expect("kept"), stored);
        let mut elsewhere = read;
        elsewhere.external_mcps[0].settings["url"] = json!(format!("https://evil.example/mcp?{KEPT}"));
        assert!(restored(elsewhere, Some(&stored)).is_err(), "the query is kept for its own address only");
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
