//! UIDs and GIDs that this host has given to somebody, as far as its files say.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{ClaimError, UidRange};

/// What is taken.
pub(in crate::local) struct Taken {
    /// Users and groups.
    accounts: Vec<Account>,
    /// Ranges for the user namespaces of containers.
    subordinate: Vec<UidRange>,
}

struct Account {
    name: String,
    id: u32,
    file: PathBuf,
}

impl Taken {
    /// Reads the files of `etc`; one that is absent gives nothing to anybody.
    pub(super) fn read(etc: &Path) -> io::Result<Taken> {
        let (mut accounts, mut subordinate) = (Vec::new(), Vec::new());
        for file in ["passwd", "group"] {
            let file = etc.join(file);
            accounts.extend(lines(&file)?.iter().filter_map(|line| account(line, &file)));
        }
        for file in ["subuid", "subgid"] {
            subordinate.extend(lines(&etc.join(file))?.iter().filter_map(|line| range(line)));
        }
        Ok(Taken { accounts, subordinate })
    }

    /// Whether a range is free for a server that has not been told otherwise.
    pub(super) fn is_free(&self, range: UidRange) -> bool {
        self.account(range).is_none() && !self.subordinate.iter().any(|other| range.overlaps(*other))
    }

    /// Checks a range that the operator has chosen. Containers may share it if they must; users may not.
    pub(super) fn check(&self, range: UidRange) -> Result<(), ClaimError> {
        if let Some(other) = self.subordinate.iter().find(|other| range.overlaps(**other)) {
            tracing::warn!(%range, %other, "the UIDs of workspaces are also in `/etc/subuid` or `/etc/subgid`");
        }
        match self.account(range) {
            None => Ok(()),
            Some(Account { name, id, file }) => {
                Err(ClaimError::InUse { range, uid: *id, name: name.clone(), file: file.clone() })
            }
        }
    }

    fn account(&self, range: UidRange) -> Option<&Account> {
        self.accounts.iter().find(|account| (range.first..=range.last).contains(&account.id))
    }
}

fn lines(file: &Path) -> io::Result<Vec<String>> {
    match fs::read(file) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// `name:x:id:…`
fn account(line: &str, file: &Path) -> Option<Account> {
    let mut fields = line.split(':');
    let name = fields.next()?.to_owned();
    let id = fields.nth(1)?.parse().ok()?;
    Some(Account { name, id, file: file.to_owned() })
}

/// `name:first:count`
fn range(line: &str) -> Option<UidRange> {
    let mut fields = line.split(':').skip(1);
    let first: u32 = fields.next()?.trim().parse().ok()?;
    let count: u32 = fields.next()?.trim().parse().ok()?;
    Some(UidRange { first, last: first.saturating_add(count.checked_sub(1)?) })
}
