//! Bytes and inodes on a file system.

use std::{iter::Sum, ops::Add};

/// What something holds, or may hold, of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::local) struct Held {
    pub(in crate::local) bytes: u64,
    pub(in crate::local) inodes: u64,
}

impl Held {
    pub(super) fn saturating_sub(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            inodes: self.inodes.saturating_sub(other.inodes),
        }
    }

    /// The smaller of each.
    pub(super) fn min(self, other: Self) -> Self {
        Self { bytes: self.bytes.min(other.bytes), inodes: self.inodes.min(other.inodes) }
    }

    /// The larger of each.
    pub(super) fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), inodes: self.inodes.max(other.inodes) }
    }

    /// More of either.
    pub(super) fn exceeds(self, other: Self) -> bool {
        self.bytes > other.bytes || self.inodes > other.inodes
    }
}

impl Add for Held {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            inodes: self.inodes.saturating_add(other.inodes),
        }
    }
}

impl Sum for Held {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}
