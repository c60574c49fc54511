//! What somebody needs at the moment, so that nobody takes it away.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use warren_tree::Hash;

use crate::{TreeId, partition::Shelf};

/// All holds on one partition, of this process.
#[derive(Debug, Default)]
pub(crate) struct Holds(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Grows with every hold.
    next: u64,
    /// The trees that each hold names.
    active: BTreeMap<u64, Vec<Hash>>,
}

/// While it lives, no object that it may rely on is collected: neither the trees it names, nor whatever was there
/// when it began.
pub struct Hold {
    shelf: Arc<Shelf>,
    number: u64,
}

impl Hold {
    pub(crate) fn new(shelf: Arc<Shelf>) -> Self {
        let number = {
            let mut table = shelf.holds.lock();
            table.next += 1;
            let number = table.next;
            table.active.insert(number, Vec::new());
            number
        };
        Self { shelf, number }
    }

    /// Keeps this tree too.
    pub(crate) fn keep(&self, tree: TreeId) {
        if let Some(trees) = self.shelf.holds.lock().active.get_mut(&self.number) {
            trees.push(tree.0);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shelf.holds.lock().active.remove(&self.number);
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Holds {
    /// The number of the youngest hold: all that come are above it.
    pub(crate) fn epoch(&self) -> u64 {
        self.lock().next
    }

    /// The number of the oldest hold that is active, if any; and all trees that holds name.
    pub(crate) fn active(&self) -> (Option<u64>, HashSet<Hash>) {
        let table = self.lock();
        let trees = table.active.values().flatten().copied().collect();
        (table.active.keys().next().copied(), trees)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
