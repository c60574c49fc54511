//! The UIDs of workspaces: a range of its own for each server of a host.
//!
//! A server that runs as root claims a range in a directory that all servers of the host share, and keeps it in its data
//! directory. A claim lasts as long as the data directory that holds it, so that files keep their owner while a server is
//! stopped. Nothing here counts the UIDs of a range: the store hands them out.

mod claims;
mod taken;

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use claims::Claims;
pub(super) use taken::Taken;

/// Where the servers of a host claim their ranges. Only root writes there.
const CLAIMS: &str = "/var/lib/warren/uids";
/// The file of the data directory that names its ranges.
const RECORD: &str = "uid-range.json";
/// The first UID that is claimed by default.
const FIRST: u32 = 200_000;
/// How many UIDs are claimed by default.
const SIZE: u32 = 65_536;
/// Beyond it some programs take a UID for a negative number.
const MAX_UID: u32 = i32::MAX as u32;

/// UIDs, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UidRange {
    /// The first one.
    pub first: u32,
    /// The last one.
    pub last: u32,
}

impl UidRange {
    fn overlaps(self, other: UidRange) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl std::fmt::Display for UidRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

/// Why a server has no UIDs for workspaces.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another server has it.
    #[error("the UIDs {range} belong to the server of `{directory}`")]
    Claimed {
        /// The range that was asked for.
        range: UidRange,
        /// The other server's data directory.
        directory: PathBuf,
    },
    /// A user or a group of this host has one of them.
    #[error("the UIDs {range} include {uid}, which `{file}` gives to `{name}`")]
    InUse {
        /// The range that was asked for.
        range: UidRange,
        /// The first that is in use.
        uid: u32,
        /// Whose it is.
        name: String,
        /// Where that is written.
        file: PathBuf,
    },
    /// Every range is taken.
    #[error("no {SIZE} UIDs from {FIRST} on are free on this host")]
    Exhausted,
    /// The claim cannot be read or written.
    #[error("failed to claim UIDs for workspaces in `{path}`")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl ClaimError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            ClaimError::Claimed { .. } | ClaimError::InUse { .. } => {
                "set a free range in `sandbox.uid_range`, or leave it out so that the server finds one"
            }
            ClaimError::Exhausted => {
                "set a free range in `sandbox.uid_range`, or delete unused data directories"
            }
            ClaimError::Write { .. } => {
                "make `/var/lib/warren` writable for root, or set a range in `sandbox.uid_range` that no other server uses"
            }
        }
    }
}

/// The file of the data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// Tells this data directory from others, also after it was moved.
    id: String,
    /// Every range that workspaces may have UIDs of; the last one is for new workspaces.
    ranges: Vec<UidRange>,
}

/// Claims UIDs for the server of `directory`, a data directory: `wanted`, else those it had before, else the next free ones.
///
/// # Errors
/// When `wanted` belongs to somebody else, nothing is free, or the claim cannot be kept.
pub fn claim(directory: &Path, wanted: Option<UidRange>) -> Result<UidRange, ClaimError> {
    Host { claims: CLAIMS.into(), accounts: "/etc".into() }.claim(directory, wanted)
}

/// What the servers of a host share.
struct Host {
    claims: PathBuf,
    /// The directory of `passwd`, `group`, `subuid` and `subgid`.
    accounts: PathBuf,
}

impl Host {
    fn claim(&self, directory: &Path, wanted: Option<UidRange>) -> Result<UidRange, ClaimError> {
        let unreadable = |source| ClaimError::Write { path: directory.to_owned(), source };
        let directory = &fs::canonicalize(directory).map_err(unreadable)?;
        let taken = Taken::read(&self.accounts)
            .map_err(|source| ClaimError::Write { path: self.accounts.clone(), source })?;
        if let Some(range) = wanted {
            taken.check(range)?;
        }
        let mut record = read_record(directory)?;
        let claims = match Claims::open(&self.claims) {
            Ok(claims) => claims,
            Err(source) => match wanted {
                // The operator has chosen, and answers for it.
                Some(range) => {
                    tracing::warn!(%range, %source, path = %self.claims.display(), "other servers are not kept off these UIDs");
                    return Ok(range);
                }
                None => return Err(ClaimError::Write { path: self.claims.clone(), source }),
            },
        };
        let failed = |source| ClaimError::Write { path: self.claims.clone(), source };
        let others = claims.of_others(directory, &record.id).map_err(failed)?;
        let holder = |range: UidRange| others.iter().find(|other| range.overlaps(other.range));
        let range = match (wanted, record.ranges.last().copied()) {
            (Some(range), _) => match holder(range) {
                Some(other) => return Err(ClaimError::Claimed { range, directory: other.directory.clone() }),
                None => range,
            },
            (None, Some(kept)) if holder(kept).is_none() => kept,
            (None, kept) => {
                if let Some((kept, other)) = kept.and_then(|kept| Some((kept, holder(kept)?))) {
                    let other = other.directory.display();
                    tracing::warn!(%kept, %other, "another server has claimed our UIDs; workspaces that exist share them with it");
                }
                free(|range| taken.is_free(range) && holder(range).is_none()).ok_or(ClaimError::Exhausted)?
            }
        };
        record.ranges.retain(|kept| *kept != range);
        record.ranges.push(range);
        // The record first: a claim of a directory that does not know of it is nobody's.
        write_record(directory, &record)?;
        for kept in record.ranges.iter().filter(|kept| holder(**kept).is_none()) {
            claims.put(*kept, directory, &record.id).map_err(failed)?;
        }
        Ok(range)
    }
}

/// The first default range that is free.
fn free(is_free: impl Fn(UidRange) -> bool) -> Option<UidRange> {
    let firsts = (FIRST..=MAX_UID - SIZE).step_by(SIZE as usize);
    firsts.map(|first| UidRange { first, last: first + SIZE - 1 }).find(|range| is_free(*range))
}

/// The data directory's record; a new one where there is none.
fn read_record(directory: &Path) -> Result<Record, ClaimError> {
    let path = directory.join(RECORD);
    let read = || match fs::read(&path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Record { id: new_id()?, ranges: Vec::new() })
        }
        Err(error) => Err(error),
    };
    read().map_err(|source| ClaimError::Write { path: path.clone(), source })
}

fn write_record(directory: &Path, record: &Record) -> Result<(), ClaimError> {
    let path = directory.join(RECORD);
    claims::write(&path, record).map_err(|source| ClaimError::Write { path, source })
}

fn new_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
