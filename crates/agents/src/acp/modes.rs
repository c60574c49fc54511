//! Which of an agent's modes and models is meant. Agents name them as they like; some words are common.

use serde_json::{Value, json};
use warren_domain::PermissionMode;

use crate::fields::{list, present, text};

/// Modes in which an agent asks nothing, and in which it asks before it acts, by id or name.
const FREE: [&str; 5] = ["yolo", "fullaccess", "bypasspermissions", "allowall", "autoapprove"];
const ASKING: [&str; 4] = ["default", "ask", "alwaysask", "manual"];

/// What to set before the first prompt: method and parameters.
pub(super) fn settings(
    session: &str,
    offered: &Value,
    mode: PermissionMode,
    model: Option<&str>,
) -> Vec<(&'static str, Value)> {
    let mode = mode_of(offered, mode);
    let mode = mode.map(|id| ("session/set_mode", json!({"sessionId": session, "modeId": id})));
    let model = model.and_then(|model| set_model(session, offered, model));
    mode.into_iter().chain(model).collect()
}

/// The mode to change to, if there is one and it is not the present one.
fn mode_of(offered: &Value, mode: PermissionMode) -> Option<String> {
    let modes = present(offered, "modes")?;
    let words: &[&str] = match mode {
        PermissionMode::Auto => &FREE,
        PermissionMode::Ask => &ASKING,
    };
    let is_meant = |mode: &&Value| {
        let named = |key| text(mode, key).map(plain).unwrap_or_default();
        words.contains(&named("id").as_str()) || words.contains(&named("name").as_str())
    };
    let meant = list(modes, "availableModes").iter().find(is_meant)?;
    let id = text(meant, "id")?;
    (text(modes, "currentModeId") != Some(id)).then(|| id.to_owned())
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Chooses a model, if the agent offers it and does not use it already. There are two ways.
fn set_model(session: &str, offered: &Value, model: &str) -> Option<(&'static str, Value)> {
    let by_config =
        list(offered, "configOptions").iter().find(|option| text(option, "category") == Some("model"));
    if let Some(option) = by_config {
        let is_offered = list(option, "options").iter().any(|choice| text(choice, "value") == Some(model));
        let params = json!({"sessionId": session, "configId": text(option, "id")?, "value": model});
        let is_new = is_offered && text(option, "currentValue") != Some(model);
        return is_new.then_some(("session/set_config_option", params));
    }
    let models = present(offered, "models")?;
    let is_offered = list(models, "availableModels").iter().any(|it| text(it, "modelId") == Some(model));
    let is_new = is_offered && text(models, "currentModelId") != Some(model);
    is_new.then(|| ("session/set_model", json!({"sessionId": session, "modelId": model})))
}

/// A way to sign in that needs nobody: by a key that is in the environment.
pub(super) fn sign_in(initialized: &Value) -> Option<String> {
    let methods = list(initialized, "authMethods");
    let by_key = |method: &&Value| {
        let id = text(method, "id").unwrap_or_default();
        text(method, "type") == Some("env_var") || id.contains("api-key") || id.contains("api_key")
    };
    text(methods.iter().find(by_key)?, "id").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warren_domain::PermissionMode::{Ask, Auto};

    use super::{mode_of, set_model};

    #[test]
    fn a_mode_is_found_by_what_it_is_called() {
        let modes = |ids: &[(&str, &str)], current: &str| {
            let available: Vec<_> = ids.iter().map(|(id, name)| json!({"id": id, "name": name})).collect();
            json!({"modes": {"currentModeId": current, "availableModes": available}})
        };
        let gemini = modes(&[("default", "Default"), ("yolo", "YOLO"), ("plan", "Plan")], "default");
        assert_eq!([mode_of(&gemini, Auto), mode_of(&gemini, Ask)], [Some("yolo".to_owned()), None]);
        let codex = modes(&[("auto", "Default"), ("full-access", "Full Access")], "full-access");
        assert_eq!([mode_of(&codex, Auto), mode_of(&codex, Ask)], [None, Some("auto".to_owned())]);
        assert_eq!(
            [mode_of(&modes(&[("build", "build")], "build"), Auto), mode_of(&json!({}), Ask)],
            [None, None]
        );
    }

    #[test]
    fn a_model_is_set_only_if_it_is_offered_and_new() {
        let models = json!({"models": {"currentModelId": "a", "availableModels": [{"modelId": "a"}, {"modelId": "b"}]}});
        let set = json!({"sessionId": "s", "modelId": "b"});
        assert_eq!(set_model("s", &models, "b"), Some(("session/set_model", set)));
        assert_eq!([set_model("s", &models, "a"), set_model("s", &models, "c")], [None, None]);
        let option =
            json!({"id": "model", "category": "model", "currentValue": "a", "options": [{"value": "b"}]});
        let set = json!({"sessionId": "s", "configId": "model", "value": "b"});
        let offered = json!({"configOptions": [option]});
        assert_eq!(set_model("s", &offered, "b"), Some(("session/set_config_option", set)));
    }
}
