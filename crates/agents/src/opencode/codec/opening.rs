//! Before the first word: the session is made, found, or brought in from where it was saved.

use serde_json::value::RawValue;
use warren_domain::Timestamp;

use super::{OpenCodeCodec, Phase, why};
use crate::{Output, opencode::requests::Purpose};

/// No session has so many subagents worth bringing back: each import starts the program.
const MAX_IMPORTED: usize = 8;

impl OpenCodeCodec {
    pub(super) fn adopt_saved(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let session = self.driving.as_ref().and_then(|driving| driving.saved.session.clone());
        if let Some(session) = session {
            self.adopt(&session, at, out);
        }
    }

    /// There is a session: says what was to be said.
    pub(super) fn adopt(&mut self, session: &str, at: Timestamp, out: &mut Vec<Output>) {
        self.phase = Phase::Working;
        self.translator.set_root(session);
        out.push(self.state());
        if self.interrupting {
            return self.finish(at, out);
        }
        if let Some(prompt) = self.prompt.clone() {
            self.say(Purpose::Prompt, &prompt, out);
        }
        for prompt in std::mem::take(&mut self.more) {
            self.say(Purpose::Steer, &prompt, out);
        }
    }

    /// Brings the saved session in, then its subagents'.
    pub(super) fn import(&mut self, out: &mut Vec<Output>) {
        let Some(driving) = &self.driving else { return };
        let directory = format!("{}/{}", driving.home, driving.directory);
        let newest = driving.saved.children.iter().rev().take(MAX_IMPORTED);
        self.imports = newest.map(|child| format!("{directory}/subagents/{child}.json")).collect();
        self.import_file(true, &format!("{directory}/main.json"), out);
    }

    pub(super) fn import_file(&mut self, is_main: bool, file: &str, out: &mut Vec<Output>) {
        let Some(driving) = &self.driving else { return };
        let words = ["import".to_owned(), file.to_owned()];
        let argv: Vec<String> = driving.program.iter().cloned().chain(words).collect();
        self.requests.run(Purpose::Import { is_main }, &argv, out);
    }

    pub(super) fn imported(
        &mut self,
        is_main: bool,
        code: i64,
        printed: Option<&RawValue>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        if is_main {
            let name = printed.and_then(|printed| session_named(printed.get()));
            let Some(driving) = self.driving.as_mut().filter(|_| code == 0) else {
                return self.give_up(
                    &format!("OpenCode could not read the saved session ({})", why(code, printed)),
                    at,
                    out,
                );
            };
            driving.saved.session = name.or(driving.saved.session.take());
        }
        match self.imports.pop() {
            Some(file) => self.import_file(false, &file, out),
            None => self.adopt_saved(at, out),
        }
    }
}

/// The session that `opencode import` says it made.
fn session_named(printed: &str) -> Option<String> {
    let name: String = printed[printed.find("ses_")?..]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    (name.len() > 4).then_some(name)
}
