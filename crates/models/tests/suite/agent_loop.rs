//! A tiny agent that carries the demo model's calls out for real, to see its stories through to their end.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::support::{Bench, Client};

/// Tools as one agent offers them. The two known families name them differently.
struct Family {
    tools: Value,
    /// How a path input is called.
    path: &'static str,
    /// How an edit's two texts are called.
    old_new: [&'static str; 2],
}

fn schema(properties: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    json!({ "type": "object", "properties": properties })
}

fn tool(name: &str, properties: &[&str]) -> Value {
    json!({ "name": name, "description": "", "input_schema": schema(properties) })
}

fn builtin() -> Family {
    let tools = json!([
        tool("bash", &["command", "description", "timeout"]),
        tool("read", &["path"]),
        tool("write", &["path", "content"]),
        tool("edit", &["path", "old_text", "new_text"]),
        tool("glob", &["pattern"]),
        tool("grep", &["pattern", "path"]),
        tool("todo", &["todos"]),
        tool("task", &["agent", "description", "prompt"]),
    ]);
    Family { tools, path: "path", old_new: ["old_text", "new_text"] }
}

fn claude_code() -> Family {
    let tools = json!([
        tool("Bash", &["command", "description"]),
        tool("Read", &["file_path"]),
        tool("Write", &["file_path", "content"]),
        tool("Edit", &["file_path", "old_string", "new_string"]),
        tool("Glob", &["pattern"]),
        tool("Grep", &["pattern", "path"]),
        tool("TodoWrite", &["todos"]),
        tool("Agent", &["description", "prompt", "subagent_type"]),
    ]);
    Family { tools, path: "file_path", old_new: ["old_string", "new_string"] }
}

struct Agent<'a> {
    family: Family,
    folder: &'a Path,
    client: Client,
    /// Names of the tools that were called, subagents' included.
    called: Vec<String>,
    failures: Vec<String>,
}

impl Agent<'_> {
    /// Runs a conversation to its end and gives its last words.
    async fn run(&mut self, prompt: &str) -> String {
        let mut messages = vec![json!({ "role": "user", "content": prompt })];
        for _ in 0..20 {
            let content = self.ask(&messages).await;
            let calls: Vec<Value> = content
                .as_array()
                .expect("blocks")
                .iter()
                .filter(|block| block["type"] == "tool_use")
                .cloned()
                .collect();
            if calls.is_empty() {
                return texts(&content);
            }
            messages.push(json!({ "role": "assistant", "content": content }));
            let mut results = Vec::new();
            for call in &calls {
                let (text, is_error) = self.carry_out(call).await;
                results.push(json!({ "type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": is_error }));
            }
            messages.push(json!({ "role": "user", "content": results }));
        }
        panic!("the story has no end");
    }

    async fn ask(&mut self, messages: &[Value]) -> Value {
        let system = format!("You work here.\nWorking directory: {}\n", self.folder.display());
        let body = json!({
            "model": "claude-sonnet-4-5", "max_tokens": 32_000, "system": system, "tools": self.family.tools, "messages": messages,
        });
        let answer = self.client.post("/v1/messages", body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str::<Value>(&answer.body).expect("a message")["content"].take()
    }

    async fn carry_out(&mut self, call: &Value) -> (String, bool) {
        let name = call["name"].as_str().expect("a name").to_lowercase();
        let text = |input: &str| {
            call["input"][input].as_str().unwrap_or_else(|| panic!("{call} has no {input}")).to_owned()
        };
        let path = |text: &str| self.folder.join(text);
        let outcome = match name.as_str() {
            "bash" => shell(self.folder, &text("command")),
            "write" => write(&path(&text(self.family.path)), &text("content")),
            "edit" => {
                let [old, new] = self.family.old_new;
                edit(&path(&text(self.family.path)), &text(old), &text(new))
            }
            "read" => fs::read_to_string(path(&text(self.family.path))).map_err(|error| error.to_string()),
            "grep" => shell(self.folder, &format!("grep -rn '{}' {}", text("pattern"), text("path"))),
            "glob" => shell(self.folder, "find . -type f"),
            "todo" | "todowrite" => Ok("ok".to_owned()),
            "task" | "agent" => Ok(Box::pin(self.run(&text("prompt"))).await),
            _ => Err(format!("no tool {name}")),
        };
        self.called.push(name);
        match outcome {
            Ok(text) => (text, false),
            Err(text) => {
                self.failures.push(text.clone());
                (text, true)
            }
        }
    }
}

fn texts(content: &Value) -> String {
    let blocks = content.as_array().expect("blocks").iter();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

fn shell(folder: &Path, command: &str) -> Result<String, String> {
    let output = Command::new("sh").arg("-c").arg(command).current_dir(folder).output().expect("a shell");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() { Ok(text) } else { Err(text) }
}

fn write(path: &Path, content: &str) -> Result<String, String> {
    let written =
        fs::create_dir_all(path.parent().expect("a folder")).and_then(|()| fs::write(path, content));
    written.map(|()| "written".to_owned()).map_err(|error| error.to_string())
}

fn edit(path: &Path, old: &str, new: &str) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    if text.matches(old).count() != 1 {
        return Err("the old text is not there exactly once".to_owned());
    }
    write(path, &text.replace(old, new))
}

async fn agent<'a>(bench: &Bench, family: Family, folder: &'a Path) -> Agent<'a> {
    Agent { family, folder, client: bench.connect().await, called: Vec::new(), failures: Vec::new() }
}

#[tokio::test]
async fn the_dashboard_is_built_checked_reviewed_and_mended_by_either_family_of_agents() {
    let cases = [
        (builtin(), ["todo", "write", "write", "todo", "bash", "todo", "grep", "task", "edit", "todo"]),
        (
            claude_code(),
            [
                "todowrite",
                "write",
                "write",
                "todowrite",
                "bash",
                "todowrite",
                "grep",
                "agent",
                "edit",
                "todowrite",
            ],
        ),
    ];
    for (family, expected) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = Bench::with_demo();
        let mut agent = agent(&bench, family, folder.path()).await;
        let last_words = agent.run("Build me a dashboard of our sales").await;
        assert_eq!((agent.called, agent.failures), (expected.map(str::to_owned).to_vec(), Vec::new()));
        assert!(
            last_words.starts_with("The dashboard is ready: `outputs/dashboard/index.html`"),
            "{last_words}"
        );
        let page = fs::read_to_string(folder.path().join("outputs/dashboard/index.html")).expect("the page");
        assert!(page.contains("<h2>Revenue by month, in thousands of US dollars</h2>"));
        assert!(folder.path().join("outputs/data/sales.csv").is_file());
    }
}

#[tokio::test]
async fn a_failing_tool_is_noticed_and_worked_around() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::with_demo();
    let mut agent = agent(&bench, builtin(), folder.path()).await;
    let last_words = agent.run("Show me a failing tool").await;
    assert_eq!(agent.called, ["bash", "write", "bash"]);
    assert_eq!(agent.failures.len(), 1);
    assert!(last_words.contains("```text\n42\n```"), "{last_words}");
}

#[tokio::test]
async fn small_requests_do_what_they_say() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("run: echo $((6 * 7))", &["bash"], "The command printed:\n\n```text\n42\n```"),
        ("run: echo no >&2; exit 3", &["bash"], "The command failed:\n\n```text\nno\n```"),
        ("create file a/b.txt with hello", &["write"], "Wrote `a/b.txt` (6 bytes)."),
        ("read file a/b.txt", &["read"], "`a/b.txt` has 1 line:\n\n```text\nhello\n```"),
        ("list the files", &["glob"], "The workspace contains:\n\n```text\n./a/b.txt\n```"),
        ("sleep 0", &["bash"], "Waited for 0 seconds."),
        ("big output 1 MB", &["bash"], "The tool printed 1 MB; I received 1000000 bytes of it."),
        ("count to 5", &[], "1 2 3 4 5"),
        ("remember that I like teal", &[], "I'll remember: I like teal"),
        (
            "use tools in parallel",
            &["bash", "bash", "glob"],
            "All of them have finished:\n\n1. done: one\n2. done: two\n3. done: ./a/b.txt\n",
        ),
        (
            "ask a subagent for a review",
            &["glob", "task"],
            "The reviewer reports:\n\n```text\nI listed the workspace (1 line). Nothing needs to be fixed.\n```",
        ),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::with_demo();
    let mut agent = agent(&bench, builtin(), folder.path()).await;
    for (prompt, called, last_words) in cases {
        agent.called.clear();
        assert_eq!(agent.run(prompt).await, *last_words);
        assert_eq!(agent.called, *called, "{prompt}");
    }
}

#[tokio::test]
async fn what_was_said_earlier_in_the_conversation_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::with_demo();
    let mut agent = agent(&bench, builtin(), folder.path()).await;
    let mut messages = vec![json!({ "role": "user", "content": "remember the word teapot" })];
    let content = agent.ask(&messages).await;
    messages.push(json!({ "role": "assistant", "content": content }));
    messages.push(json!({ "role": "user", "content": "what did I say?" }));
    assert_eq!(texts(&agent.ask(&messages).await), "You asked me to remember: the word teapot");
}
