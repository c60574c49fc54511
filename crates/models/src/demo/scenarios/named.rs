//! A tool by its name: those of MCP servers, or any other.

use serde_json::{Value, json};

use crate::demo::{conversation::Conversation, turn::Turn};

pub(in crate::demo) fn is_asked(conversation: &Conversation) -> bool {
    asked(&conversation.prompt).is_some()
}

/// `mcp: NAME {…}` or `use tool NAME {…}` calls the offered tool whose name is or ends with that.
pub(in crate::demo) fn call(conversation: &Conversation) -> Vec<Turn> {
    let Some((name, input)) = asked(&conversation.prompt) else { return Vec::new() };
    let failed = conversation.latest().last().is_some_and(|result| result.is_error);
    let verdict = if failed { "failed" } else { "returned" };
    vec![
        Turn::new().say(format!("Calling `{name}`.")).call(conversation.toolbox.named(name, input)),
        Turn::new().say(format!("`{name}` {verdict}:\n\n{}", conversation.latest_quoted())),
    ]
}

fn asked(prompt: &str) -> Option<(&str, Value)> {
    let prompt = prompt.trim();
    let rest = ["mcp:", "use tool ", "use the tool "].iter().find_map(|prefix| {
        let begin = prompt.get(..prefix.len())?;
        begin.eq_ignore_ascii_case(prefix).then(|| prompt[prefix.len()..].trim_start())
    })?;
    let end = rest.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let name = name.trim_matches(['`', '"', '\'', '.', ',', ':']);
    let input = after.find('{').and_then(|at| serde_json::from_str(&after[at..]).ok());
    (!name.is_empty()).then(|| (name, input.unwrap_or_else(|| json!({}))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::asked;

    #[test]
    fn name_and_input_are_read_from_the_prompt() {
        assert_eq!(asked("mcp: add {\"a\": 1}"), Some(("add", json!({ "a": 1 }))));
        assert_eq!(asked("Use tool `demo_add` with {\"a\": 1}"), Some(("demo_add", json!({ "a": 1 }))));
        assert_eq!(asked("use tool ping"), Some(("ping", json!({}))));
        assert_eq!(asked("é use tool ping"), None);
        assert_eq!(asked("use tools in parallel"), None);
    }
}
