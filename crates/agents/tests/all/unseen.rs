//! What recordings do not show of every agent: commands that failed, what newer and older versions write, and fields
//! that nobody knows yet.

use serde_json::{Value, json};
use warren_agents::{Adapter, adapter, adapters};
use warren_domain::{Block, Conversations};

use crate::support::{blocks, cases, decoded, files, folded};

fn known(name: &str) -> &'static dyn Adapter {
    adapter(name).expect("an agent we know")
}

fn lines(lines: &[Value]) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn fixture(agent: &str, path: &str) -> Vec<u8> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent);
    std::fs::read(root.join(path)).expect("a recording")
}

/// How the calls of commands ended: what was given, and whether that is an error.
fn results(conversations: &Conversations) -> Vec<(Value, bool)> {
    let result = |block: &Block| match block {
        Block::ToolResult { output, is_error, .. } => Some((output.clone(), *is_error)),
        _ => None,
    };
    conversations.main().iter().filter_map(result).collect()
}

/// The statuses of calls.
fn statuses(conversations: &Conversations) -> Vec<Value> {
    let calls = blocks(conversations)["main"].as_array().cloned().unwrap_or_default();
    calls.iter().filter(|block| block["type"] == "tool_use").map(|block| block["status"].clone()).collect()
}

#[test]
fn what_a_terminal_had_is_the_output_of_its_command() {
    let stream = fixture("acp", "codex-2.6-terminal/in.jsonl");
    let live = folded(&decoded(known("acp").recorded(), &stream));
    let expected = [
        (json!("one\ntwo\n"), false),
        (json!("boom\n[exit code 7]"), true),
        (json!("y\ny\n[exit code 141]"), true),
        (json!("typed\n"), false),
        (json!("found"), false),
        (json!("waiting\n"), true),
    ];
    assert_eq!(results(&live), expected);
    assert_eq!(statuses(&live), ["success", "error", "error", "success", "success", "error"]);
    let claude = folded(&decoded(known("acp").recorded(), &fixture("acp", "claude-terminal/in.jsonl")));
    assert_eq!(results(&claude), [(json!("a\nb"), false), (json!("Exit code 7\nboom"), true)]);
}

#[test]
fn notices_and_plans_of_a_later_acp_are_shown() {
    let update = |update: Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}});
    let stream = lines(&[
        update(
            json!({"sessionUpdate": "notice", "severity": "warning", "title": "Slow", "description": "wait"}),
        ),
        update(
            json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [{"content": "a", "status": "pending"}]}}),
        ),
        update(
            json!({"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": "- b"}}),
        ),
        update(json!({"sessionUpdate": "_own", "x": 1})),
    ]);
    let live = decoded(known("acp").recorded(), &stream);
    assert!(!format!("{live:?}").contains("Unrecognized"), "{live:?}");
    let shown = blocks(&folded(&live));
    let shown = (&shown["main"][0]["message"], &shown["main"][1]["input"]);
    assert_eq!(shown, (&json!("Slow: wait"), &json!({"entries": [{"content": "- b"}]})));
}

#[test]
fn a_command_of_opencode_that_failed_or_was_stopped_is_no_success() {
    let opencode = known("opencode");
    for (case, expected) in [("tool_error", "[exit code 3]"), ("abort_tool", "User aborted the command")] {
        let stream = fixture("opencode", &format!("{case}/events.sse"));
        let saved = fixture("opencode", &format!("{case}/messages.json"));
        for conversations in
            [folded(&decoded(opencode.recorded(), &stream)), opencode.parse(&saved, &[]).conversations]
        {
            let is_meant =
                |(output, _): &&(Value, bool)| output.as_str().is_some_and(|it| it.contains(expected));
            let results = results(&conversations);
            let found: Vec<bool> = results.iter().filter(is_meant).map(|(_, is_error)| *is_error).collect();
            assert_eq!(found, [true], "{case}: {results:?}");
            assert!(statuses(&conversations).contains(&json!("error")), "{case}");
        }
    }
}

#[test]
fn the_plan_of_codex_has_the_step_that_is_under_way() {
    let item = |completed: [bool; 3]| {
        let steps = ["a", "b", "c"]
            .iter()
            .zip(completed)
            .map(|(text, completed)| json!({"text": text, "completed": completed}));
        json!({"type": "item.updated", "item": {"id": "item_1", "type": "todo_list", "items": steps.collect::<Vec<_>>()}})
    };
    let plan = |completed| {
        let mut done = item(completed);
        done["type"] = json!("item.completed");
        let stream = lines(&[
            json!({"type": "thread.started", "thread_id": "t"}),
            json!({"type": "turn.started"}),
            item(completed),
            done,
        ]);
        let live = folded(&decoded(known("codex").recorded(), &stream));
        let steps = blocks(&live)["main"][0]["input"]["plan"].as_array().cloned().expect("a plan");
        steps.iter().map(|step| step["status"].as_str().expect("a status").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(plan([true, false, false]), ["completed", "in_progress", "pending"]);
    assert_eq!(plan([false, false, false]), ["in_progress", "pending", "pending"]);
    assert_eq!(plan([true, true, true]), ["completed", "completed", "completed"]);
}

#[test]
fn where_a_text_of_claude_is_from_stands_behind_it_live_and_saved() {
    let citation = |title: Value, url: &str| json!({"type": "web_search_result_location", "cited_text": "…", "title": title, "url": url, "encrypted_index": "E"});
    let citations = json!([
        citation(json!("The [best] page"), "https://a.example/x_(y)"),
        citation(json!("The [best] page"), "https://a.example/x_(y)"),
        citation(json!(null), "https://b.example/"),
        {"type": "char_location", "cited_text": "…", "document_index": 0, "document_title": "notes.pdf"},
    ]);
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [
        {"type": "text", "text": "It is so.", "citations": citations}, {"type": "text", "text": "Plain.", "citations": null},
    ]});
    let line = json!({"type": "assistant", "uuid": "u", "sessionId": "s", "timestamp": "2026-01-01T00:00:00.000Z", "message": message});
    let claude = known("claude-code");
    let stream = lines(&[line]);
    let expected = "It is so. ([The  best  page](<https://a.example/x_(y)>), [https://b.example/](<https://b.example/>), notes.pdf)";
    for conversations in
        [folded(&decoded(claude.recorded(), &stream)), claude.parse(&stream, &[]).conversations]
    {
        let texts: Vec<&str> = conversations
            .main()
            .iter()
            .filter_map(|block| match block {
                Block::AssistantText { content, .. } => Some(content.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, [expected, "Plain."]);
    }
}

#[test]
fn what_claude_shows_for_a_moment_is_known_and_no_part_of_the_conversation() {
    let line = json!({"type": "system", "subtype": "notification", "key": "k", "text": "Context low", "priority": "high", "uuid": "u"});
    let (claude, stream) = (known("claude-code"), lines(&[line]));
    let live = decoded(claude.recorded(), &stream);
    assert!(!format!("{live:?}").contains("Unrecognized"), "{live:?}");
    let parsed = claude.parse(&stream, &[]);
    assert_eq!((parsed.n_unreadable, parsed.conversations), (0, Conversations::default()));
}

#[test]
fn a_subagent_whose_file_leaves_its_task_out_opens_with_the_task_of_its_call() {
    let claude = known("claude-code");
    let line = |kind: &str, agent: Option<&str>, content: Value, more: Value| {
        let mut line = json!({"type": kind, "uuid": content.to_string(), "timestamp": "2026-01-01T00:00:00Z",
            "version": "2.0.50", "isSidechain": agent.is_some(), "agentId": agent,
            "message": {"id": format!("m{content}"), "role": kind, "model": "m", "content": content}});
        line.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        line
    };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Task",
        "input": {"description": "d", "prompt": "Look at it", "subagent_type": "general-purpose"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": text("Fine.")}]);
    let told = json!({"toolUseResult": {"status": "completed", "prompt": "Look at it", "agentId": "a1"}});
    let main = [
        line("user", None, json!("hi"), Value::Null),
        line("assistant", None, call, Value::Null),
        line("user", None, result, told),
    ];
    let thread = lines(&[line("assistant", Some("a1"), text("Fine."), Value::Null)]);
    // What was started only to be at hand, and says nothing of that either.
    let spare = lines(&[line("assistant", Some("a2"), text("Ready."), Value::Null)]);
    let shown = |main: &[Value]| {
        let parsed = claude
            .parse(&lines(main), &[("a1".to_owned(), thread.clone()), ("a2".to_owned(), spare.clone())]);
        let threads = blocks(&parsed.conversations)["subagents"].as_array().cloned().expect("threads");
        let words =
            |block: &Value| block["content"].as_str().or(block["message"].as_str()).map(str::to_owned);
        let of =
            |thread: &Value| thread["blocks"].as_array().into_iter().flatten().filter_map(words).collect();
        threads.iter().map(of).collect::<Vec<Vec<String>>>()
    };
    let framed =
        ["Subagent general-purpose started", "Look at it", "Fine.", "Subagent general-purpose completed"];
    assert_eq!(shown(&main), [framed.map(str::to_owned).to_vec()]);
    // While a call has no thread, one of these may be its own: nothing is left out.
    assert_eq!(shown(&main[..2]).len(), 2);
}

#[test]
fn what_gemini_writes_in_another_form_costs_no_more_than_itself() {
    let gemini = known("gemini-cli");
    let saved = lines(&[
        json!({"sessionId": "s", "startTime": "2026-01-01T00:00:00.000Z"}),
        json!({"id": "1", "type": "user", "timestamp": 5, "content": "hi"}),
        json!({"id": "2", "type": "gemini", "model": {"name": "x"}, "content": "said", "thoughts": "none",
            "tokens": {"input": null, "output": "9", "cached": 1.5},
            "toolCalls": [{"id": "c", "name": "ls", "status": 3, "timestamp": {}, "agentId": 7, "result": "r"}]}),
    ]);
    let parsed = gemini.parse(&saved, &[]);
    assert_eq!((parsed.n_unreadable, parsed.conversations.main().len()), (0, 4), "{:?}", parsed.unrecognized);
    let printed = lines(&[
        json!({"type": "init", "model": null}),
        json!({"type": "message", "role": "user", "content": [{"text": "hi"}]}),
        json!({"type": "message", "role": "assistant", "timestamp": 5, "content": [{"text": "sa"}, {"text": "id"}]}),
        json!({"type": "tool_use", "tool_name": "ls", "tool_id": "c"}),
        json!({"type": "tool_result", "tool_id": "c", "status": null, "output": [["ansi"]]}),
        json!({"type": "result", "status": "success", "stats": {"total_tokens": null, "models": []}}),
    ]);
    let live = decoded(gemini.recorded(), &printed);
    assert!(!format!("{live:?}").contains("Unrecognized"), "{live:?}");
    assert_eq!(folded(&live).main().len(), 4);
}

/// Adds a field nobody knows to everything that says what it is.
fn grown(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(grown);
            if ["type", "method", "role", "sessionUpdate"]
                .iter()
                .any(|key| fields.get(*key).is_some_and(Value::is_string))
            {
                fields.insert("xNew".to_owned(), json!({"of": ["a", {"later": "version"}]}));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(grown),
        _ => {}
    }
}

/// Takes that field away again from what keeps all there is, as inputs of tools do.
fn shrunk(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("xNew");
            fields.remove("x_new");
            fields.values_mut().for_each(shrunk);
        }
        Value::Array(items) => items.iter_mut().for_each(shrunk),
        _ => {}
    }
}

/// A recording of lines with such fields; `None` if it is not one.
fn grown_lines(content: &[u8]) -> Option<Vec<u8>> {
    let line = |line: &[u8]| {
        let mut value: Value = serde_json::from_slice(line).ok()?;
        grown(&mut value);
        Some(format!("{value}\n"))
    };
    let lines: Option<String> =
        content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).map(line).collect();
    lines.map(String::into_bytes)
}

#[test]
fn fields_that_a_later_version_adds_change_nothing() {
    for adapter in adapters() {
        let agent = adapter.agent_type().to_string();
        let mut n_read = 0;
        for path in cases(&agent)
            .iter()
            .filter(|case| case.is_dir())
            .flat_map(|case| files(case))
            .filter(|path| path.is_file())
        {
            let Ok(content) = std::fs::read(&path) else { continue };
            if path.ends_with("out.jsonl") || content.len() > 300_000 {
                continue;
            }
            let Some(grown) = grown_lines(&content) else { continue };
            let fold = |stream: &[u8]| shown(&folded(&decoded(adapter.recorded(), stream)));
            let parse = |saved: &[u8]| shown(&adapter.parse(saved, &[]).conversations);
            assert_eq!(fold(&grown), fold(&content), "{}", path.display());
            assert_eq!(parse(&grown), parse(&content), "{}", path.display());
            n_read += 1;
        }
        assert!(n_read > 0, "recordings of {agent}");
    }
}

fn shown(conversations: &Conversations) -> String {
    let mut value = blocks(conversations);
    shrunk(&mut value);
    serde_json::to_string_pretty(&value).expect("JSON")
}
