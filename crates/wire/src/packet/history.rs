//! A conversation as `/api/build` gives it: messages of the user and of the agent, with the agent's packets.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use warren_domain::{Block, BlockId, Event, EventBody, SessionId, Timestamp};

use super::{Packet, PacketBody, Packets};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BuildMessage {
    /// Its permanent ID. A user's message has the ID of its run.
    pub id: Uuid,
    /// Its session.
    pub session_id: SessionId,
    /// Its author.
    #[serde(rename = "type")]
    pub kind: BuildMessageType,
    /// The user's text, or the agent's complete answer.
    pub content: String,
    /// When it was sent, or started.
    pub created_at: Timestamp,
    /// The agent's packets, as streamed; pieces of one text are joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<Packet>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuildMessageType {
    /// A person.
    User,
    /// The agent.
    Assistant,
}

/// Events → messages. Give it the entries of a log in order.
#[derive(Debug, Clone, Default)]
pub struct History {
    packets: Packets,
    messages: Vec<BuildMessage>,
    /// The last message is the agent's, and goes on.
    is_open: bool,
}

impl History {
    /// Takes one entry.
    pub fn apply(&mut self, event: &Event) {
        let packets = self.packets.project(event);
        if let EventBody::BlockComplete { block: Block::UserMessage { id, content, timestamp } } = &event.body
            && event.conversation_id.is_main()
        {
            self.is_open = false;
            self.messages.push(BuildMessage {
                id: message_id(event.session_id, id),
                session_id: event.session_id,
                kind: BuildMessageType::User,
                content: content.to_text(),
                created_at: *timestamp,
                packets: Vec::new(),
            });
        }
        // What happens to the sandbox and to files while nobody speaks is nobody's message.
        let is_of_answer =
            !matches!(event.body, EventBody::SessionStatus { .. } | EventBody::FileChanged { .. });
        for packet in packets {
            if self.is_open || is_of_answer {
                self.add(event, packet);
            }
        }
    }

    /// All messages, oldest first.
    #[must_use]
    pub fn into_messages(self) -> Vec<BuildMessage> {
        self.messages
    }

    fn add(&mut self, event: &Event, packet: Packet) {
        if !self.is_open {
            self.is_open = true;
            self.messages.push(BuildMessage {
                id: Uuid::new_v5(&event.session_id.0, format!("answer-{}", event.seq).as_bytes()),
                session_id: event.session_id,
                kind: BuildMessageType::Assistant,
                content: String::new(),
                created_at: packet.timestamp,
                packets: Vec::new(),
            });
        }
        self.is_open = !packet.body.is_last();
        let Some(message) = self.messages.last_mut() else { return };
        match &packet.body {
            PacketBody::OutputStart {} if !message.content.is_empty() => message.content.push_str("\n\n"),
            PacketBody::OutputDelta { content } => message.content.push_str(content),
            _ => {}
        }
        let joined = message.packets.last_mut().is_some_and(|last| last.body.join(&packet.body));
        if !joined {
            message.packets.push(packet);
        }
    }
}

impl PacketBody {
    /// Takes up the text of a packet that only goes on with this one.
    fn join(&mut self, next: &PacketBody) -> bool {
        match (self, next) {
            (PacketBody::OutputDelta { content }, PacketBody::OutputDelta { content: more }) => {
                content.push_str(more);
                true
            }
            (
                PacketBody::StepDelta { step_id, content },
                PacketBody::StepDelta { step_id: same, content: more },
            ) if step_id == same => {
                content.push_str(more);
                true
            }
            (
                PacketBody::ToolOutput { tool_name, output: Some(output), is_error: false },
                PacketBody::ToolOutput { tool_name: same, output: Some(more), is_error: false },
            ) if tool_name == same => {
                output.push_str(more);
                true
            }
            _ => false,
        }
    }
}

fn message_id(session: SessionId, block: &BlockId) -> Uuid {
    let of_run = block.as_str().strip_prefix("msg-").and_then(|run| run.parse().ok());
    of_run.unwrap_or_else(|| Uuid::new_v5(&session.0, block.as_str().as_bytes()))
}
