//! Tools of several agents, by what each calls them.

use serde_json::{Value, json};

use super::{Progress, Toolbox};
use crate::demo::{
    ask::{Form, Tool},
    turn::{Aim, Call},
};

fn tool(name: &str, properties: &Value) -> Tool {
    Tool {
        name: name.to_owned(),
        description: "Agents:\n- general-purpose: any task\n- code-reviewer: reviews".to_owned(),
        schema: json!({ "type": "object", "properties": properties }),
        ..Tool::default()
    }
}

fn toolbox(tools: &[Tool], system: &str) -> Toolbox {
    Toolbox::new(tools, system, true)
}

fn call(name: &str, input: Value) -> Option<Call> {
    let name = name.to_owned();
    Some(Call { name, namespace: None, form: Form::Function, input, aim: Aim::Story })
}

#[test]
fn tools_are_found_and_filled_by_what_the_agent_calls_them() {
    let toolbox = toolbox(
        &[
            tool("Write", &json!({ "file_path": {}, "content": {} })),
            tool("read", &json!({ "path": {} })),
            tool("Bash", &json!({ "command": {} })),
            tool("Agent", &json!({ "prompt": {}, "subagent_type": {}, "run_in_background": {} })),
            tool(
                "TodoWrite",
                &json!({ "todos": { "items": { "properties": { "content": {}, "status": {} } } } }),
            ),
        ],
        "# Environment\n - Primary working directory: /workspace\n - x",
    );
    assert_eq!(
        toolbox.write("a", "b"),
        call("Write", json!({ "file_path": "/workspace/a", "content": "b" }))
    );
    assert_eq!(toolbox.read("/a"), call("read", json!({ "path": "/a" })));
    assert_eq!(toolbox.bash("ls", "List"), call("Bash", json!({ "command": "ls" })));
    assert_eq!(
        toolbox.task("reviewer", "Review", "Look"),
        call(
            "Agent",
            json!({ "prompt": "Look", "run_in_background": false, "subagent_type": "general-purpose" })
        )
    );
    assert_eq!(
        toolbox.todo(&[("Look", Progress::Doing)]),
        call("TodoWrite", json!({ "todos": [{ "content": "Look", "status": "in_progress" }] }))
    );
    assert_eq!(toolbox.grep("a", "b"), None);
}

#[test]
fn the_shell_writes_files_where_no_tool_does() {
    let toolbox = toolbox(&[tool("bash", &json!({}))], "");
    let command = "mkdir -p 'a' && cat > 'a/b' <<'WARREN_DEMO_END'\nc\nWARREN_DEMO_END";
    assert_eq!(
        toolbox.write("a/b", "c\n"),
        call("bash", json!({ "command": command, "description": "Write a/b" }))
    );
}

#[test]
fn a_patch_in_free_form_writes_and_edits_files() {
    let patch = Tool { form: Form::Freeform, ..tool("apply_patch", &json!({})) };
    let toolbox = toolbox(&[patch], "");
    let patched =
        |text: &str| Call { form: Form::Freeform, ..call("apply_patch", text.into()).expect("a call") };
    assert_eq!(
        toolbox.write("a", "b\nc\n"),
        Some(patched("*** Begin Patch\n*** Add File: a\n+b\n+c\n*** End Patch\n"))
    );
    assert_eq!(
        toolbox.edit("a", "b", "d"),
        Some(patched("*** Begin Patch\n*** Update File: a\n@@\n-b\n+d\n*** End Patch\n"))
    );
}

#[test]
fn shells_get_their_command_in_the_form_they_want_and_time_enough() {
    let list = json!({ "command": { "type": "array" }, "timeout_ms": {} });
    let listed = toolbox(&[tool("shell", &list)], "").shell("sleep 90", "", 90);
    assert_eq!(
        listed,
        call("shell", json!({ "command": ["bash", "-lc", "sleep 90"], "timeout_ms": 120_000 }))
    );
    let yielding = json!({ "cmd": {}, "yield_time_ms": {} });
    let yielded = toolbox(&[tool("exec_command", &yielding)], "").bash("ls", "");
    assert_eq!(yielded, call("exec_command", json!({ "cmd": "ls", "yield_time_ms": 30_000 })));
    let seconds = json!({ "command": {}, "timeout": { "description": "Seconds until it is killed" } });
    let waited = toolbox(&[tool("bash", &seconds)], "").shell("sleep 90", "", 90);
    assert_eq!(waited, call("bash", json!({ "command": "sleep 90", "timeout": 120 })));
}

#[test]
fn a_tool_is_found_by_the_end_of_its_name() {
    let toolbox = toolbox(&[tool("xadd", &json!({})), tool("mcp__demo__add", &json!({}))], "");
    assert_eq!(toolbox.named("add", json!({ "a": 1 })), call("mcp__demo__add", json!({ "a": 1 })));
    assert_eq!(toolbox.named("dd", json!({})), None);
}

#[test]
fn a_tool_that_is_not_on_offer_yet_is_searched_for_once() {
    let tools = [tool("ToolSearch", &json!({ "query": {}, "max_results": {} }))];
    let system = "Deferred tools:\nCronCreate\nmcp__demo__add\nAskUserQuestion";
    let searched = |query: &str| {
        let input = json!({ "max_results": 8, "query": query });
        Some(Call { aim: Aim::Search, ..call("ToolSearch", input).expect("a call") })
    };
    assert_eq!(toolbox(&tools, system).named("add", json!({})), searched("select:mcp__demo__add"));
    assert_eq!(toolbox(&tools, system).question("Which?", "X", &[]), searched("select:AskUserQuestion"));
    assert_eq!(toolbox(&tools, system).named("multiply", json!({})), None);
    assert_eq!(Toolbox::new(&tools, system, false).named("add", json!({})), None);
}
