//! Control groups, versions 1 and 2, by writing their files.
//!
//! Each sandbox has one [`Group`]: a directory in every hierarchy, with a child `guest` for the guest and a child
//! `agent` for everything it starts, so that an agent that takes all it may have cannot starve the guest.
//! All groups of one server lie under `warren/<key of its data directory>`: a sweep finds its own leftovers, and
//! never another server's.

mod group;
mod layout;

pub(crate) use group::{Group, Usage};
pub(crate) use layout::Layout;
