//! Which of an agent's modes and models is meant. Agents name them as they like; some words are common.

use serde_json::{Value, json};
use warren_domain::PermissionMode;

use crate::fields::{list, present, text};

/// Modes in which an agent asks nothing, by a part of id or name.
const FREE: [&str; 5] = ["yolo", "fullaccess", "bypasspermissions", "allowall", "autoapprove"];
/// Modes in which it asks before it acts, by id or name.
const ASKING: [&str; 4] = ["default", "ask", "alwaysask", "manual"];
/// A mode in which it asks before it changes anything; taken if there is none of the others.
const READING: &str = "readonly";

/// What to do about the mode before the first prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mode {
    /// Nothing: it is in the right one.
    Right,
    /// Change to another: method and parameters.
    Set(&'static str, Value),
    /// It has modes of more and of less freedom, and none of them is known to ask. Their names.
    Missing(Vec<String>),
    /// Nothing that it offers says whether it asks. The names of its modes.
    Unknown(Vec<String>),
}

/// The mode to change to.
pub(super) fn mode(session: &str, offered: &Value, mode: PermissionMode) -> Mode {
    let choices = Choices::of(offered);
    match (choices.find(mode), mode) {
        (Some(id), _) if choices.current == Some(id) => Mode::Right,
        (Some(id), _) => {
            let (method, params) = choices.set(session, id);
            Mode::Set(method, params)
        }
        // What it asks is allowed.
        (None, PermissionMode::Auto) => Mode::Right,
        (None, PermissionMode::Ask) if choices.has_free() => Mode::Missing(choices.names()),
        (None, PermissionMode::Ask) => Mode::Unknown(choices.names()),
    }
}

/// The model to change to, if it is another and is offered: method and parameters.
pub(super) fn model(session: &str, offered: &Value, model: Option<&str>) -> Option<(&'static str, Value)> {
    set_model(session, offered, model?)
}

/// The modes that an agent offers. There are two ways to offer them.
struct Choices<'a> {
    /// Id and name of each.
    all: Vec<(&'a str, &'a str)>,
    current: Option<&'a str>,
    /// The option that has them, if they are one's.
    option: Option<&'a str>,
}

impl<'a> Choices<'a> {
    fn of(offered: &'a Value) -> Self {
        let choice = |key: &'static str| {
            move |it: &'a Value| Some((text(it, key)?, text(it, "name").unwrap_or_default()))
        };
        if let Some(modes) = present(offered, "modes") {
            let all = list(modes, "availableModes").iter().filter_map(choice("id")).collect();
            return Self { all, current: text(modes, "currentModeId"), option: None };
        }
        let mut options = list(offered, "configOptions").iter();
        let Some(option) = options.find(|option| text(option, "category") == Some("mode")) else {
            return Self { all: Vec::new(), current: None, option: None };
        };
        let all = list(option, "options").iter().filter_map(choice("value")).collect();
        Self { all, current: text(option, "currentValue"), option: text(option, "id") }
    }

    fn find(&self, mode: PermissionMode) -> Option<&'a str> {
        let called = |is_meant: &dyn Fn(&str) -> bool| {
            let found = self.all.iter().find(|(id, name)| is_meant(&plain(id)) || is_meant(&plain(name)));
            found.map(|(id, _)| *id)
        };
        match mode {
            PermissionMode::Auto => called(&is_free),
            PermissionMode::Ask => {
                called(&|word| ASKING.contains(&word)).or_else(|| called(&|word| word == READING))
            }
        }
    }

    fn has_free(&self) -> bool {
        self.find(PermissionMode::Auto).is_some()
    }

    fn names(&self) -> Vec<String> {
        self.all.iter().map(|(id, _)| (*id).to_owned()).collect()
    }

    fn set(&self, session: &str, id: &str) -> (&'static str, Value) {
        match self.option {
            Some(option) => {
                let params = json!({"sessionId": session, "configId": option, "value": id});
                ("session/set_config_option", params)
            }
            None => ("session/set_mode", json!({"sessionId": session, "modeId": id})),
        }
    }
}

fn is_free(word: &str) -> bool {
    FREE.iter().any(|free| word.contains(free))
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
    use serde_json::{Value, json};
    use warren_domain::PermissionMode::{Ask, Auto};

    use super::{Mode, mode, set_model};

    fn modes(ids: &[(&str, &str)], current: &str) -> Value {
        let available: Vec<_> = ids.iter().map(|(id, name)| json!({"id": id, "name": name})).collect();
        json!({"modes": {"currentModeId": current, "availableModes": available}})
    }

    fn set(id: &str) -> Mode {
        Mode::Set("session/set_mode", json!({"sessionId": "s", "modeId": id}))
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_mode_is_found_by_what_it_is_called() {
        let gemini = modes(&[("default", "Default"), ("yolo", "YOLO"), ("plan", "Plan")], "default");
        assert_eq!([mode("s", &gemini, Auto), mode("s", &gemini, Ask)], [set("yolo"), Mode::Right]);
        let codex = modes(&[("auto", "Default"), ("full-access", "Full Access")], "full-access");
        assert_eq!([mode("s", &codex, Auto), mode("s", &codex, Ask)], [Mode::Right, set("auto")]);
        let ids = ["read-only", "workspace-write", "agent", "agent-full-access"];
        let newer = modes(&ids.map(|id| (id, "")), "agent");
        assert_eq!(
            [mode("s", &newer, Auto), mode("s", &newer, Ask)],
            [set("agent-full-access"), set("read-only")]
        );
    }

    #[test]
    fn mode_that_is_an_option_is_set_as_one() {
        let choices = json!([{"value": "ask", "name": "Ask"}, {"value": "yolo", "name": "Yolo"}]);
        let option = json!({"id": "m", "category": "mode", "currentValue": "yolo", "options": choices});
        let set = json!({"sessionId": "s", "configId": "m", "value": "ask"});
        let offered = json!({"configOptions": [option]});
        assert_eq!(mode("s", &offered, Ask), Mode::Set("session/set_config_option", set));
        assert_eq!(mode("s", &offered, Auto), Mode::Right);
    }

    #[test]
    fn modes_that_do_not_ask_are_named() {
        let free = modes(&[("work", "Work"), ("yolo", "YOLO")], "work");
        assert_eq!(mode("s", &free, Ask), Mode::Missing(names(&["work", "yolo"])));
        let other = modes(&[("build", "build"), ("plan", "plan")], "build");
        assert_eq!(
            [mode("s", &other, Auto), mode("s", &other, Ask)],
            [Mode::Right, Mode::Unknown(names(&["build", "plan"]))]
        );
        assert_eq!(
            [mode("s", &json!({}), Auto), mode("s", &json!({}), Ask)],
            [Mode::Right, Mode::Unknown(Vec::new())]
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
