//! Messages, and what people said in them.

use std::collections::BTreeMap;

use warren_domain::{BlockId, EventBody, Timestamp};

use super::{Told, Translator};
use crate::{
    Output,
    opencode::{
        blocks::{self, Context},
        names,
        native::{Failure, Message, Part},
    },
};

impl Translator {
    /// A message began, changed or is whole.
    pub(in crate::opencode) fn message(&mut self, info: &Message, at: Timestamp, out: &mut Vec<Output>) {
        if info.id.is_empty() || info.session.is_empty() {
            return;
        }
        let is_person = info.role == "user";
        let is_new = !self.messages.contains_key(&info.id);
        if is_new {
            let told = Told {
                session: info.session.clone(),
                is_person,
                context: Context::of(info, at),
                prompt: None,
                said: BTreeMap::new(),
                parts: Vec::new(),
                shown_as: None,
                failed_at: None,
            };
            self.messages.insert(info.id.clone(), told);
        }
        let thread = self.thread(&info.session);
        thread.is_touched = true;
        match (is_person, is_new) {
            (true, true) => self.hear(info),
            (true, false) => {}
            (false, _) => self.answer(info, is_new, out),
        }
    }

    /// A message is no longer part of the session.
    pub(in crate::opencode) fn message_removed(&mut self, message: &str, out: &mut Vec<Output>) {
        let Some(told) = self.messages.remove(message) else { return };
        self.thread(&told.session).held.retain(|held| held != message);
        told.parts.iter().for_each(|part| self.part_removed(part, out));
        if let Some(id) = told.shown_as {
            self.discard(&told.session, id, out);
        }
    }

    /// A person said something: it is shown when its parts are there and the agent takes it up.
    fn hear(&mut self, info: &Message) {
        let thread = self.thread(&info.session);
        thread.agent = thread.agent.take().or_else(|| info.agent.clone());
        thread.held.push(info.id.clone());
        thread.is_idle = false;
        (thread.failure, thread.stopped) = (None, None);
    }

    fn answer(&mut self, info: &Message, is_new: bool, out: &mut Vec<Output>) {
        if is_new {
            let thread = self.thread(&info.session);
            (thread.writing, thread.failure) = (None, None);
            self.show_held(&info.session, out);
            self.thread(&info.session).writing = Some(info.id.clone());
        }
        if let Some(failure) = &info.error {
            self.fail(info, failure, out);
        }
        let thread = self.thread(&info.session);
        if info.finish.is_some() {
            thread.finish.clone_from(&info.finish);
        }
        if info.time.completed.is_some() && thread.writing.as_deref() == Some(&info.id) {
            thread.writing = None;
            self.close_if_due(&info.session, out);
        }
    }

    fn fail(&mut self, info: &Message, failure: &Failure, out: &mut Vec<Output>) {
        self.thread(&info.session).failure = Some(failure.clone());
        let Some(told) = self.messages.get_mut(&info.id) else { return };
        let block = blocks::failure(&info.id, failure, info.time, &told.context);
        // It is told again when the message is closed.
        let is_news = match &told.shown_as {
            Some(id) => id == block.id() && told.failed_at != info.time.completed,
            None => true,
        };
        if !is_news {
            return;
        }
        told.shown_as = Some(block.id().clone());
        told.failed_at = info.time.completed;
        self.emit(&info.session, EventBody::BlockComplete { block }, out);
    }

    /// A piece of what a person said.
    pub(super) fn heard(&mut self, part: &Part<'_>, context: &Context, out: &mut Vec<Output>) {
        if part.kind == "compaction" {
            let block = blocks::compaction(part, context);
            return self.emit(&part.session, EventBody::BlockComplete { block }, out);
        }
        let Some(told) = self.messages.get_mut(&part.message).filter(|told| told.shown_as.is_none()) else {
            return;
        };
        told.prompt = names::prompt_of_part(&part.id).or(told.prompt.take());
        told.said.extend(blocks::said(part).map(|said| (part.id.clone(), said)));
    }

    /// Shows what people said, unless the agent is in the middle of a message: it takes up what it hears after that.
    pub(super) fn show_held(&mut self, session: &str, out: &mut Vec<Output>) {
        let thread = self.thread(session);
        if thread.held.is_empty() || (thread.writing.is_some() && !thread.is_idle) {
            return;
        }
        for message in std::mem::take(&mut thread.held) {
            self.show(&message, session, out);
        }
    }

    fn show(&mut self, message: &str, session: &str, out: &mut Vec<Output>) {
        let Some(told) = self.messages.get_mut(message).filter(|told| !told.said.is_empty()) else { return };
        let said = std::mem::take(&mut told.said);
        let id = told.prompt.clone().unwrap_or_else(|| BlockId(message.to_owned()));
        told.shown_as = Some(id.clone());
        let pieces = said.into_values().collect();
        let block = blocks::user_message(id, pieces, &told.context);
        self.emit(session, EventBody::BlockComplete { block }, out);
    }
}
