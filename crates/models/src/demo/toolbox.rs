//! The tools on offer, whatever the agent calls them.
//!
//! Agents name the same few tools and their inputs differently (`write {path}`, `Write {file_path}`). The script asks
//! for a kind of tool; here the offered tool is found by name and its input filled by its schema.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{request::Tool, turn::Call};

#[derive(Debug)]
pub(super) struct Toolbox {
    tools: Vec<Tool>,
    /// Where the agent works, if its instructions tell; some agents take absolute paths only.
    cwd: Option<String>,
}

/// Names by which agents know a tool, in lower case.
const BASH: &[&str] = &["bash", "shell"];
const READ: &[&str] = &["read"];
const WRITE: &[&str] = &["write"];
const EDIT: &[&str] = &["edit"];
const GLOB: &[&str] = &["glob"];
const GREP: &[&str] = &["grep"];
const TODO: &[&str] = &["todo", "todowrite", "todo_write"];
const TASK: &[&str] = &["task", "agent"];

/// Names of inputs, the usual one first.
const PATH: &[&str] = &["file_path", "path"];

/// One input: its possible names and its value.
type Input<'a> = (&'a [&'a str], Value);

/// What a list of things to do shows for one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Done,
    Doing,
    Waiting,
}

impl Toolbox {
    pub(super) fn new(tools: &[Tool], system: &str) -> Self {
        Self { tools: tools.to_vec(), cwd: working_directory(system) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn bash(&self, command: &str, description: &str) -> Option<Call> {
        self.call(BASH, &[(&["command"], command.into()), (&["description"], description.into())])
    }

    pub(super) fn read(&self, path: &str) -> Option<Call> {
        self.call(READ, &[(PATH, self.path(path).into())])
    }

    /// Writes a file, by the shell if there is no tool for it.
    pub(super) fn write(&self, path: &str, content: &str) -> Option<Call> {
        self.call(WRITE, &[(PATH, self.path(path).into()), (&["content"], content.into())])
            .or_else(|| self.bash(&here_document(path, content), &format!("Write {path}")))
    }

    pub(super) fn edit(&self, path: &str, old: &str, new: &str) -> Option<Call> {
        let old = (&["old_string", "old", "old_text"][..], old.into());
        let new = (&["new_string", "new", "new_text"][..], new.into());
        self.call(EDIT, &[(PATH, self.path(path).into()), old, new])
    }

    pub(super) fn glob(&self, pattern: &str) -> Option<Call> {
        self.call(GLOB, &[(&["pattern"], pattern.into())])
    }

    pub(super) fn grep(&self, pattern: &str, path: &str) -> Option<Call> {
        self.call(GREP, &[(&["pattern"], pattern.into()), (&["path"], self.path(path).into())])
    }

    pub(super) fn todo(&self, items: &[(&str, Progress)]) -> Option<Call> {
        let tool = self.find(TODO)?;
        let fields = &tool.input_schema["properties"]["todos"]["items"]["properties"];
        let item = |(idx, (content, progress)): (usize, &(&str, Progress))| {
            let status = match progress {
                Progress::Done => "completed",
                Progress::Doing => "in_progress",
                Progress::Waiting => "pending",
            };
            let all = [
                (&["activeForm"][..], Value::from(*content)),
                (&["content", "text", "title"], Value::from(*content)),
                (&["id"], Value::from((idx + 1).to_string())),
                (&["priority"], Value::from("medium")),
                (&["status"], Value::from(status)),
            ];
            fill(
                fields,
                &if fields.is_object() { all.to_vec() } else { vec![all[1].clone(), all[4].clone()] },
            )
        };
        let items = items.iter().enumerate().map(item).collect::<Vec<_>>();
        Some(Call { name: tool.name.clone(), input: json!({ "todos": items }) })
    }

    /// Gives `prompt` to a subagent: the one of that name, or a general one if the agent knows no such name.
    pub(super) fn task(&self, subagent: &str, description: &str, prompt: &str) -> Option<Call> {
        let tool = self.find(TASK)?;
        let known = subagents(&tool.description);
        let wanted = [subagent, "general-purpose", "general"];
        let subagent = wanted.into_iter().find(|name| known.contains(name)).unwrap_or(subagent);
        self.call(
            TASK,
            &[
                (&["description"], description.into()),
                (&["prompt"], prompt.into()),
                (&["subagent_type", "agent", "name"], subagent.into()),
            ],
        )
    }

    fn call(&self, names: &[&str], inputs: &[Input<'_>]) -> Option<Call> {
        let tool = self.find(names)?;
        Some(Call { name: tool.name.clone(), input: fill(&tool.input_schema["properties"], inputs) })
    }

    fn find(&self, names: &[&str]) -> Option<&Tool> {
        self.tools.iter().find(|tool| names.contains(&tool.name.to_lowercase().as_str()))
    }

    fn path(&self, path: &str) -> String {
        match &self.cwd {
            Some(cwd) if !path.starts_with('/') => format!("{cwd}/{path}"),
            _ => path.to_owned(),
        }
    }
}

/// The inputs that the schema knows, by the names it knows them by; all of them if it tells nothing.
fn fill(properties: &Value, inputs: &[Input<'_>]) -> Value {
    let known = properties.as_object().filter(|properties| !properties.is_empty());
    let name = |names: &[&str]| match known {
        None => names.first().map(|name| (*name).to_owned()),
        Some(known) => names.iter().find(|name| known.contains_key(**name)).map(|name| (*name).to_owned()),
    };
    // Sorted, so that the bytes do not depend on how JSON maps are built.
    let filled: BTreeMap<String, Value> =
        inputs.iter().filter_map(|(names, value)| Some((name(names)?, value.clone()))).collect();
    filled.into_iter().collect()
}

/// Agents list their subagents in the tool's description, as `- name: what it is for`.
fn subagents(description: &str) -> Vec<&str> {
    let entries =
        description.lines().filter_map(|line| line.trim_start().strip_prefix("- ")?.split_once(':'));
    entries.map(|(name, _)| name.trim()).collect()
}

fn here_document(path: &str, content: &str) -> String {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    format!(
        "mkdir -p '{folder}' && cat > '{path}' <<'WARREN_DEMO_END'\n{}\nWARREN_DEMO_END",
        content.trim_end()
    )
}

/// `Working directory: /x`, as agents put it into their instructions.
fn working_directory(system: &str) -> Option<String> {
    let (_, after) = system.split_once("orking directory: ")?;
    let path = after.lines().next()?.trim().trim_end_matches('/');
    path.starts_with('/').then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Progress, Toolbox};
    use crate::demo::{request::Tool, turn::Call};

    fn tool(name: &str, properties: &Value) -> Tool {
        Tool {
            name: name.to_owned(),
            description: "Agents:\n- general-purpose: any task\n- code-reviewer: reviews".to_owned(),
            input_schema: json!({ "type": "object", "properties": properties }),
        }
    }

    fn call(name: &str, input: Value) -> Option<Call> {
        Some(Call { name: name.to_owned(), input })
    }

    #[test]
    fn tools_are_found_and_filled_by_what_the_agent_calls_them() {
        let toolbox = Toolbox::new(
            &[
                tool("Write", &json!({ "file_path": {}, "content": {} })),
                tool("read", &json!({ "path": {} })),
                tool("Bash", &json!({ "command": {} })),
                tool("Agent", &json!({ "prompt": {}, "subagent_type": {} })),
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
            call("Agent", json!({ "prompt": "Look", "subagent_type": "general-purpose" }))
        );
        assert_eq!(
            toolbox.todo(&[("Look", Progress::Doing)]),
            call("TodoWrite", json!({ "todos": [{ "content": "Look", "status": "in_progress" }] }))
        );
        assert_eq!(toolbox.grep("a", "b"), None);
    }

    #[test]
    fn the_shell_writes_files_where_no_tool_does() {
        let toolbox = Toolbox::new(&[tool("bash", &json!({}))], "");
        let command = "mkdir -p 'a' && cat > 'a/b' <<'WARREN_DEMO_END'\nc\nWARREN_DEMO_END";
        assert_eq!(
            toolbox.write("a/b", "c\n"),
            call("bash", json!({ "command": command, "description": "Write a/b" }))
        );
    }
}
