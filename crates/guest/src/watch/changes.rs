//! What was touched since the host was last told.

use std::collections::BTreeMap;

use warren_guest_api::{ChangeKind, FilePath};

/// More than this at a time are not collected: the host then has to look for itself.
const MAX_CHANGES: usize = 16 * 1024;

/// Files that were touched, with whether they were there before. What became of them is asked at the end, so any number of
/// events of a file make one change, and what came and went makes none.
#[derive(Debug, Default)]
pub(super) struct Changes {
    touched: BTreeMap<FilePath, Before>,
}

/// What was known of a file when it was first touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    There,
    NotThere,
}

impl Changes {
    /// Notes that a file was touched. Only the first time counts.
    pub(super) fn touch(&mut self, path: FilePath, before: Before) {
        self.touched.entry(path).or_insert(before);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    pub(super) fn too_many(&self) -> bool {
        self.touched.len() > MAX_CHANGES
    }

    pub(super) fn into_touched(self) -> impl Iterator<Item = (FilePath, Before)> {
        self.touched.into_iter()
    }
}

impl Before {
    /// What happened to a file, now that it is known whether it is there.
    pub(super) fn change(self, there_now: bool) -> Option<ChangeKind> {
        match (self, there_now) {
            (Before::There, true) => Some(ChangeKind::Modified),
            (Before::There, false) => Some(ChangeKind::Deleted),
            (Before::NotThere, true) => Some(ChangeKind::Created),
            (Before::NotThere, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use warren_guest_api::{ChangeKind, FilePath, Root};

    use super::{Before, Changes};

    #[test]
    fn only_the_state_before_the_first_touch_counts() {
        let path = FilePath::new(Root::Workspace, "a");
        let mut changes = Changes::default();
        changes.touch(path.clone(), Before::NotThere);
        changes.touch(path.clone(), Before::There);
        assert_eq!(changes.into_touched().collect::<Vec<_>>(), [(path, Before::NotThere)]);
    }

    #[test]
    fn what_came_and_went_is_no_change() {
        assert_eq!(Before::NotThere.change(false), None);
        assert_eq!(Before::There.change(true), Some(ChangeKind::Modified));
    }
}
