//! Threads of subagents, put in their places.

use std::collections::{HashMap, VecDeque};

use warren_domain::{Block, BlockStatus, Content, ConversationId, Conversations, Timestamp};

use super::story::Story;
use crate::{
    claude_code::{agents::names_agents, blocks::unnamed_agent},
    subagent::Thread,
};

/// Where a call is: in which story (0 is the conversation itself), and which of its calls.
#[derive(Clone, Copy)]
struct Call {
    story: usize,
    place: usize,
}

/// All threads, opened and closed as if they were being watched.
pub(super) fn assembled(main: Story, threads: Vec<Story>) -> Conversations {
    let mut stories: Vec<Story> = std::iter::once(main).chain(threads).collect();
    let (called_by, is_all_known) = callers(&stories);
    let ids: Vec<ConversationId> = (0..stories.len()).map(|n| id(&stories, n, called_by[n])).collect();
    name_calls(&mut stories, &called_by, &ids);
    let frames: Vec<Frame> = called_by.iter().map(|call| Frame::of(&stories, *call)).collect();
    let mut stories =
        stories.into_iter().zip(ids).zip(frames).map(|((story, id), frame)| (story.blocks, id, frame));
    let main = stories.next().map(|(blocks, ..)| blocks).unwrap_or_default();
    let is_shown = |(blocks, _, frame): &(Vec<Block>, ConversationId, Frame)| {
        frame.is_called || !(is_warm_up(blocks) || is_all_known && is_taskless(blocks))
    };
    let mut opened: Vec<(ConversationId, Vec<Block>)> =
        stories.filter(is_shown).map(|(blocks, id, frame)| frame.around(blocks, id)).collect();
    // The sort is stable: threads that opened in the same moment stay in the order of their files.
    opened.sort_by_key(|(_, blocks)| blocks.first().map(Block::timestamp));
    Conversations::of_threads(main, opened)
}

/// How a thread opens and closes.
struct Frame {
    is_called: bool,
    name: String,
    /// What its call gave it to do. Some versions do not write it into the thread.
    task: Option<String>,
    ended: Option<(BlockStatus, Timestamp)>,
}

impl Frame {
    fn of(stories: &[Story], call: Option<Call>) -> Self {
        let task = call.and_then(|call| task(&stories[call.story], call)).map(str::to_owned);
        let call = call.map(|call| (&stories[call.story], &stories[call.story].agents[call.place]));
        let name = call.and_then(|(story, call)| match &story.blocks[call.place] {
            Block::Subagent { name, .. } => name.clone(),
            _ => None,
        });
        Self {
            is_called: call.is_some(),
            name: name.unwrap_or_else(|| "general-purpose".to_owned()),
            task,
            ended: call.and_then(|(_, call)| call.ended),
        }
    }

    fn around(self, blocks: Vec<Block>, id: ConversationId) -> (ConversationId, Vec<Block>) {
        let thread = Thread { id, name: Some(self.name) };
        let blocks = framed(&thread, blocks, self.task, self.ended);
        (thread.id, blocks)
    }
}

/// For each story the call that started it: the one that names it, else the first whose task is its first message. Also
/// whether every call has found its story.
fn callers(stories: &[Story]) -> (Vec<Option<Call>>, bool) {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (n, story) in stories.iter().enumerate().skip(1) {
        story.agent_id.as_deref().map(|id| by_name.insert(id, n));
    }
    let mut called_by = vec![None; stories.len()];
    let mut nameless = Vec::new();
    for (story, told) in stories.iter().enumerate() {
        for (place, call) in told.agents.iter().enumerate() {
            let call_of = Call { story, place };
            match call.agent_id.as_deref().and_then(|id| by_name.get(id)) {
                Some(n) => called_by[*n] = Some(call_of),
                None => nameless.push(call_of),
            }
        }
    }
    let mut by_task: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for n in (1..stories.len()).filter(|n| called_by[*n].is_none()) {
        if let Some(task) = first_message(&stories[n].blocks) {
            by_task.entry(task).or_default().push_back(n);
        }
    }
    let mut is_all_known = true;
    for call in nameless {
        let found = task(&stories[call.story], call).and_then(|task| by_task.get_mut(task));
        match found.and_then(VecDeque::pop_front) {
            Some(n) => called_by[n] = Some(call),
            None => is_all_known = false,
        }
    }
    (called_by, is_all_known)
}

fn id(stories: &[Story], n: usize, caller: Option<Call>) -> ConversationId {
    let story = &stories[n];
    let named = story.agent_id.as_deref();
    let id = match (named, caller) {
        (Some(id), caller) if caller.is_none() || names_agents(story.version.as_deref()) => id.to_owned(),
        (_, Some(call)) => unnamed_agent(&stories[call.story].agents[call.place].id),
        (named, None) => named.map_or_else(|| format!("sidechain-{n}"), str::to_owned),
    };
    ConversationId(id).bounded()
}

/// Puts the threads' names into the blocks that stand for them.
fn name_calls(stories: &mut [Story], called_by: &[Option<Call>], ids: &[ConversationId]) {
    let mut names: HashMap<(usize, usize), &ConversationId> = HashMap::new();
    for (call, id) in called_by.iter().zip(ids) {
        call.map(|call| names.insert((call.story, call.place), id));
    }
    for (n, story) in stories.iter_mut().enumerate() {
        let says_names = names_agents(story.version.as_deref());
        for (place, call) in story.agents.iter().enumerate() {
            let own = call.agent_id.clone().filter(|_| says_names);
            let name = names.get(&(n, place)).map(|id| id.0.clone()).or(own);
            if let (Some(name), Block::Subagent { subagent_id, .. }) = (name, &mut story.blocks[call.place]) {
                *subagent_id = name;
            }
        }
    }
}

/// The thread's blocks between those that open and close it.
fn framed(
    thread: &Thread,
    blocks: Vec<Block>,
    task: Option<String>,
    ending: Option<(BlockStatus, Timestamp)>,
) -> Vec<Block> {
    let mut blocks = blocks.into_iter().peekable();
    let opened_at = blocks.peek().map(Block::timestamp).unwrap_or_default();
    let mut framed = vec![thread.start(opened_at)];
    if let Some(Block::UserMessage { content, timestamp, .. }) =
        blocks.next_if(|block| matches!(block, Block::UserMessage { .. }))
    {
        framed.push(thread.task(content, timestamp));
    } else if let Some(task) = task {
        framed.push(thread.task(Content::Text(task), opened_at));
    }
    framed.extend(blocks);
    if let Some((status, at)) = ending {
        // A subagent may be asked again after it ended.
        let place = framed.iter().position(|block| block.timestamp() > at).unwrap_or(framed.len());
        framed.insert(place, thread.end(status, at));
    }
    framed
}

fn task(story: &Story, call: Call) -> Option<&str> {
    match &story.blocks[story.agents[call.place].place] {
        Block::Subagent { input, .. } => input.as_str(),
        _ => None,
    }
}

fn first_message(blocks: &[Block]) -> Option<&str> {
    match blocks.first()? {
        Block::UserMessage { content: Content::Text(text), .. } => Some(text),
        _ => None,
    }
}

/// Nobody asked for what this thread says: a version that leaves tasks out leaves out what shows a warm-up too.
fn is_taskless(blocks: &[Block]) -> bool {
    blocks.iter().all(|block| matches!(block, Block::AssistantText { .. } | Block::Thinking { .. }))
}

/// Some versions start subagents only to have them at hand.
fn is_warm_up(blocks: &[Block]) -> bool {
    first_message(blocks) == Some("Warmup")
}
