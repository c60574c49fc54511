//! Recordings of Gemini, and what comes of them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use warren_agents::{Adapter, Codec, Exit, LaunchRequest, Output, Parsed, TurnEnd, adapter};
use warren_domain::{AgentProfile, PermissionMode, ProfileId, SessionId};

use crate::support::{cases, files, now};

/// One recording.
pub(super) struct Recording {
    pub(super) directory: PathBuf,
    /// What each process printed, and its exit code.
    pub(super) runs: Vec<(Vec<u8>, Option<i32>)>,
    /// The longest chat is the session's own: resuming leaves short ones beside it.
    pub(super) main: Option<Vec<u8>>,
    pub(super) subagents: Vec<(String, Vec<u8>)>,
}

impl Recording {
    pub(super) fn read(directory: PathBuf) -> Self {
        let run = |prefix: &str| {
            let stream = fs::read(directory.join(format!("{prefix}stream.jsonl"))).ok()?;
            let code =
                fs::read_to_string(directory.join(format!("{prefix}exit_code.txt"))).unwrap_or_default();
            Some((stream, code.trim().parse().ok()))
        };
        let several = (1..).map_while(|n| run(&format!("{n}_")));
        let chats = files(&directory.join("chats"));
        let (threads, mains): (Vec<PathBuf>, Vec<PathBuf>) =
            chats.into_iter().partition(|path| path.is_dir());
        let mains = mains.iter().map(|path| fs::read(path).expect("readable"));
        Self {
            runs: run("").into_iter().chain(several).collect(),
            main: mains.max_by_key(Vec::len),
            subagents: threads.iter().flat_map(|path| files(path)).map(|path| thread(&path)).collect(),
            directory,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.directory.file_name().and_then(|name| name.to_str()).expect("a name")
    }

    /// What comes of it, each process with what the one before said must be known.
    pub(super) fn outputs(&self) -> Vec<Output> {
        self.outputs_of(<[u8]>::to_vec)
    }

    pub(super) fn outputs_of(&self, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Output> {
        let mut all = Vec::new();
        let mut state = None;
        for (stream, code) in &self.runs {
            let outputs = decoded(codec(state.as_ref()), &change(stream), *code);
            state = outputs.iter().rev().find_map(|output| match output {
                Output::State(state) => Some(state.clone()),
                _ => None,
            });
            all.extend(outputs);
        }
        all
    }

    /// What all processes printed, one after the other, as it would be without `follow`.
    pub(super) fn stdout(&self) -> Vec<u8> {
        let lines = self.runs.iter().flat_map(|(stream, _)| stream.split(|byte| *byte == b'\n'));
        lines.filter(|line| !is_of_file(line)).collect::<Vec<_>>().join(&b'\n')
    }

    /// Whether a process was stopped or failed.
    pub(super) fn has_unfinished_run(&self) -> bool {
        let is_success = |line: &[u8]| {
            let line: Value = serde_json::from_slice(line).unwrap_or_default();
            line["type"] == "result" && line["status"] == "success"
        };
        self.runs.iter().any(|(stream, _)| !stream.split(|byte| *byte == b'\n').any(is_success))
    }

    pub(super) fn is_followed(&self) -> bool {
        self.runs.iter().all(|(stream, _)| stream.split(|byte| *byte == b'\n').any(is_of_file))
    }

    pub(super) fn parsed(&self) -> Option<Parsed> {
        self.main.as_ref().map(|main| gemini().parse(main, &self.subagents))
    }
}

pub(super) fn gemini() -> &'static dyn Adapter {
    adapter("gemini-cli").expect("an agent we know")
}

/// The codec of a process that goes on from `state`.
pub(super) fn codec(state: Option<&Value>) -> Box<dyn Codec> {
    let profile = AgentProfile::empty(ProfileId("p".to_owned()));
    let request = LaunchRequest {
        effort: None,
        context_window: |_| None,
        session: SessionId(uuid::Uuid::nil()),
        workspace: "/workspace",
        home: "/home/agent",
        resume: state.is_some(),
        state,
        permission_mode: PermissionMode::Auto,
        programs: &BTreeMap::new(),
        model: None,
        profile: &profile,
        endpoints: &[],
    };
    gemini().codec(&request)
}

pub(super) fn is_of_file(line: &[u8]) -> bool {
    line.starts_with(br#"{"type":"warren.file""#)
}

pub(super) fn recordings() -> Vec<Recording> {
    cases("gemini-cli").into_iter().map(Recording::read).collect()
}

pub(super) fn thread(path: &Path) -> (String, Vec<u8>) {
    let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
    (id, fs::read(path).expect("readable"))
}

pub(super) fn decoded(mut codec: Box<dyn Codec>, stream: &[u8], code: Option<i32>) -> Vec<Output> {
    let mut out = Vec::new();
    stream.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, now(), &mut out));
    codec.ended(&Exit { code, signal: None }, now(), &mut out);
    out
}

/// How turns ended.
pub(super) fn ends(outputs: &[Output]) -> Vec<TurnEnd> {
    let end = |output: &Output| if let Output::TurnEnded(end) = output { Some(end.clone()) } else { None };
    outputs.iter().filter_map(end).collect()
}
