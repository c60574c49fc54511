//! Which lines were taken back.
//!
//! Every line names the one before it. When a person goes back to an earlier place and says something else there, the
//! lines of the first attempt stay in the file, but Claude Code follows the names from the last line and does not
//! show them again. Not all that is off that way was taken back: answers to parallel calls hang beside it too. So only
//! what begins with a person's message off the way is left out, and only if it hangs on a place on the way: a file
//! with a gap must not lose its beginning.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, Hasher, RandomState},
};

/// The lines of one thread, as a tree.
#[derive(Default)]
pub(super) struct Branches {
    lines: Vec<Node>,
    places: HashMap<u128, u32, Scattered>,
    /// The last line with which a person begins a turn.
    last_prompt: u32,
    /// Some line goes on from a place before the turn it stands in: something may have been taken back.
    goes_back: bool,
}

struct Node {
    parent: Option<u128>,
    is_prompt: bool,
}

impl Branches {
    /// Adds a line by the keys of its name and of its parent's; `None` if it is there already.
    pub(super) fn add(&mut self, name: Option<u128>, parent: Option<u128>) -> Option<u32> {
        let place = u32::try_from(self.lines.len()).ok()?;
        if let Some(name) = name {
            match self.places.entry(name) {
                Entry::Occupied(_) => return None,
                Entry::Vacant(entry) => entry.insert(place),
            };
        }
        let parent_place = parent.and_then(|parent| self.places.get(&parent));
        self.goes_back |= parent_place.is_some_and(|parent| *parent < self.last_prompt);
        self.lines.push(Node { parent, is_prompt: false });
        Some(place)
    }

    /// Notes that a person begins a turn here.
    pub(super) fn is_prompt(&mut self, place: u32) {
        let Some(line) = self.lines.get_mut(place as usize) else { return };
        line.is_prompt = true;
        let parent = line.parent.and_then(|parent| self.places.get(&parent));
        self.goes_back |= parent.is_some_and(|parent| parent + 1 < place);
        self.last_prompt = place;
    }

    /// For each line whether it was taken back; `None` if none was.
    pub(super) fn taken_back(&self) -> Option<Vec<bool>> {
        if !self.goes_back {
            return None;
        }
        let on_way = self.on_way();
        let is_aside = |(line, on_way): (&Node, &bool)| line.is_prompt && !on_way;
        if !self.lines.iter().zip(&on_way).any(is_aside) {
            return None;
        }
        // A line comes after its parent, so one pass is enough; where it does not, it is kept.
        let mut hangs_on_way = on_way.clone();
        let mut taken_back = vec![false; self.lines.len()];
        for (place, line) in self.lines.iter().enumerate().filter(|(place, _)| !on_way[*place]) {
            let Some(parent) = self.parent(line) else { continue };
            hangs_on_way[place] = hangs_on_way[parent];
            taken_back[place] = hangs_on_way[place] && (line.is_prompt || taken_back[parent]);
        }
        taken_back.contains(&true).then_some(taken_back)
    }

    fn on_way(&self) -> Vec<bool> {
        let mut on_way = vec![false; self.lines.len()];
        let mut next = self.lines.len().checked_sub(1);
        // A line that was there already ends the walk: names may go round in a circle.
        while let Some(place) = next.filter(|place| !on_way[*place]) {
            on_way[place] = true;
            next = self.parent(&self.lines[place]);
        }
        on_way
    }

    fn parent(&self, line: &Node) -> Option<usize> {
        self.places.get(&line.parent?).map(|place| *place as usize)
    }
}

/// Scatters keys, which are numbers already, by one that nobody can foresee.
#[derive(Clone)]
pub(super) struct Scattered(u64);

/// A key on its way to its place.
pub(super) struct Scatter(u64);

impl Default for Scattered {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u8))
    }
}

impl BuildHasher for Scattered {
    type Hasher = Scatter;

    fn build_hasher(&self) -> Scatter {
        Scatter(self.0)
    }
}

impl Hasher for Scatter {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u128(u128::from(*byte)));
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    fn write_u128(&mut self, key: u128) {
        let (low, high) = (key as u64 ^ self.0, (key >> 64) as u64 ^ self.0.rotate_left(32));
        let product = u128::from(low | 1).wrapping_mul(u128::from(high ^ 0x9e37_79b9_7f4a_7c15));
        self.0 = product as u64 ^ (product >> 64) as u64 ^ low;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A name as a number that stands for it.
pub(super) fn key(name: &[u8]) -> u128 {
    let fold = |key: u128, chunk: &[u8]| {
        let mut word = [0; 16];
        word[..chunk.len()].copy_from_slice(chunk);
        key.rotate_left(61).wrapping_mul(0x2d35_8dcc_aa6c_78a5_8bb8_4b93_962e_acc9)
            ^ u128::from_le_bytes(word)
    };
    name.chunks(16).fold(name.len() as u128, fold)
}

#[cfg(test)]
mod tests {
    use super::{Branches, key};

    fn taken_back(lines: &[(&str, Option<&str>, bool)]) -> Vec<String> {
        let mut tree = Branches::default();
        for (uuid, parent, is_prompt) in lines {
            let place = tree
                .add(Some(key(uuid.as_bytes())), parent.map(|parent| key(parent.as_bytes())))
                .expect("a new line");
            if *is_prompt {
                tree.is_prompt(place);
            }
        }
        let names = lines.iter().map(|(uuid, ..)| (*uuid).to_owned());
        let back = tree.taken_back().unwrap_or_else(|| vec![false; lines.len()]);
        names.zip(back).filter(|(_, back)| *back).map(|(name, _)| name).collect()
    }

    #[test]
    fn an_attempt_that_was_taken_back_is_left_out_with_all_that_followed() {
        let lines = [
            ("p1", None, true),
            ("a1", Some("p1"), false),
            ("p2", Some("a1"), true),
            ("a2", Some("p2"), false),
            ("p3", Some("a2"), true),
            ("q2", Some("a1"), true),
            ("b2", Some("q2"), false),
        ];
        assert_eq!(taken_back(&lines), ["p2", "a2", "p3"]);
    }

    #[test]
    fn answers_to_parallel_calls_stay() {
        let lines = [
            ("p1", None, true),
            ("c1", Some("p1"), false),
            ("c2", Some("c1"), false),
            ("r1", Some("c1"), false),
            ("r2", Some("c2"), false),
            ("a1", Some("r2"), false),
        ];
        assert_eq!(taken_back(&lines), [""; 0]);
    }

    #[test]
    fn a_gap_or_a_circle_costs_nothing() {
        let gap = [("p1", None, true), ("a1", Some("p1"), false), ("p2", Some("lost"), true)];
        assert_eq!(taken_back(&gap), [""; 0]);
        let circle = [("p1", Some("a1"), true), ("a1", Some("p1"), false), ("p2", Some("p2"), true)];
        assert_eq!(taken_back(&circle), [""; 0]);
    }

    #[test]
    fn a_line_that_is_there_twice_counts_once() {
        let mut tree = Branches::default();
        let uuid = Some(key(b"0d6ccc11-51f8-53bf-b90a-34b83f409d28"));
        assert_eq!(
            (tree.add(uuid, None), tree.add(uuid, None), tree.add(None, uuid)),
            (Some(0), None, Some(1))
        );
    }
}
