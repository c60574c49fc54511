//! Drives a real agent through its adapter, for whoever writes one: starts the process that the adapter describes,
//! lays out its files, feeds the codec, and prints what comes out, a line each.
//!
//! ```text
//! drive AGENT HOME WORKSPACE PROMPT [key=value]…
//!   program:NAME=WORDS   words that start an installed program
//!   responses|chat|anthropic|gemini=URL   a model API
//!   command=WORDS  model=NAME  mode=ask  answer=allow|allow_always|deny  state=JSON
//!   interrupt=TEXT  steer=TEXT   when an output holds TEXT
//!   mcp=JSON  quiet=1
//!   record=DIRECTORY   keeps what was said, in `stream`, and what the agent wrote of it, in `main`, `subagents/`, `others/`
//!   both=1             the recording holds both directions, as `{"dir", "t", "msg"}`
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
#![allow(clippy::disallowed_methods, reason = "it is the one who owns a process and a clock")]
#![allow(clippy::expect_used, reason = "what is wrong with its arguments is best said at once")]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use uuid::Uuid;
use warren_agents::{
    Adapter, Answer, Codec, Exit, LaunchRequest, LayoutRequest, ModelApi, ModelEndpoint, Output, Place,
    Prompt, TranscriptName, adapter,
};
use warren_domain::{
    AgentProfile, ApprovalDecision, BlockId, Content, McpServer, PermissionMode, ProfileId, SessionId,
    Timestamp,
};

/// What the command line says.
struct Options {
    agent: &'static dyn Adapter,
    home: String,
    workspace: String,
    prompt: String,
    settings: BTreeMap<String, String>,
}

fn main() {
    let options = Options::read();
    let (programs, endpoints) = (options.programs(), options.endpoints());
    let profile = options.profile();
    let state = options.settings.get("state").map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
    let mode = match options.settings.get("mode").map(String::as_str) {
        Some("ask") => PermissionMode::Ask,
        _ => PermissionMode::Auto,
    };
    let model = options.settings.get("model").map(String::as_str);
    options.lay_out(&LayoutRequest {
        profile: &profile,
        endpoints: &endpoints,
        model,
        permission_mode: mode,
    });
    let request = LaunchRequest {
        session: SessionId(Uuid::nil()),
        workspace: &options.workspace,
        home: &options.home,
        resume: state.is_some(),
        state: state.as_ref(),
        permission_mode: mode,
        programs: &programs,
        model,
        effort: None,
        context_window: |_| None,
        profile: &profile,
        endpoints: &endpoints,
    };
    Drive::start(&options, &request).run();
}

impl Options {
    fn read() -> Self {
        let mut words = std::env::args().skip(1);
        let mut next = |what: &str| words.next().unwrap_or_else(|| panic!("{what} is missing"));
        let (agent, home) = (next("AGENT"), next("HOME"));
        let (workspace, prompt) = (next("WORKSPACE"), next("PROMPT"));
        let pair = |word: String| {
            let (key, value) = word.split_once('=').expect("key=value");
            (key.to_owned(), value.to_owned())
        };
        Self {
            agent: adapter(&agent).expect("an agent there is"),
            home,
            workspace,
            prompt,
            settings: words.map(pair).collect(),
        }
    }

    fn programs(&self) -> BTreeMap<String, Vec<String>> {
        let program = |(key, value): (&String, &String)| {
            let name = key.strip_prefix("program:")?;
            Some((name.to_owned(), value.split(' ').map(str::to_owned).collect()))
        };
        self.settings.iter().filter_map(program).collect()
    }

    fn endpoints(&self) -> Vec<ModelEndpoint> {
        let apis = [
            ("responses", ModelApi::OpenAiResponses),
            ("chat", ModelApi::OpenAiChat),
            ("anthropic", ModelApi::Anthropic),
            ("gemini", ModelApi::Gemini),
        ];
        let endpoint = |(key, api)| {
            let base_url = self.settings.get(key)?.clone();
            Some(ModelEndpoint { api, base_url, placeholder_key: "placeholder".to_owned() })
        };
        apis.into_iter().filter_map(endpoint).collect()
    }

    fn profile(&self) -> AgentProfile {
        let mut profile = AgentProfile::empty(ProfileId::from("drive"));
        let words = self.settings.get("command");
        profile.command = words.map(|words| words.split(' ').map(str::to_owned).collect());
        let server =
            self.settings.get("mcp").map(|text| serde_json::from_str::<McpServer>(text).expect("a server"));
        profile.bundled_mcps.extend(server);
        profile
    }

    fn lay_out(&self, request: &LayoutRequest<'_>) {
        for file in self.agent.layout(request) {
            let root = match file.place {
                Place::Home => Path::new(&self.home).to_owned(),
                Place::Workspace => Path::new(&self.workspace).to_owned(),
                Place::Instructions => Path::new(&self.home).join("instructions"),
            };
            let path = root.join(&file.path);
            fs::create_dir_all(path.parent().expect("beneath a root")).expect("a directory");
            fs::write(path, file.content).expect("written");
        }
    }
}

struct Drive<'a> {
    options: &'a Options,
    recording: Option<Recording>,
    codec: Box<dyn Codec>,
    child: Child,
    stdin: Option<ChildStdin>,
    ended: Option<Instant>,
    asked_once: bool,
}

impl<'a> Drive<'a> {
    fn start(options: &'a Options, request: &LaunchRequest<'_>) -> Self {
        let launch = options.agent.launch(request).expect("a launch");
        eprintln!("{:?}", launch.argv);
        let mut child = Command::new(&launch.argv[0])
            .args(&launch.argv[1..])
            .envs(&launch.env)
            .current_dir(&launch.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let stdin = child.stdin.take();
        Self {
            options,
            recording: options.settings.get("record").map(|directory| Recording::begin(options, directory)),
            codec: options.agent.codec(request),
            child,
            stdin,
            ended: None,
            asked_once: false,
        }
    }

    fn run(mut self) {
        let prompt = self.prompt(&self.options.prompt);
        let mut out = Vec::new();
        self.codec.begin(&prompt, now(), &mut out);
        self.perform(out);
        let stdout = self.child.stdout.take().expect("its output");
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.expect("a line");
            self.note("agent->client", &line);
            let mut out = Vec::new();
            self.codec.decode(&line, now(), &mut out);
            self.perform(out);
        }
        let status = self.child.wait().expect("an end");
        let exited_after = self.ended.map(|at| at.elapsed());
        let mut out = Vec::new();
        self.codec.ended(&Exit { code: status.code(), signal: None }, now(), &mut out);
        self.perform(out);
        eprintln!("{status}, {exited_after:?} after the turn");
        if let Some(recording) = &self.recording {
            recording.keep_transcripts(self.options);
        }
    }

    fn note(&mut self, direction: &str, line: &[u8]) {
        if let Some(recording) = &mut self.recording {
            recording.note(direction, line);
        }
    }

    fn prompt(&self, text: &str) -> Prompt {
        Prompt { message: BlockId(format!("msg-{}", Uuid::now_v7())), content: Content::from(text) }
    }

    fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            let shown = shown(&output);
            if !self.options.settings.contains_key("quiet") {
                println!("{shown}");
            }
            match output {
                Output::Send(bytes) => {
                    self.note("client->agent", bytes.trim_ascii_end());
                    if let Some(stdin) = &mut self.stdin {
                        // An agent that is gone reads nothing; its end says so.
                        let _ = stdin.write_all(&bytes).and_then(|()| stdin.flush());
                    }
                }
                Output::Asked(ask) => self.answer(&ask.key),
                Output::TurnEnded(_) => {
                    self.stdin = None;
                    self.ended = Some(Instant::now());
                    self.kill_later();
                }
                Output::Event(_) | Output::Withdrawn(_) | Output::Unapproved { .. } | Output::State(_) => {}
            }
            self.disturb(&shown.to_string());
        }
    }

    fn answer(&mut self, key: &str) {
        let decision = match self.options.settings.get("answer").map(String::as_str) {
            Some("deny") => ApprovalDecision::Deny,
            Some("allow_always") => ApprovalDecision::AllowAlways,
            _ => ApprovalDecision::Allow,
        };
        let mut out = Vec::new();
        self.codec.answer(key, &Answer { decision, message: None, answers: None }, now(), &mut out);
        self.perform(out);
    }

    /// Interrupts or steers, once, when it is time.
    fn disturb(&mut self, shown: &str) {
        let is_time =
            |key: &str| self.options.settings.get(key).is_some_and(|text| shown.contains(text.as_str()));
        let (interrupts, steers) = (is_time("interrupt"), is_time("steer"));
        if self.asked_once || !(interrupts || steers) {
            return;
        }
        self.asked_once = true;
        let (mut out, prompt) = (Vec::new(), self.prompt("and this too"));
        let heard = if interrupts {
            self.codec.interrupt(&mut out)
        } else {
            self.codec.steer(&prompt, now(), &mut out)
        };
        eprintln!("disturbed: {heard}");
        self.perform(out);
    }

    /// Kills what does not exit by itself.
    fn kill_later(&self) {
        let id = self.child.id();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(5));
            eprintln!("it does not exit: killed");
            // If that fails, it is gone.
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        });
    }
}

/// What is kept of a run, for a fixture.
struct Recording {
    directory: PathBuf,
    stream: fs::File,
    began: Instant,
    holds_both: bool,
}

impl Recording {
    fn begin(options: &Options, directory: &str) -> Self {
        let directory = PathBuf::from(directory);
        fs::create_dir_all(&directory).expect("a directory");
        let stream = fs::File::create(directory.join("stream")).expect("a file");
        let holds_both = options.settings.contains_key("both");
        Self { directory, stream, began: Instant::now(), holds_both }
    }

    fn note(&mut self, direction: &str, line: &[u8]) {
        let written = if self.holds_both {
            let text = String::from_utf8_lossy(line);
            let message = serde_json::from_str::<Value>(&text).unwrap_or_else(|_| json!(text));
            writeln!(
                self.stream,
                "{}",
                json!({"dir": direction, "t": self.began.elapsed().as_millis() as u64, "msg": message})
            )
        } else if direction == "agent->client" {
            self.stream.write_all(line).and_then(|()| self.stream.write_all(b"\n"))
        } else {
            Ok(())
        };
        written.expect("written");
    }

    /// Copies what the agent itself keeps of the session.
    fn keep_transcripts(&self, options: &Options) {
        let plan = options.agent.transcripts(SessionId(Uuid::nil()));
        let root = Path::new(&options.home).join(plan.root());
        let paths = files_beneath(&root);
        let paths: Vec<&str> =
            paths.iter().filter_map(|path| path.strip_prefix(&root).ok()?.to_str()).collect();
        for (path, file) in paths.iter().zip(plan.files(&paths)) {
            let name = match file.map(|file| file.name) {
                Some(TranscriptName::Main) => "main".to_owned(),
                Some(TranscriptName::Subagent(id)) => format!("subagents/{id}"),
                Some(TranscriptName::Other(_)) | None => continue,
            };
            let to = self.directory.join(name);
            // If two files have one name, the longer counts.
            let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
            if length(&root.join(path)) >= length(&to) {
                fs::create_dir_all(to.parent().expect("beneath a directory")).expect("a directory");
                fs::copy(root.join(path), to).expect("copied");
            }
        }
    }
}

fn files_beneath(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut pending) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or_default())
}

fn shown(output: &Output) -> Value {
    match output {
        Output::Event(draft) => serde_json::to_value(draft).unwrap_or_default(),
        Output::Send(bytes) => json!({"send": String::from_utf8_lossy(bytes)}),
        Output::Asked(ask) => json!({"asked": ask.key, "title": ask.title, "detail": ask.detail}),
        Output::Withdrawn(key) => json!({"withdrawn": key}),
        Output::Unapproved { tool_use_id, .. } => json!({"unapproved": tool_use_id}),
        Output::State(state) => json!({"state": state}),
        Output::TurnEnded(end) => json!({"ended": end}),
    }
}
