//! Which lines were taken back.
//!
//! Every line names the one before it. When a person goes back to an earlier place and says something else there, the
//! lines of the first attempt stay in the file, but Claude Code follows the names from the last line and does not
//! show them again. Not all that is off that way was taken back: answers to parallel calls hang beside it too. So only
//! what begins with a person's message off the way is left out, and only if it hangs on a place on the way: a file
//! with a gap must not lose its beginning.

use super::names::Places;

/// The lines of one thread, as a tree.
#[derive(Default)]
pub(super) struct Branches {
    lines: Vec<Node>,
    places: Places,
    /// Lines whose parents were not there when they came, and those parents.
    orphans: Vec<(u32, u128)>,
    /// The last line with which a person begins a turn.
    last_prompt: u32,
    /// Some line goes on from a place before the turn it stands in: something may have been taken back.
    goes_back: bool,
}

#[derive(Clone, Copy)]
struct Node {
    parent: Option<u32>,
    is_prompt: bool,
}

impl Branches {
    /// Adds a line by the keys of its name and of its parent's; `None` if it is there already.
    pub(super) fn add(&mut self, name: Option<u128>, parent: Option<u128>) -> Option<u32> {
        let place = u32::try_from(self.lines.len()).ok()?;
        if !self.places.add(name) {
            return None;
        }
        let found = parent.and_then(|parent| self.places.get(parent));
        if let (Some(parent), None) = (parent, found) {
            self.orphans.push((place, parent));
        }
        self.goes_back |= found.is_some_and(|parent| parent < self.last_prompt);
        self.lines.push(Node { parent: found, is_prompt: false });
        Some(place)
    }

    /// Notes that a person begins a turn here.
    pub(super) fn is_prompt(&mut self, place: u32) {
        let Some(line) = self.lines.get_mut(place as usize) else { return };
        line.is_prompt = true;
        self.goes_back |= line.parent.is_some_and(|parent| parent + 1 < place);
        self.last_prompt = place;
    }

    /// For each line whether it was taken back; `None` if none was.
    pub(super) fn taken_back(&mut self) -> Option<Vec<bool>> {
        if !self.goes_back {
            return None;
        }
        for (place, parent) in std::mem::take(&mut self.orphans) {
            self.lines[place as usize].parent = self.places.get(parent);
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
            let Some(parent) = line.parent.map(|parent| parent as usize) else { continue };
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
            next = self.lines[place].parent.map(|parent| parent as usize);
        }
        on_way
    }
}

#[cfg(test)]
mod tests {
    use super::Branches;
    use crate::claude_code::parse::names::key;

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
