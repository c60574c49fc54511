//! Names of blocks that are the same wherever Codex tells about them.
//!
//! Today's app server and its rollouts name every item by the API's id or the call's id. Rollouts of older versions
//! have no ids of messages, but the same order; `exec --json` names items by a number that begins anew with every
//! process and never names the turn, but tells each whole, so that what it says can name it.

use std::collections::HashMap;

/// How blocks of one thread get their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Scheme {
    /// By Codex's own ids.
    #[default]
    Native,
    /// Calls by their ids, the rest by turn, kind and order.
    Order,
    /// By what they say, and how often it was said before.
    Content,
}

/// Names for the blocks of one thread.
#[derive(Debug, Default)]
pub(super) struct Ids {
    pub(super) scheme: Scheme,
    turn: String,
    /// Whether that turn goes on.
    in_turn: bool,
    n_turns: u32,
    counts: HashMap<String, u32>,
    known: HashMap<String, String>,
}

impl Ids {
    pub(super) fn new(scheme: Scheme) -> Self {
        Self { scheme, ..Self::default() }
    }

    /// A turn begins. Those that have no name are counted, and so are those that older versions name by a number, which
    /// begins anew with every process.
    pub(super) fn turn(&mut self, turn: Option<&str>) {
        self.n_turns += 1;
        let turn = turn.filter(|turn| !turn.chars().all(|c| c.is_ascii_digit()));
        self.turn = turn.map_or_else(|| format!("turn-{}", self.n_turns), str::to_owned);
        self.known.clear();
        self.in_turn = true;
    }

    /// The turn is over.
    pub(super) fn turn_ended(&mut self) {
        self.in_turn = false;
    }

    /// Whether this is the turn that goes on.
    pub(super) fn is_in(&self, turn: &str) -> bool {
        self.in_turn && self.turn == turn
    }

    /// Whether some turn goes on.
    pub(super) fn in_turn(&self) -> bool {
        self.in_turn
    }

    /// The name of the block of `item`, the same each time until the turn is over.
    pub(super) fn of(&mut self, item: &str, kind: &str, key: &str) -> String {
        if let Some(known) = self.known.get(item) {
            return known.clone();
        }
        let id = match self.scheme {
            Scheme::Native | Scheme::Order if kind == "plan" => format!("{}-plan", self.turn),
            Scheme::Native => item.to_owned(),
            Scheme::Order if kind == "tool" => item.to_owned(),
            Scheme::Order => {
                let kind = format!("{}-{kind}", self.turn);
                let n = self.next(&kind);
                format!("{kind}-{n}")
            }
            Scheme::Content => {
                let name = format!("{kind}-{:016x}", hash(key));
                match self.next(&name) {
                    0 => name,
                    n => format!("{name}-{n}"),
                }
            }
        };
        self.known.insert(item.to_owned(), id.clone());
        id
    }

    /// The name of something there is at most one of in a turn.
    pub(super) fn of_turn(&mut self, kind: &str, key: &str) -> String {
        match self.scheme {
            Scheme::Native | Scheme::Order => format!("{}-{kind}", self.turn),
            Scheme::Content => self.of(kind, kind, key),
        }
    }

    fn next(&mut self, name: &str) -> u32 {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

/// FNV-1a: small, and the same for ever.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{Ids, Scheme};

    fn ids(scheme: Scheme) -> Ids {
        let mut ids = Ids::new(scheme);
        ids.turn(Some("t"));
        ids
    }

    #[test]
    fn each_scheme_names_by_what_its_source_carries() {
        let named = |scheme| {
            let mut ids = ids(scheme);
            [("a", "text"), ("b", "text"), ("c", "tool"), ("a", "text")]
                .map(|(item, kind)| ids.of(item, kind, "said"))
        };
        assert_eq!(named(Scheme::Native), ["a", "b", "c", "a"]);
        assert_eq!(named(Scheme::Order), ["t-text-0", "t-text-1", "c", "t-text-0"]);
        let said = "text-096e4d18bf89481c";
        let tool = "tool-096e4d18bf89481c";
        assert_eq!(named(Scheme::Content), [said, &format!("{said}-1"), tool, said]);
    }
}
