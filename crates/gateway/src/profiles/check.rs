//! What a profile must be for sessions to start with it. Refused when it is saved, with the field named: later, whoever sends
//! a message would be told. Rules for `egressAllow` are checked by whoever knows them.

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use serde_json::{Map, Value};
use warren_domain::{AgentProfile, McpServer, WorkspaceTemplateFile};

use crate::RequestError;

/// The limit of a file system for one name of a path, and of the kernel for all of it.
const MAX_COMPONENT: usize = 255;
const MAX_PATH: usize = 4095;

/// The limit for names that become a file's name, with an ending.
const MAX_NAME: usize = 200;

type Checked = Result<(), RequestError>;

/// Checks every field that could keep a session from starting.
pub(super) fn check(profile: &AgentProfile) -> Checked {
    check_id(profile.id.as_str())?;
    check_not_blank("model", profile.model.as_deref())?;
    check_words("tools", profile.tools.as_deref().unwrap_or_default())?;
    for (name, value) in &profile.environment_variables {
        check_variable(&format!("environmentVariables.{name}"), name, value)?;
    }
    if let Some(command) = &profile.command {
        check_command("command", command)?;
    }
    check_agents(profile)?;
    check_files("defaultWorkspaceFiles", &profile.default_workspace_files)?;
    check_servers(profile)
}

fn invalid(field: &str, problem: impl std::fmt::Display, hint: &'static str) -> RequestError {
    RequestError::Invalid { message: format!("`{}` {problem}", field.escape_debug()), hint }
}

fn check_id(id: &str) -> Checked {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if id.is_empty() || id.len() > 64 || !id.bytes().all(is_word) || id.starts_with('.') {
        return Err(RequestError::Invalid {
            message: format!("`{}` cannot be the `id` of a profile", id.escape_debug()),
            hint: "use 1 to 64 letters, digits, `.`, `_` and `-`, not beginning with `.`",
        });
    }
    Ok(())
}

/// Skills, subagents and commands.
fn check_agents(profile: &AgentProfile) -> Checked {
    check_names("skills", profile.skills.iter().map(|skill| skill.name.as_str()))?;
    check_names("subagents", profile.subagents.iter().map(|subagent| subagent.name.as_str()))?;
    check_names("commands", profile.commands.iter().map(|command| command.name.as_str()))?;
    for (place, skill) in profile.skills.iter().enumerate() {
        check_files(&format!("skills[{place}].supportingFiles"), &skill.supporting_files)?;
        check_words(&format!("skills[{place}].npmDependencies"), &skill.npm_dependencies)?;
        check_words(&format!("skills[{place}].pipDependencies"), &skill.pip_dependencies)?;
    }
    for (place, subagent) in profile.subagents.iter().enumerate() {
        check_not_blank(&format!("subagents[{place}].model"), subagent.model.as_deref())?;
        let tools = subagent.tools.as_deref().unwrap_or_default();
        check_words(&format!("subagents[{place}].tools"), tools)?;
    }
    Ok(())
}

/// They become names of files and keys of settings.
fn check_names<'a>(list: &str, names: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen = BTreeSet::new();
    for (place, name) in names.enumerate() {
        check_name(&format!("{list}[{place}].name"), name)?;
        if !seen.insert(name) {
            let problem = format!("is `{name}`, and so is another one of `{list}`");
            return Err(invalid(&format!("{list}[{place}].name"), problem, "use unique names"));
        }
    }
    Ok(())
}

fn check_name(field: &str, name: &str) -> Checked {
    if name.trim().is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        let problem = format!("cannot be `{}`", name.escape_debug());
        return Err(invalid(field, problem, "use 1 to 200 bytes without control characters"));
    }
    Ok(())
}

fn check_not_blank(field: &str, text: Option<&str>) -> Checked {
    match text {
        Some(text) if text.trim().is_empty() => Err(invalid(field, "is empty", "leave it out instead")),
        _ => Ok(()),
    }
}

fn check_words(list: &str, words: &[String]) -> Checked {
    for (place, word) in words.iter().enumerate() {
        check_not_blank(&format!("{list}[{place}]"), Some(word))?;
    }
    Ok(())
}

fn check_command(field: &str, words: &[String]) -> Checked {
    let hint = "write the program and its arguments, each a text: [\"agent\", \"--acp\"]";
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(invalid(field, "names no program", hint));
    }
    match words.iter().position(|word| word.contains('\0')) {
        Some(place) => Err(invalid(&format!("{field}[{place}]"), "has NUL in it", hint)),
        None => Ok(()),
    }
}

fn check_variable(field: &str, name: &str, value: &str) -> Checked {
    let is_odd = |letter: char| letter == '=' || letter.is_whitespace() || letter.is_control();
    if name.is_empty() || name.chars().any(is_odd) {
        let problem = format!("cannot be set: `{}` is not the name of a variable", name.escape_debug());
        return Err(invalid(field, problem, "use letters, digits and `_`"));
    }
    if value.contains('\0') {
        return Err(invalid(field, "contains NUL", "remove the NUL: no environment can hold it"));
    }
    Ok(())
}

fn check_files(list: &str, files: &[WorkspaceTemplateFile]) -> Checked {
    let mut paths = BTreeSet::new();
    for (place, file) in files.iter().enumerate() {
        let field = format!("{list}[{place}].path");
        let path = inside(&file.path).ok_or_else(|| {
            let problem =
                format!("is `{}`, which is not a path inside the workspace", file.path.escape_debug());
            invalid(&field, problem, "use a relative path without `.` and `..`")
        })?;
        if !paths.insert(path) {
            let problem = format!("is `{}`, and so is another one of `{list}`", path.display());
            return Err(invalid(&field, problem, "use unique paths"));
        }
    }
    for (place, file) in files.iter().enumerate() {
        // The first ancestor is the path itself.
        let beneath = Path::new(&file.path).ancestors().skip(1).find(|parent| paths.contains(parent));
        if let Some(parent) = beneath {
            let problem = format!("is beneath `{}`, which is a file", parent.display());
            return Err(invalid(&format!("{list}[{place}].path"), problem, "give one of them another path"));
        }
    }
    Ok(())
}

/// Such paths are joined to a directory later; whoever does it checks again, but here someone can still be told.
fn inside(text: &str) -> Option<&Path> {
    let path = Path::new(text);
    let is_name =
        |part: Component<'_>| matches!(part, Component::Normal(name) if name.len() <= MAX_COMPONENT);
    let is_inside = !text.is_empty() && text.len() <= MAX_PATH && !text.contains('\0');
    (is_inside && path.components().all(is_name)).then_some(path)
}

/// Agents keep both lists in one table, by name.
fn check_servers(profile: &AgentProfile) -> Checked {
    let mut seen = BTreeSet::new();
    let lists = [("bundledMCPs", &profile.bundled_mcps), ("externalMCPs", &profile.external_mcps)];
    for (list, servers) in lists {
        for (place, server) in servers.iter().enumerate() {
            let at = format!("{list}[{place}]");
            check_name(&format!("{at}.name"), &server.name)?;
            if !seen.insert(server.name.as_str()) {
                let problem = format!("is `{}`, and so is another MCP server's", server.name);
                return Err(invalid(&format!("{at}.name"), problem, "use unique names"));
            }
            check_server(&at, server)?;
        }
    }
    Ok(())
}

fn check_server(at: &str, server: &McpServer) -> Checked {
    let settings = &server.settings;
    let hint = "give it a `command` with `args`, or a `url`, and not both";
    match (settings.get("command"), settings.get("url")) {
        (None, None) => return Err(invalid(at, "has neither a `command` nor a `url`", hint)),
        (Some(_), Some(_)) => return Err(invalid(at, "has both a `command` and a `url`", hint)),
        (Some(Value::String(program)), None) => {
            check_command(&format!("{at}.command"), std::slice::from_ref(program))?;
        }
        (Some(Value::Array(words)), None) => {
            check_command(&format!("{at}.command"), &texts(&format!("{at}.command"), words)?)?;
        }
        (Some(_), None) => return Err(invalid(&format!("{at}.command"), "is not a text", hint)),
        (None, Some(Value::String(url))) => check_url(&format!("{at}.url"), url)?,
        (None, Some(_)) => return Err(invalid(&format!("{at}.url"), "is not a text", hint)),
    }
    if let Some(arguments) = settings.get("args") {
        let field = format!("{at}.args");
        let words = arguments.as_array().ok_or_else(|| invalid(&field, "is not a list", "write [\"…\"]"))?;
        texts(&field, words)?;
    }
    for key in ["type", "cwd"] {
        if settings.get(key).is_some_and(|value| !value.is_string()) {
            return Err(invalid(&format!("{at}.{key}"), "is not a string", "write it in quotes"));
        }
    }
    for (name, value, field) in pairs(at, settings, &["env", "environment"])? {
        check_variable(&field, name, value)?;
    }
    for (name, value, field) in pairs(at, settings, &["headers", "http_headers"])? {
        check_header(&field, name, value)?;
    }
    Ok(())
}

fn texts(field: &str, words: &[Value]) -> Result<Vec<String>, RequestError> {
    let word = |(place, word): (usize, &Value)| match word.as_str() {
        Some(word) if !word.contains('\0') => Ok(word.to_owned()),
        Some(_) => Err(invalid(&format!("{field}[{place}]"), "has NUL in it", "leave the NUL out")),
        None => Err(invalid(&format!("{field}[{place}]"), "is not a string", "write it in quotes")),
    };
    words.iter().enumerate().map(word).collect()
}

/// What is named in some of the settings: `(name, value, field)`. A value that is not a text has nothing to check.
fn pairs<'a>(
    at: &str,
    settings: &'a Map<String, Value>,
    keys: &[&str],
) -> Result<Vec<(&'a str, &'a str, String)>, RequestError> {
    let mut all = Vec::new();
    for (key, value) in keys.iter().filter_map(|key| settings.get_key_value(*key)) {
        let hint = "write names and texts: {\"NAME\": \"value\"}";
        let fields =
            value.as_object().ok_or_else(|| invalid(&format!("{at}.{key}"), "is not an object", hint))?;
        for (name, value) in fields {
            let field = format!("{at}.{key}.{name}");
            if value.is_object() || value.is_array() {
                return Err(invalid(&field, "is not a text", hint));
            }
            all.push((name.as_str(), value.as_str().unwrap_or_default(), field));
        }
    }
    Ok(all)
}

fn check_header(field: &str, name: &str, value: &str) -> Checked {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        let problem = format!("cannot be sent: `{}` is not the name of a header", name.escape_debug());
        return Err(invalid(field, problem, "use letters, digits and `-`"));
    }
    if value.chars().any(|letter| letter.is_control() && letter != '\t') {
        // The value itself may be a secret.
        return Err(invalid(field, "contains a control character", "write the value on one line"));
    }
    Ok(())
}

fn check_url(field: &str, url: &str) -> Checked {
    let refused = || {
        let problem = format!("is `{}`, which is not an http or https address", url.escape_debug());
        invalid(field, problem, "write `https://host/path`")
    };
    if url.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return Err(refused());
    }
    // Some agents put variables in; what the address is then, they know.
    if url.contains("${") {
        return Ok(());
    }
    let (scheme, rest) = url.split_once("://").ok_or_else(refused)?;
    if !(scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) {
        return Err(refused());
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        let problem = "has a user name or a password in it, which everybody who sees the profile could read";
        return Err(invalid(field, problem, "send it as a header: `headers` are never shown"));
    }
    if authority.is_empty() || authority.starts_with(':') {
        return Err(refused());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
