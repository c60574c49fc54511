//! Gemini CLI: `stream.jsonl` (`1_stream.jsonl`, `2_stream.jsonl` … for several processes) is what it printed,
//! `exit_code.txt` how each ended, and `chats/` what it kept. A stream that the guest's `follow` printed holds the lines
//! of the chats too.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use proptest::prelude::{Strategy, any, proptest};
use serde_json::Value;
use warren_agents::{Adapter, Codec, Exit, Output, Parsed, adapter};
use warren_domain::{Block, BlockStatus, Conversations};

use crate::support::{cases, check_case, files, folded, now};

/// The cases whose events and blocks are written down.
const WRITTEN_DOWN: [&str; 0] = [];

/// One recording.
struct Recording {
    directory: PathBuf,
    /// What each process printed, and its exit code.
    runs: Vec<(Vec<u8>, Option<i32>)>,
    /// The longest chat is the session's own: resuming leaves short ones beside it.
    main: Option<Vec<u8>>,
    subagents: Vec<(String, Vec<u8>)>,
}

impl Recording {
    fn read(directory: PathBuf) -> Self {
        let run = |prefix: &str| {
            let stream = fs::read(directory.join(format!("{prefix}stream.jsonl"))).ok()?;
            let code = fs::read_to_string(directory.join(format!("{prefix}exit_code.txt"))).unwrap_or_default();
            Some((stream, code.trim().parse().ok()))
        };
        let several = (1..).map_while(|n| run(&format!("{n}_")));
        let chats = files(&directory.join("chats"));
        let (threads, mains): (Vec<PathBuf>, Vec<PathBuf>) = chats.into_iter().partition(|path| path.is_dir());
        let mains = mains.iter().map(|path| fs::read(path).expect("readable"));
        Self {
            runs: run("").into_iter().chain(several).collect(),
            main: mains.max_by_key(Vec::len),
            subagents: threads.iter().flat_map(|path| files(path)).map(|path| thread(&path)).collect(),
            directory,
        }
    }

    fn name(&self) -> &str {
        self.directory.file_name().and_then(|name| name.to_str()).expect("a name")
    }

    fn outputs(&self) -> Vec<Output> {
        self.runs.iter().flat_map(|(stream, code)| decoded(gemini().recorded(), stream, *code)).collect()
    }

    /// The same as it would be without `follow`.
    fn outputs_of_stdout(&self) -> Vec<Output> {
        let own = |line: &&[u8]| !line.starts_with(br#"{"type":"warren.file""#);
        let stdout = |stream: &[u8]| -> Vec<u8> {
            stream.split(|byte| *byte == b'\n').filter(own).collect::<Vec<_>>().join(&b'\n')
        };
        self.runs
            .iter()
            .flat_map(|(stream, code)| decoded(gemini().recorded(), &stdout(stream), *code))
            .collect()
    }

    fn is_followed(&self) -> bool {
        self.runs.iter().any(|(stream, _)| stream.starts_with(br#"{"type":"warren.file""#))
    }

    fn parsed(&self) -> Option<Parsed> {
        self.main.as_ref().map(|main| gemini().parse(main, &self.subagents))
    }
}

fn gemini() -> &'static dyn Adapter {
    adapter("gemini-cli").expect("an agent we know")
}

fn recordings() -> Vec<Recording> {
    cases("gemini-cli").into_iter().map(Recording::read).collect()
}

fn thread(path: &Path) -> (String, Vec<u8>) {
    let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
    (id, fs::read(path).expect("readable"))
}

fn decoded(mut codec: Box<dyn Codec>, stream: &[u8], code: Option<i32>) -> Vec<Output> {
    let mut out = Vec::new();
    stream.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, now(), &mut out));
    codec.ended(&Exit { code, signal: None }, now(), &mut out);
    out
}

/// What one source has and the other cannot have, by rule.
mod rules {
    use super::{Block, BlockStatus, Value};

    /// A chat holds no errors, and nothing of what was being said or called when the process was stopped.
    pub(super) fn is_only_printed(block: &Block, is_stopped: bool) -> bool {
        let is_cut = matches!(
            block,
            Block::ToolUse { status, .. } | Block::Subagent { status, .. }
                if matches!(status, BlockStatus::Pending | BlockStatus::Running)
        );
        let is_unsaved_text = is_stopped && matches!(block, Block::AssistantText { .. });
        matches!(block, Block::Error { .. }) || is_cut || is_unsaved_text
    }

    /// Stdout knows no thoughts and no summaries.
    pub(super) fn is_only_written(block: &Block) -> bool {
        matches!(block, Block::Thinking { .. } | Block::System { .. })
    }

    /// Stdout prints a line a moment after, or before, the file gets it; of answers it shows what a screen would; of
    /// subagents it knows neither the thread nor the report; and with `auto` it does not say which model spoke.
    pub(super) fn as_stdout_has_it(block: &Block) -> Value {
        let mut value = serde_json::to_value(block).expect("JSON");
        let fields = value.as_object_mut().expect("an object");
        for name in ["timestamp", "output", "renderOutputAsMarkdown", "subagentId", "model"] {
            fields.remove(name);
        }
        value
    }
}

/// Whether the last process was stopped, or never came to an end.
fn is_stopped(outputs: &[Output]) -> bool {
    !outputs.iter().any(|output| {
        matches!(output, Output::TurnEnded(warren_agents::TurnEnd::Completed { .. }))
    })
}

#[test]
fn what_is_printed_and_what_is_kept_give_the_same_blocks() {
    for recording in recordings() {
        let Some(parsed) = recording.parsed() else { continue };
        let outputs = recording.outputs_of_stdout();
        let live = folded(&outputs);
        let kept: HashMap<&str, &Block> =
            parsed.conversations.main().iter().map(|block| (block.id().as_str(), block)).collect();
        // A prompt that the model refused is taken back in the file.
        let is_taken_back = |block: &Block| {
            matches!(block, Block::UserMessage { .. }) && is_stopped(&outputs) && !kept.contains_key(block.id().as_str())
        };
        let printed: Vec<Value> = live
            .main()
            .iter()
            .filter(|block| !rules::is_only_printed(block, is_stopped(&outputs)) && !is_taken_back(block))
            .map(rules::as_stdout_has_it)
            .collect();
        let written: Vec<Value> = parsed
            .conversations
            .main()
            .iter()
            .filter(|block| !rules::is_only_written(block))
            .map(rules::as_stdout_has_it)
            .collect();
        assert_eq!(printed, written, "{}", recording.name());
        assert_eq!((parsed.n_unreadable, parsed.unrecognized), (0, Vec::new()), "{}", recording.name());
    }
}
