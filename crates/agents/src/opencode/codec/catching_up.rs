//! What happened while nobody listened: the stream broke, and begins again without it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use warren_domain::Timestamp;

use super::OpenCodeCodec;
use crate::{
    Output,
    opencode::{
        events::tell_export,
        native::{Asked, Status, read, read_borrowed},
        requests::Purpose,
    },
};

impl OpenCodeCodec {
    pub(super) fn reread(&mut self, out: &mut Vec<Output>) {
        let root = self.translator.root().map(str::to_owned);
        for session in self.translator.children().into_iter().chain(root) {
            self.requests.get(Purpose::Reread, &format!("/session/{session}/message"), out);
        }
        self.requests.get(Purpose::Permissions, "/permission", out);
        self.requests.get(Purpose::Questions, "/question", out);
        self.requests.get(Purpose::Status, "/session/status", out);
    }

    /// What happened while nobody listened.
    pub(super) fn caught_up(
        &mut self,
        purpose: &Purpose,
        body: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        match purpose {
            Purpose::Reread => {
                let since = self.translator.began().map_or(self.since, |began| began.min(self.since));
                tell_export(&mut self.translator, body.get(), since, at, out);
            }
            Purpose::Status => {
                let working: BTreeMap<String, Status> = read(Some(body));
                let Some(root) = self.translator.root().map(str::to_owned) else { return };
                let is_heard =
                    self.prompt.as_ref().is_none_or(|prompt| self.translator.has_shown(&prompt.message));
                if is_heard && working.get(&root).is_none_or(|status| status.kind == "idle") {
                    self.translator.idle(&root, out);
                }
            }
            _ => {
                let asked: Vec<Asked<'_>> = read_borrowed(Some(body)).unwrap_or_default();
                for asked in
                    asked.into_iter().filter(|asked| !self.asks.is_open(&asked.id)).collect::<Vec<_>>()
                {
                    match purpose {
                        Purpose::Permissions => self.ask_permission(asked, out),
                        _ => self.asks.question(asked, out),
                    }
                }
            }
        }
    }
}
