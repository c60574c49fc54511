//! One answer of an agent as packets.

use bytes::Bytes;
use warren_domain::{Block, BlockId, Event, EventBody, RunId};
use warren_runtime::api::{Follow, LogEntry};
use warren_wire::{Packet, Packets};

use crate::preview::Links;

use super::{Frames, Source, source::batch};

/// The packets of one run, until it ends.
pub(crate) struct PacketSource {
    follow: Follow,
    run: RunId,
    packets: Packets,
    /// What is told before anything of the log.
    opening: Vec<Packet>,
    /// The message's turn has come.
    has_begun: bool,
    is_over: bool,
    links: Links,
}

impl PacketSource {
    pub(crate) fn new(
        follow: Follow,
        run: RunId,
        packets: Packets,
        opening: Vec<Packet>,
        links: Links,
    ) -> Self {
        Self { follow, run, packets, opening, has_begun: false, is_over: false, links }
    }

    /// Whether an entry is part of the answer. What belongs to no run is, while the run goes on.
    fn takes(&mut self, event: &Event) -> bool {
        if let EventBody::BlockComplete { block: Block::UserMessage { id, .. } } = &event.body
            && *id == BlockId::of_message(self.run)
            && let Some(carrier) = event.run_id
        {
            // A run that was going on took our message up: from here on what becomes of it is told by that run.
            self.run = carrier;
            self.has_begun = true;
        }
        let is_ours = event.run_id == Some(self.run);
        self.has_begun |= is_ours && matches!(event.body, EventBody::RunStarted { .. });
        let is_status = matches!(event.body, EventBody::SessionStatus { .. });
        is_ours || (event.run_id.is_none() && (self.has_begun || is_status))
    }

    fn tell(&mut self, entry: &LogEntry, frames: &mut Frames) {
        // An entry that is no event of this version has no packet.
        let Ok(event) = entry.event() else { return };
        if self.is_over || !self.takes(&event) {
            return;
        }
        for mut packet in self.packets.project(&event) {
            self.links.put_into(&mut packet);
            self.is_over |= packet.body.is_last();
            write(&packet, frames);
        }
    }
}

impl Source for PacketSource {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        let mut frames = Frames::default();
        if !self.opening.is_empty() {
            std::mem::take(&mut self.opening).iter().for_each(|packet| write(packet, &mut frames));
            return Some(frames.take());
        }
        while !self.is_over {
            for entry in batch(&mut self.follow).await? {
                self.tell(&entry, &mut frames);
            }
            let lines = frames.take();
            if !lines.is_empty() {
                return Some(lines);
            }
        }
        None
    }
}

fn write(packet: &Packet, frames: &mut Frames) {
    match serde_json::to_vec(packet) {
        Ok(json) => frames.message(&Bytes::from(json)),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a packet cannot be written");
        }
    }
}
