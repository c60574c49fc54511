//! A place for an agent to work in, and the agent working in it.

use std::{
    cell::RefCell,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use warren_domain::{Block, ConversationId, Conversations, Draft};

use crate::model::Model;

const SESSION: &str = "01990000-0000-7000-8000-000000000001";

/// Long enough for a busy machine; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A workspace, a home and a profile of one session.
pub(crate) struct Place {
    root: TempDir,
    /// What all runs printed, folded.
    live: RefCell<Conversations>,
    /// What each run printed, as it was.
    lines: RefCell<Vec<String>>,
}

/// The agent at work.
pub(crate) struct Run<'a> {
    place: &'a Place,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Option<thread::JoinHandle<String>>,
    drafts: Vec<Draft>,
    /// Lines that are no drafts.
    asides: Vec<Value>,
    end: Option<Value>,
}

/// What came of a run.
pub(crate) struct Done {
    pub(crate) drafts: Vec<Draft>,
    /// What it asked people, and what it took back of that.
    pub(crate) asides: Vec<Value>,
    /// The last line, without its type.
    pub(crate) end: Value,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        for name in ["workspace", "home", "instructions"] {
            fs::create_dir(root.path().join(name)).expect("made");
        }
        Self { root, live: RefCell::default(), lines: RefCell::default() }
    }

    pub(crate) fn workspace(&self, path: &str) -> PathBuf {
        self.root.path().join("workspace").join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.workspace(path), text).expect("written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.workspace(path)).expect("readable")
    }

    pub(crate) fn instruct(&self, name: &str, text: &str) {
        fs::write(self.root.path().join("instructions").join(name), text).expect("written");
    }

    pub(crate) fn transcript(&self, name: &str) -> PathBuf {
        self.root.path().join("home/.warren/sessions").join(SESSION).join(name)
    }

    /// Starts the agent, without a word to it.
    pub(crate) fn start(&self, model: &Model) -> Run<'_> {
        self.start_as(model, "scripted-1", &[])
    }

    pub(crate) fn start_as(&self, model: &Model, name: &str, more: &[&str]) -> Run<'_> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_warren-guest"))
            .args(["agent", "--session", SESSION, "--model", name, "--clock-speed", "1000", "--instructions"])
            .arg(self.root.path().join("instructions"))
            .args(more)
            .current_dir(self.workspace(""))
            .env("HOME", self.root.path().join("home"))
            .env("ANTHROPIC_BASE_URL", &model.url)
            .env("ANTHROPIC_API_KEY", "placeholder")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        self.lines.borrow_mut().push(String::new());
        let (sender, stdout) = mpsc::channel();
        let reader = BufReader::new(child.stdout.take().expect("piped"));
        thread::spawn(move || {
            for line in reader.lines() {
                // The test may have seen enough.
                let _ = sender.send(line.expect("text"));
            }
        });
        let stderr = child.stderr.take().expect("piped");
        Run {
            place: self,
            stdin: child.stdin.take(),
            child,
            stdout,
            stderr: Some(thread::spawn(move || std::io::read_to_string(stderr).expect("text"))),
            drafts: Vec::new(),
            asides: Vec::new(),
            end: None,
        }
    }

    /// Starts the agent with a prompt.
    pub(crate) fn prompt(&self, model: &Model, message: &str, text: &str) -> Run<'_> {
        let mut run = self.start(model);
        run.tell(&json!({"type": "prompt", "message": message, "content": text}));
        run
    }

    /// Starts the agent with a prompt for the model of this name.
    pub(crate) fn prompt_as(&self, model: &Model, name: &str, text: &str) -> Run<'_> {
        let mut run = self.start_as(model, name, &[]);
        run.tell(&json!({"type": "prompt", "message": "m", "content": text}));
        run
    }

    /// Starts the agent with further arguments and a prompt.
    pub(crate) fn prompt_with(&self, model: &Model, more: &[&str], message: &str, text: &str) -> Run<'_> {
        let mut run = self.start_as(model, "scripted-1", more);
        run.tell(&json!({"type": "prompt", "message": message, "content": text}));
        run
    }

    /// Starts the agent, which is to ask before it acts, with a prompt. `more` are further arguments.
    pub(crate) fn prompt_asking(&self, model: &Model, text: &str, more: &[&str]) -> Run<'_> {
        let more = [&["--permission-mode", "ask"], more].concat();
        let mut run = self.start_as(model, "scripted-1", &more);
        run.tell(&json!({"type": "prompt", "message": "m", "content": text}));
        run
    }

    /// The main thread as it was printed, without times.
    pub(crate) fn blocks(&self) -> Value {
        without_times(self.live.borrow().main())
    }

    /// The main thread as it was kept, without times.
    pub(crate) fn kept_blocks(&self) -> Value {
        without_times(self.kept().main())
    }

    /// The subagents' threads as they were printed, without times.
    pub(crate) fn subagents(&self) -> Vec<(String, Value)> {
        let live = self.live.borrow();
        live.subagents().map(|(id, blocks)| (id.0.clone(), without_times(blocks))).collect()
    }

    fn kept(&self) -> Conversations {
        let mut threads = vec![read_thread(&self.transcript("main.jsonl"), "main")];
        for entry in fs::read_dir(self.transcript("subagents")).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
            threads.push(read_thread(&path, &id));
        }
        threads.sort_by_key(|(opened, _)| *opened);
        let mut kept = Conversations::default();
        threads.iter().flat_map(|(_, drafts)| drafts).for_each(|draft| kept.apply_draft(draft));
        kept
    }

    fn assert_kept_as_shown(&self) {
        let (live, kept) = (self.live.borrow(), self.kept());
        assert_eq!(without_times(kept.main()), without_times(live.main()), "kept and shown differ");
        assert_eq!(kept, *live, "kept and shown differ in times or in subagents");
    }

    /// Keeps what was printed and what was kept as a recording for the adapter, when asked to.
    #[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
    pub(crate) fn record(&self, case: &str) {
        if std::env::var_os("RECORD_FIXTURES").is_none() {
            return;
        }
        let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures/builtin").join(case);
        // It is not there on the first recording.
        let _ = fs::remove_dir_all(&target);
        fs::create_dir_all(target.join("subagents")).expect("made");
        for (n, lines) in self.lines.borrow().iter().enumerate() {
            let name = if n == 0 { "in.jsonl".to_owned() } else { format!("in-{}.jsonl", n + 1) };
            fs::write(target.join(name), self.redacted(lines)).expect("written");
        }
        self.copy("main.jsonl", &target.join("transcript.jsonl"));
        for entry in fs::read_dir(self.transcript("subagents")).into_iter().flatten() {
            let name = entry.expect("an entry").file_name().into_string().expect("text");
            self.copy(&format!("subagents/{name}"), &target.join("subagents").join(name));
        }
        // It stays only if there is something in it.
        let _ = fs::remove_dir(target.join("subagents"));
    }

    fn copy(&self, transcript: &str, target: &Path) {
        let text = fs::read_to_string(self.transcript(transcript)).expect("kept");
        fs::write(target, self.redacted(&text)).expect("written");
    }

    /// Paths as they are in a sandbox.
    fn redacted(&self, text: &str) -> String {
        text.replace(&self.workspace("").display().to_string(), "/workspace/")
    }
}

impl Run<'_> {
    pub(crate) fn tell(&mut self, line: &Value) {
        self.tell_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn tell_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("not hung up").write_all(bytes).expect("it listens");
    }

    /// Returns when the agent has taken the line in: it is followed by more than fits a pipe, and the agent reads
    /// on only after it has dealt with what it read.
    pub(crate) fn tell_and_be_heard(&mut self, line: &Value) {
        self.tell(line);
        let blank = " ".repeat(1_023) + "\n";
        self.tell_bytes(blank.repeat(512).as_bytes());
    }

    pub(crate) fn interrupt(&mut self) {
        self.tell(&json!({"type": "interrupt"}));
    }

    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits until the agent prints something like this.
    pub(crate) fn wait_for(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.next().expect("it prints what is waited for before it ends");
            if is_meant(&line) {
                return line;
            }
        }
    }

    /// Waits for this many lines, or for the end. Says whether they came.
    pub(crate) fn wait_for_lines(&mut self, n_lines: usize) -> bool {
        (0..n_lines).all(|_| self.next().is_some())
    }

    /// Kills the agent without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("alive");
        self.child.wait().expect("dead");
        while self.next().is_some() {}
    }

    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).expect("a pid");
        let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("alive");
    }

    /// Waits until the agent has ended, and checks what it kept.
    pub(crate) fn finish(self) -> Done {
        let place = self.place;
        let done = self.finish_unchecked();
        place.assert_kept_as_shown();
        done
    }

    /// Waits until the agent has ended.
    pub(crate) fn finish_unchecked(mut self) -> Done {
        while self.next().is_some() {}
        let status = self.child.wait().expect("it ends");
        let stderr = self.stderr.take().expect("read once").join().expect("read");
        assert!(status.success(), "{status}: {stderr}");
        let mut end = self.end.take().unwrap_or_default();
        end.as_object_mut().map(|end| end.remove("type"));
        Done {
            drafts: std::mem::take(&mut self.drafts),
            asides: std::mem::take(&mut self.asides),
            end,
            stderr,
        }
    }

    fn next(&mut self) -> Option<Value> {
        let line = match self.stdout.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                panic!("silent for {PATIENCE:?} after {:?}", self.drafts.last())
            }
        };
        assert_eq!(self.end, None, "the last line is the last");
        let value: Value = serde_json::from_str(&line).expect("lines are JSON");
        if value["type"] == "turn_ended" {
            self.end = Some(value.clone());
        } else if matches!(
            value["type"].as_str(),
            Some("approval_asked" | "question_asked" | "approval_withdrawn")
        ) {
            self.asides.push(value.clone());
        } else {
            let draft: Draft = serde_json::from_str(&line).expect("a draft");
            self.place.live.borrow_mut().apply_draft(&draft);
            self.drafts.push(draft);
        }
        let mut runs = self.place.lines.borrow_mut();
        let printed = runs.last_mut().expect("a run began");
        printed.push_str(&line);
        printed.push('\n');
        drop(runs);
        Some(value)
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        // Only after a failed test is it still alive.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_thread(path: &Path, id: &str) -> (Option<u64>, Vec<Draft>) {
    let text = fs::read(path).unwrap_or_default();
    let lines =
        text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let lines: Vec<Value> = lines.collect();
    let opened = lines.iter().find_map(|line| line["native"]["opened"].as_u64());
    let drafts = lines.iter().filter_map(|line| serde_json::from_value::<Draft>(line["event"].clone()).ok());
    (opened, drafts.inspect(|draft| assert_eq!(draft.conversation_id, ConversationId::from(id))).collect())
}

fn without_times(blocks: &[Block]) -> Value {
    let mut blocks = serde_json::to_value(blocks).expect("blocks are JSON");
    for block in blocks.as_array_mut().expect("a list") {
        let fields = block.as_object_mut().expect("an object");
        fields.remove("timestamp");
        fields.remove("durationMs");
    }
    blocks
}
