//! Names as numbers, and where what they name is.
//!
//! A transcript has a name for every line, message and call. None is copied: each is known by a number made of all its
//! bytes, and a table holds nothing but places.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
};

/// A table by name.
pub(super) type ByName<T> = HashMap<u128, T, Scattered>;

/// The places of things that come one after another. Whether a thing came before is told by one look at a few bytes.
#[derive(Default)]
pub(super) struct Places {
    /// The name of each.
    names: Vec<u128>,
    /// At the place of a name's number, or at the next that was free: the place of the name, and one more. Never full.
    slots: Vec<u32>,
    scattered: Scattered,
}

impl Places {
    /// Gives the next place to what has this name, or none; `false` if its name was there before.
    pub(super) fn add(&mut self, name: Option<u128>) -> bool {
        if self.names.len() * 2 >= self.slots.len() {
            self.grow();
        }
        if let Some(name) = name {
            let slot = self.slot(name);
            if self.slots[slot] != 0 {
                return false;
            }
            self.slots[slot] = stored(self.names.len());
        }
        // What has no name is never looked for.
        self.names.push(name.unwrap_or_default());
        true
    }

    /// The place of what has this name.
    pub(super) fn get(&self, name: u128) -> Option<u32> {
        // Most of what is looked for came just before.
        let recent = self.names.len().saturating_sub(2)..self.names.len();
        if let Some(place) = recent.rev().find(|place| self.names[*place] == name) {
            return u32::try_from(place).ok();
        }
        if self.slots.is_empty() { None } else { self.slots[self.slot(name)].checked_sub(1) }
    }

    /// Where the name is, or where it would be.
    fn slot(&self, name: u128) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = self.scattered.place(name) & last;
        while self.slots[slot].checked_sub(1).is_some_and(|place| self.names[place as usize] != name) {
            slot = (slot + 1) & last;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 4).max(64)];
        for place in 0..self.names.len() {
            let name = self.names[place];
            if name != 0 {
                let slot = self.slot(name);
                self.slots[slot] = stored(place);
            }
        }
    }
}

/// A place as it stands in a slot, where nothing is zero. A file with more lines than that does not fit into memory.
fn stored(place: usize) -> u32 {
    u32::try_from(place + 1).unwrap_or(u32::MAX)
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

impl Scattered {
    #[expect(clippy::cast_possible_truncation, reason = "all bits are scattered")]
    fn place(&self, name: u128) -> usize {
        self.hash_one(name) as usize
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

/// A name as a number that stands for it; never zero.
pub(super) fn key(name: &[u8]) -> u128 {
    let fold = |key: u128, word: [u8; 16]| {
        key.rotate_left(61).wrapping_mul(0x2d35_8dcc_aa6c_78a5_8bb8_4b93_962e_acc9)
            ^ u128::from_le_bytes(word)
    };
    let (words, rest) = name.as_chunks::<16>();
    let key = words.iter().fold(name.len() as u128, |key, word| fold(key, *word));
    // The last bytes of a long name may count twice: that costs less than to look how many they are.
    let last = name.last_chunk::<16>().copied().unwrap_or_else(|| {
        let mut word = [0; 16];
        word[..rest.len()].copy_from_slice(rest);
        word
    });
    fold(key, last).max(1)
}

#[cfg(test)]
mod tests {
    use super::{Places, key};

    #[test]
    fn every_name_keeps_its_place_however_many_there_are() {
        let mut places = Places::default();
        let names: Vec<u128> = (0..10_000_u32).map(|n| key(format!("name {n}").as_bytes())).collect();
        assert_eq!(places.get(names[0]), None);
        assert!(places.add(None) && names.iter().all(|name| places.add(Some(*name))));
        assert!(places.add(None) && !names.iter().any(|name| places.add(Some(*name))));
        let found: Vec<u32> = names.iter().filter_map(|name| places.get(*name)).collect();
        assert_eq!(found, (1..=10_000).collect::<Vec<_>>());
        assert_eq!(places.get(key(b"another name")), None);
    }

    #[test]
    fn names_that_differ_anywhere_have_different_numbers() {
        let name = "0d6ccc11-51f8-53bf-b90a-34b83f409d28 and more";
        let mut keys: Vec<u128> = (0..name.len()).map(|n| key(&name.as_bytes()[..n])).collect();
        keys.extend((0..name.len()).map(|n| {
            let mut other = name.as_bytes().to_vec();
            other[n] ^= 1;
            key(&other)
        }));
        keys.sort_unstable();
        let n_keys = keys.len();
        keys.dedup();
        assert_eq!((keys.len(), keys.contains(&key(name.as_bytes()))), (n_keys, false));
    }
}
