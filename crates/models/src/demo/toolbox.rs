//! The tools on offer, whatever the agent calls them.
//!
//! Agents name the same few tools and their inputs differently (`write {path}`, `Write {file_path}`, a patch in free
//! form). The script asks for a kind of tool; here the offered tool is found by name and its input filled by its schema.
//! Agents with many tools offer some only to those who search for them: such a search is made first.

mod fill;
mod patch;

use serde_json::{Value, json};

use super::{
    ask::{Form, Tool},
    turn::{Aim, Call},
};
use fill::{Input, fill, item_fields, timeout};

#[derive(Debug, Default)]
pub(super) struct Toolbox {
    tools: Vec<Tool>,
    /// The agent's instructions, which name subagents and tools that are not on offer yet.
    system: String,
    /// Where the agent works, if its instructions tell; some agents take absolute paths only.
    cwd: Option<String>,
    /// One search a prompt: what it did not find is not there.
    may_search: bool,
}

/// Names by which agents know a tool, in lower case.
const BASH: &[&str] = &["bash", "shell", "run_shell_command", "exec_command", "shell_command", "local_shell"];
const READ: &[&str] = &["read", "read_file"];
const WRITE: &[&str] = &["write", "write_file"];
const EDIT: &[&str] = &["edit", "replace"];
const PATCH: &[&str] = &["apply_patch"];
const GLOB: &[&str] = &["glob"];
const GREP: &[&str] = &["grep", "grep_search"];
const TODO: &[&str] = &["todo", "todowrite", "todo_write", "write_todos", "update_plan"];
const TASK: &[&str] = &["task", "agent", "invoke_agent", "spawn_agent"];
const QUESTION: &[&str] = &["askuserquestion", "question", "request_user_input", "ask_user"];
const SEARCH: &[&str] = &["toolsearch", "tool_search"];
const POLL: &[&str] = &["write_stdin"];
const WAIT: &[&str] = &["wait_agent", "wait"];
const FINISH: &[&str] = &["complete_task"];

/// Names of inputs, the usual one first.
const PATH: &[&str] = &["file_path", "path", "filePath", "absolute_path"];

/// Calls beside the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chore {
    /// For tools that are not on offer yet.
    Search,
    /// For what an earlier call has begun.
    Wait,
}

/// What a list of things to do shows for one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Done,
    Doing,
    Waiting,
}

/// What kind of chore a call of this tool is, if any.
pub(super) fn chore(tool: &str) -> Option<Chore> {
    let is = |names: &[&str]| names.contains(&tool.to_lowercase().as_str());
    if is(SEARCH) {
        Some(Chore::Search)
    } else if is(POLL) || is(WAIT) {
        Some(Chore::Wait)
    } else {
        None
    }
}

impl Toolbox {
    pub(super) fn new(tools: &[Tool], system: &str, may_search: bool) -> Self {
        let cwd = working_directory(system);
        Self { tools: tools.to_vec(), system: system.to_owned(), cwd, may_search }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn bash(&self, command: &str, description: &str) -> Option<Call> {
        self.shell(command, description, 0)
    }

    /// A command that takes `seconds`, which may be longer than the agent would wait.
    fn shell(&self, command: &str, description: &str, seconds: u64) -> Option<Call> {
        let tool = self.find(BASH)?;
        let properties = &tool.schema["properties"];
        let as_list = json!(["bash", "-lc", command]);
        let takes_list = tool.form == Form::Shell || properties["command"]["type"] == "array";
        let command = if takes_list { as_list } else { command.into() };
        let mut inputs: Vec<Input<'_>> =
            vec![(&["command", "cmd"], command), (&["description"], description.into())];
        inputs.extend(timeout(properties, seconds));
        // A shell that goes on in the background is looked after as seldom as it allows.
        let yields = properties["yield_time_ms"].is_object();
        inputs.extend(yields.then(|| (&["yield_time_ms"][..], 30_000.into())));
        Some(make(tool, fill(properties, &inputs)))
    }

    /// Does nothing for so long. Some shells refuse a command that only sleeps.
    pub(super) fn sleep(&self, seconds: u64) -> Option<Call> {
        let refuses = self.find(BASH)?.description.contains("`sleep` is blocked");
        let until = format!("end=$((SECONDS + {seconds})); until [ $SECONDS -ge $end ]; do sleep 1; done");
        let command = if refuses { until } else { format!("sleep {seconds}") };
        self.shell(&command, &format!("Wait {seconds} seconds"), seconds)
    }

    pub(super) fn read(&self, path: &str) -> Option<Call> {
        self.call(READ, &[(PATH, self.path(path).into())])
    }

    /// Writes a file: by a tool for it, by a patch, or else by the shell.
    pub(super) fn write(&self, path: &str, content: &str) -> Option<Call> {
        self.call(WRITE, &[(PATH, self.path(path).into()), (&["content"], content.into())])
            .or_else(|| self.patch(&patch::add(path, content)))
            .or_else(|| self.bash(&here_document(path, content), &format!("Write {path}")))
    }

    pub(super) fn edit(&self, path: &str, old: &str, new: &str) -> Option<Call> {
        let instruction = format!("Replace “{old}” by “{new}”");
        let inputs = [
            (PATH, self.path(path).into()),
            (&["instruction"][..], instruction.into()),
            (&["old_string", "old", "old_text", "oldString"][..], old.into()),
            (&["new_string", "new", "new_text", "newString"][..], new.into()),
        ];
        self.call(EDIT, &inputs).or_else(|| self.patch(&patch::replace(path, old, new)))
    }

    pub(super) fn glob(&self, pattern: &str) -> Option<Call> {
        self.call(GLOB, &[(&["pattern"], pattern.into())])
    }

    pub(super) fn grep(&self, pattern: &str, path: &str) -> Option<Call> {
        self.call(GREP, &[(&["pattern"], pattern.into()), (&["path"], self.path(path).into())])
    }

    pub(super) fn todo(&self, items: &[(&str, Progress)]) -> Option<Call> {
        let tool = self.find(TODO)?;
        let (list, fields) = item_fields(&tool.schema, &["todos", "plan"]);
        let item = |(idx, (content, progress)): (usize, &(&str, Progress))| {
            let status = match progress {
                Progress::Done => "completed",
                Progress::Doing => "in_progress",
                Progress::Waiting => "pending",
            };
            let all = [
                (&["activeForm"][..], Value::from(*content)),
                (&["content", "text", "title", "description", "step"], Value::from(*content)),
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
        Some(make(tool, [(list.to_owned(), Value::from(items))].into_iter().collect()))
    }

    /// Gives `prompt` to a subagent: the one of that name, or a general one if the agent knows no such name.
    pub(super) fn task(&self, subagent: &str, description: &str, prompt: &str) -> Option<Call> {
        let Some(tool) = self.find(TASK) else { return self.search(TASK, "spawn agent") };
        let known = |name: &&str| lists(&tool.description, name) || lists(&self.system, name);
        let wanted = [subagent, "general-purpose", "generalist", "general"];
        let subagent = wanted.into_iter().find(known).unwrap_or(subagent);
        let name = description.to_lowercase().replace(' ', "_");
        let mut inputs: Vec<Input<'_>> = vec![
            (&["description"], description.into()),
            (&["prompt", "message"], prompt.into()),
            (&["subagent_type", "agent", "name", "agent_name"], subagent.into()),
            (&["task_name"], name.into()),
        ];
        // An agent that works in the background reports to a later turn; this story wants the report now.
        let background = tool.schema["properties"]["run_in_background"].is_object();
        inputs.extend(background.then(|| (&["run_in_background"][..], false.into())));
        Some(make(tool, fill(&tool.schema["properties"], &inputs)))
    }

    /// Asks the person to choose.
    pub(super) fn question(&self, question: &str, header: &str, options: &[(&str, &str)]) -> Option<Call> {
        let Some(tool) = self.find(QUESTION) else { return self.search(QUESTION, "ask user question") };
        let options = options.iter().map(|(label, about)| json!({ "description": about, "label": label }));
        let (list, fields) = item_fields(&tool.schema, &["questions"]);
        let mut inputs: Vec<Input<'_>> = vec![
            (&["header"], header.into()),
            (&["options"], options.collect()),
            (&["question"], question.into()),
        ];
        let has = |name: &str| fields[name].is_object();
        inputs.extend(has("id").then(|| (&["id"][..], header.to_lowercase().into())));
        inputs.extend(has("multiSelect").then(|| (&["multiSelect"][..], false.into())));
        inputs.extend(has("type").then(|| (&["type"][..], "choice".into())));
        let questions = Value::from(vec![fill(fields, &inputs)]);
        Some(make(tool, [(list.to_owned(), questions)].into_iter().collect()))
    }

    /// The tool of exactly that name, or else one whose name ends so: agents put the server's name before it.
    pub(super) fn named(&self, name: &str, input: Value) -> Option<Call> {
        let ends = |tool: &&Tool| {
            let full = tool.name.to_lowercase();
            full.strip_suffix(&name.to_lowercase())
                .is_some_and(|before| before.ends_with(['_', '.', '-', '/']))
        };
        let exact = |tool: &&Tool| tool.name.eq_ignore_ascii_case(name);
        let found = self.tools.iter().find(exact).or_else(|| self.tools.iter().find(ends));
        found.map(|tool| make(tool, input)).or_else(|| self.search(&[name], name))
    }

    /// Looks again at a command that still runs.
    pub(super) fn poll(&self, session: u64) -> Option<Call> {
        let wait = (&["yield_time_ms"][..], 60_000.into());
        self.call(POLL, &[(&["session_id"], session.into()), (&["chars"], "".into()), wait])
    }

    /// Waits for a subagent that works on its own.
    pub(super) fn wait(&self, called: &[String], agent: &str) -> Option<Call> {
        let spawned = called.last().is_some_and(|tool| tool == "spawn_agent");
        let tool = self.find(WAIT).filter(|_| spawned)?;
        let ids = (&["targets", "ids"][..], json!([agent]));
        Some(make(tool, fill(&tool.schema["properties"], &[ids, (&["timeout_ms"], 60_000.into())])))
    }

    /// Hands a subagent's report in, where that is done by a tool.
    pub(super) fn finish(&self, report: &str) -> Option<Call> {
        let tool = self.find(FINISH)?;
        let properties = tool.schema["properties"].as_object();
        let input = properties.into_iter().flatten().map(|(name, schema)| {
            let value = if name == "wait_for_previous" {
                false.into()
            } else {
                super::schema::sample(schema, report)
            };
            (name.clone(), value)
        });
        Some(make(tool, input.collect()))
    }

    fn patch(&self, patch: &str) -> Option<Call> {
        let tool = self.find(PATCH)?;
        let input = match tool.form {
            Form::Freeform => patch.into(),
            _ => fill(&tool.schema["properties"], &[(&["input", "patch", "patchText"], patch.into())]),
        };
        Some(make(tool, input))
    }

    /// Looks for a tool that may be there without being on offer: one that the instructions name, or any at all where
    /// they name none.
    fn search(&self, names: &[&str], query: &str) -> Option<Call> {
        let tool = self.find(SEARCH).filter(|_| self.may_search)?;
        let named = self.system.lines().map(str::trim).find(|line| {
            let line = line.to_lowercase();
            !line.contains(' ') && names.iter().any(|name| is_or_ends(&line, &name.to_lowercase()))
        });
        let query = match (tool.form, named) {
            (Form::Search, _) => query.to_owned(),
            (_, Some(name)) => format!("select:{name}"),
            (_, None) => return None,
        };
        let inputs = [(&["query"][..], query.into()), (&["max_results", "limit"][..], 8.into())];
        let input = fill(&tool.schema["properties"], &inputs);
        Some(Call { aim: Aim::Search, ..make(tool, input) })
    }

    fn call(&self, names: &[&str], inputs: &[Input<'_>]) -> Option<Call> {
        let tool = self.find(names)?;
        Some(make(tool, fill(&tool.schema["properties"], inputs)))
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

fn make(tool: &Tool, input: Value) -> Call {
    Call {
        name: tool.name.clone(),
        namespace: tool.namespace.clone(),
        form: tool.form,
        input,
        aim: Aim::Story,
    }
}

fn is_or_ends(full: &str, name: &str) -> bool {
    full.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with(['_', '.', '/']))
}

/// Agents list their subagents as `- name: what it is for`, with an arrow, or in tags.
fn lists(text: &str, name: &str) -> bool {
    let entries = [format!("- {name}:"), format!("- {name} ->")];
    let is_entry = |line: &str| entries.iter().any(|entry| line.trim_start().starts_with(entry));
    text.lines().any(is_entry) || text.contains(&format!("<name>{name}</name>"))
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
mod tests;
