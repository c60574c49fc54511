//! Tool calls as the model made them: what a rollout keeps of tools that Codex tells nothing about, and of all tools
//! in files of older versions.

use serde_json::{Value, json};
use warren_domain::BlockStatus;

use super::{
    item::{Change, End, REJECTED, Tool, status_of},
    printed::plan,
    reported::web_search,
    shell,
};
use crate::{
    command::with_exit_code,
    fields::{list, text, texts},
};

/// What stands before the output proper in the answer to a command.
const HEADERS: [&str; 4] = ["Chunk ID: ", "Exit code: ", "Wall time: ", "Process exited with code "];

/// A call and its id. `None`: it is not a call. `cwd` is where relative paths begin.
pub(super) fn call(item: &Value, cwd: &str) -> Option<(String, Tool)> {
    let id = text(item, "call_id").or_else(|| text(item, "id"))?.to_owned();
    let tool = match text(item, "type")? {
        "function_call" => {
            let arguments = text(item, "arguments").unwrap_or_default();
            let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
            function(text(item, "namespace"), text(item, "name").unwrap_or_default(), arguments, cwd)
        }
        "custom_tool_call" => custom(item, cwd),
        "local_shell_call" => {
            let action = item.get("action").unwrap_or(&Value::Null);
            Tool::shell(&shell::of_words(&texts(action, "command")), None)
        }
        "web_search_call" => web_search(item, text(item, "status")),
        kind if kind.ends_with("_call") => {
            let arguments = item.get("arguments").or_else(|| item.get("action")).cloned();
            let end =
                if kind == "tool_search_call" { None } else { text(item, "status").and_then(status_of) };
            Tool::new(kind.trim_end_matches("_call"), arguments.unwrap_or_default(), end.map(End::silent))
        }
        _ => return None,
    };
    Some((id, tool))
}

fn function(namespace: Option<&str>, name: &str, arguments: Value, cwd: &str) -> Tool {
    if let Some(namespace) = namespace {
        let separator = if namespace.starts_with("mcp__") { "__" } else { "." };
        return Tool::new(format!("{namespace}{separator}{name}"), arguments, None);
    }
    match name {
        "exec_command" => Tool::shell(text(&arguments, "cmd").unwrap_or_default(), None),
        "shell" | "container.exec" | "local_shell" => words(&texts(&arguments, "command"), cwd),
        "shell_command" => Tool::shell(text(&arguments, "command").unwrap_or_default(), None),
        "apply_patch" => match text(&arguments, "input") {
            Some(text) => Tool::patch(changes(text, cwd), "pending"),
            None => Tool::new(name, arguments, None),
        },
        "list_mcp_resources" | "list_mcp_resource_templates" | "read_mcp_resource" => {
            let server = text(&arguments, "server").unwrap_or("codex").to_owned();
            Tool::mcp(&server, name, arguments, None)
        }
        "view_image" => image(text(&arguments, "path").unwrap_or_default(), cwd),
        "update_plan" => Tool { end: None, ..plan(list(&arguments, "plan").to_vec()) },
        _ => Tool::new(name, arguments, None),
    }
}

/// A look at a picture, as Codex tells of it.
fn image(path: &str, cwd: &str) -> Tool {
    Tool::new("image_view", json!({"path": absolute(path, cwd)}), None)
}

/// Words for the shell; some models call the patcher that way.
fn words(words: &[String], cwd: &str) -> Tool {
    match words {
        [program, patch] if program == "apply_patch" => Tool::patch(changes(patch, cwd), "pending"),
        _ => Tool::shell(&shell::of_words(words), None),
    }
}

fn custom(item: &Value, cwd: &str) -> Tool {
    let (name, input) = (text(item, "name").unwrap_or_default(), text(item, "input").unwrap_or_default());
    match name {
        "apply_patch" => Tool::patch(changes(input, cwd), "pending"),
        _ => Tool::new(name, json!({"input": input}), None),
    }
}

/// The files a patch names, with its own lines as differences.
fn changes(patch: &str, cwd: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in patch.lines() {
        let file = line.strip_prefix("*** ").and_then(|head| head.split_once(" File: "));
        if let Some((verb, path)) = file {
            let kind = verb.to_lowercase();
            changes.push(Change { path: absolute(path, cwd), kind, moved_to: None, diff: None });
        } else if let (Some(path), Some(change)) = (line.strip_prefix("*** Move to: "), changes.last_mut()) {
            change.moved_to = Some(absolute(path, cwd));
        } else if let (false, Some(change)) = (line.starts_with("*** "), changes.last_mut()) {
            let line = if change.kind == "add" { line.strip_prefix('+').unwrap_or(line) } else { line };
            let diff = change.diff.get_or_insert_default();
            diff.push_str(line);
            diff.push('\n');
        }
    }
    changes
}

fn absolute(path: &str, cwd: &str) -> String {
    if path.starts_with('/') || cwd.is_empty() { path.to_owned() } else { format!("{cwd}/{path}") }
}

/// How a call ended, by the answer the model was given.
pub(super) fn end(tool: &Tool, answer: &Value) -> End {
    let text = answer_text(answer);
    let failed =
        |text: &str| End { status: BlockStatus::Error, output: Some(json!(text)), duration_ms: None };
    if is_aborted(&text) {
        return End::silent(BlockStatus::Error);
    }
    if text.contains(REJECTED) {
        return failed(REJECTED);
    }
    let (exit_code, output) = body(&text);
    match tool.name.as_str() {
        "apply_patch" if is_failure(answer, &text) || exit_code.is_some_and(|code| code != 0) => {
            failed(output)
        }
        "apply_patch" => {
            let listed = tool.key.rsplit_once('\0').map_or("", |(_, listed)| listed);
            End { output: Some(json!(listed)), ..succeeded(output) }
        }
        "update_plan" | "image_view" if !is_failure(answer, &text) => End::silent(BlockStatus::Success),
        _ if exit_code.is_some_and(|code| code != 0) => failed(&with_exit_code(output.to_owned(), exit_code)),
        _ if exit_code.is_none() && is_failure(answer, &text) => failed(output),
        _ => succeeded(output),
    }
}

/// Whether a call came to nothing that anybody but the model was told about.
pub(super) fn is_untold(answer: &Value) -> bool {
    let text = answer_text(answer);
    let head = text.lines().next().unwrap_or_default();
    head.starts_with("unsupported ")
        || head.starts_with("apply_patch verification failed")
        || head.starts_with("write_stdin failed")
        || head.contains("is unavailable in ")
}

fn succeeded(output: &str) -> End {
    End { status: BlockStatus::Success, output: Some(json!(output)), duration_ms: None }
}

fn is_aborted(text: &str) -> bool {
    text == "aborted" || text.ends_with("aborted by user") || text.starts_with("aborted by user")
}

/// Whether an answer without an exit code tells of a failure. Only words say so.
fn is_failure(answer: &Value, text: &str) -> bool {
    let head = text.lines().next().unwrap_or_default();
    answer.pointer("/output/success").or_else(|| answer.get("success")).and_then(Value::as_bool)
        == Some(false)
        || head.starts_with("unsupported ")
        || head.starts_with("failed to ")
        || head.starts_with("err: ")
        || head.starts_with("execution error: ")
        || head.contains(" failed: ")
        || head.contains("is unavailable in ")
}

/// The text of an answer, however it was wrapped.
fn answer_text(answer: &Value) -> String {
    let output = answer.get("output").or_else(|| answer.get("tools")).unwrap_or(&Value::Null);
    match output {
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().any(|part| text(part, "text").is_some()) => {
            parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => match fields.get("content").or_else(|| fields.get("body")) {
            Some(Value::String(text)) => text.clone(),
            _ => output.to_string(),
        },
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The exit code and the output proper of a command's answer.
fn body(text: &str) -> (Option<i64>, &str) {
    if !HEADERS.iter().any(|header| text.starts_with(header)) {
        return (None, text);
    }
    let (head, body) = text.split_once("Output:\n").unwrap_or((text, ""));
    let code = |line: &str| {
        let digits = line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code "))?;
        digits.trim().parse().ok()
    };
    (head.lines().find_map(code), body)
}

/// An answer in the oldest form, JSON in a string, as the same in today's.
pub(super) fn modern(answer: &Value) -> Option<Value> {
    let inner: Value =
        serde_json::from_str(text(answer, "output").filter(|text| text.starts_with('{'))?).ok()?;
    let output = text(&inner, "output")?;
    let code = inner.pointer("/metadata/exit_code")?.as_i64()?;
    Some(json!({"output": format!("Exit code: {code}\nOutput:\n{output}")}))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warren_domain::BlockStatus;

    use super::{call, end, modern};
    use crate::codex::item::{End, Tool};

    fn ended(status: BlockStatus, output: &str) -> End {
        End { status, output: Some(json!(output)), duration_ms: None }
    }

    #[test]
    fn a_command_is_the_same_by_whatever_name_the_model_called_it() {
        let call = |item| call(&item, "/workspace").map(|(_, tool)| tool);
        let expected = Some(Tool::shell("ls -l", None));
        for (name, arguments) in [
            ("exec_command", r#"{"cmd":"ls -l"}"#),
            ("shell_command", r#"{"command":"ls -l"}"#),
            ("shell", r#"{"command":["bash","-lc","ls -l"]}"#),
            ("container.exec", r#"{"command":["ls","-l"]}"#),
        ] {
            let item = json!({"type": "function_call", "name": name, "arguments": arguments, "call_id": "c"});
            assert_eq!(call(item), expected, "{name}");
        }
        let local = json!({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls", "-l"]}});
        assert_eq!(call(local), expected);
    }

    #[test]
    fn the_output_proper_is_found_in_every_form_of_answer() {
        let shell = Tool::shell("x", None);
        let answer = |output: &str| {
            let answer = json!({"output": output});
            end(&shell, &modern(&answer).unwrap_or(answer))
        };
        let (good, bad) = (ended(BlockStatus::Success, "a\n"), ended(BlockStatus::Error, "a\n[exit code 3]"));
        assert_eq!(answer("a\n"), good);
        assert_eq!(answer("Exit code: 0\nWall time: 1 seconds\nOutput:\na\n"), good);
        assert_eq!(answer("Chunk ID: x\nProcess exited with code 3\nOutput:\na\n"), bad);
        assert_eq!(answer(r#"{"output":"a\n","metadata":{"exit_code":3}}"#), bad);
        assert_eq!(answer("Wall time: 0.2 seconds\naborted by user"), End::silent(BlockStatus::Error));
        assert_eq!(answer("unsupported call: x"), ended(BlockStatus::Error, "unsupported call: x"));
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: /b\n*** Move to: c\n@@\n-y\n*** End Patch\n";
        let item = json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": patch});
        let (_, tool) = call(&item, "/w").expect("a call");
        let changes = json!([
            {"path": "/b", "kind": "update", "movedTo": "/w/c", "diff": "@@\n-y\n"},
            {"path": "/w/a", "kind": "add", "diff": "x\n"},
        ]);
        assert_eq!(tool.input, json!({"changes": changes}));
        assert_eq!(end(&tool, &json!({"output": "Success."})), ended(BlockStatus::Success, "M /b\nA /w/a"));
    }
}
