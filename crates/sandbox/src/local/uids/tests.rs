use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{ClaimError, FIRST, Host, SIZE, UidRange};

struct Machine {
    directory: tempfile::TempDir,
    host: Host,
}

fn machine() -> Machine {
    let directory = tempfile::tempdir().expect("a directory");
    let host = Host { claims: directory.path().join("claims"), accounts: directory.path().join("etc") };
    fs::create_dir(&host.accounts).expect("made");
    Machine { directory, host }
}

impl Machine {
    fn server(&self, name: &str) -> PathBuf {
        let directory = self.directory.path().join(name);
        fs::create_dir_all(&directory).expect("made");
        directory
    }

    fn claim(&self, directory: &Path) -> UidRange {
        self.host.claim(directory, None).expect("claimed")
    }

    fn account_file(&self, name: &str, text: &str) {
        fs::write(self.host.accounts.join(name), text).expect("written");
    }
}

/// The default range with this number.
fn nth(n: u32) -> UidRange {
    let first = FIRST + n * SIZE;
    UidRange { first, last: first + SIZE - 1 }
}

#[test]
fn two_servers_of_a_host_get_ranges_of_their_own_and_keep_them() {
    let machine = machine();
    let (one, other) = (machine.server("one"), machine.server("other"));
    assert_eq!((machine.claim(&one), machine.claim(&other)), (nth(0), nth(1)));
    assert_eq!((machine.claim(&other), machine.claim(&one)), (nth(1), nth(0)));
    // The claims of a host that were lost come back from the data directories.
    fs::remove_dir_all(&machine.host.claims).expect("removed");
    assert_eq!((machine.claim(&other), machine.claim(&one)), (nth(1), nth(0)));
}

#[test]
fn servers_that_start_at_once_never_share_a_range() {
    let machine = machine();
    let mut ranges: Vec<u32> = std::thread::scope(|scope| {
        let start = |n| {
            let directory = machine.server(&format!("server-{n}"));
            let machine = &machine;
            scope.spawn(move || machine.claim(&directory).first)
        };
        let started: Vec<_> = (0..8).map(start).collect();
        started.into_iter().map(|it| it.join().expect("it ends")).collect()
    });
    ranges.sort_unstable();
    assert_eq!(ranges, (0..8).map(|n| nth(n).first).collect::<Vec<_>>());
}

#[test]
fn range_of_a_removed_data_directory_is_free_again() {
    let machine = machine();
    let (one, other) = (machine.server("one"), machine.server("other"));
    machine.claim(&one);
    machine.claim(&other);
    fs::remove_dir_all(&one).expect("removed");
    assert_eq!(machine.claim(&machine.server("third")), nth(0));
    // Another data directory in the same place is not the one that made the claim.
    fs::remove_dir_all(&other).expect("removed");
    assert_eq!(machine.claim(&machine.server("fourth")), nth(1));
    assert_eq!(machine.claim(&machine.server("other")), nth(2));
}

#[test]
fn moved_data_directory_keeps_its_range_and_a_copy_gets_another() {
    let machine = machine();
    let one = machine.server("one");
    machine.claim(&one);
    let moved = machine.directory.path().join("moved");
    fs::rename(&one, &moved).expect("moved");
    assert_eq!(machine.claim(&moved), nth(0));
    let copy = machine.server("copy");
    fs::copy(moved.join("uid-range.json"), copy.join("uid-range.json")).expect("copied");
    assert_eq!(machine.claim(&copy), nth(1));
    assert_eq!(machine.claim(&moved), nth(0));
}

#[test]
fn default_range_avoids_subordinate_ids_users_and_groups() {
    let machine = machine();
    machine.account_file("subuid", "# comment\nada:100000:65536\nbob:265536:65536\n");
    machine.account_file("subgid", "ada:200000:1\n");
    machine.account_file("passwd", "root:x:0:0::/root:/bin/sh\nbroken\neve:x:331072:1000::/:/bin/sh\n");
    machine.account_file("group", "staff:x:396608:ada\n");
    assert_eq!(machine.claim(&machine.server("one")), nth(4));
}

#[test]
fn configured_range_is_claimed_as_it_is_or_refused_with_its_owner() {
    let machine = machine();
    machine.account_file("passwd", "eve:x:300500:1000::/:/bin/sh\n");
    let (one, other) = (machine.server("one"), machine.server("other"));
    let wanted = UidRange { first: 500_000, last: 500_099 };
    assert_eq!(machine.host.claim(&one, Some(wanted)).expect("claimed"), wanted);
    let overlapping = UidRange { first: 500_099, last: 500_200 };
    let error = machine.host.claim(&other, Some(overlapping)).expect_err("refused");
    let expect = format!("the UIDs 500099-500200 belong to the server of `{}`", one.display());
    assert_eq!((error.to_string(), error.hint().contains("sandbox.uid_range")), (expect, true));
    let error =
        machine.host.claim(&other, Some(UidRange { first: 300_000, last: 300_999 })).expect_err("refused");
    assert!(matches!(error, ClaimError::InUse { uid: 300_500, .. }), "{error}");
    // Claims without a configured range avoid the user and the other server, too.
    assert_eq!(machine.claim(&other), nth(0));
    for n in [2, 3, 5] {
        assert_eq!(machine.claim(&machine.server(&format!("more-{n}"))), nth(n));
    }
}

#[test]
fn changed_range_leaves_the_earlier_one_claimed_for_workspaces_that_exist() {
    let machine = machine();
    let (one, other) = (machine.server("one"), machine.server("other"));
    machine.claim(&one);
    let wanted = UidRange { first: 700_000, last: 700_999 };
    assert_eq!(machine.host.claim(&one, Some(wanted)).expect("claimed"), wanted);
    assert_eq!(machine.claim(&other), nth(1));
    assert_eq!(machine.claim(&one), wanted);
}

#[test]
fn claims_that_cannot_be_written_refuse_the_start_unless_a_range_is_configured() {
    let machine = machine();
    fs::write(&machine.host.claims, "not a directory").expect("written");
    let one = machine.server("one");
    let error = machine.host.claim(&one, None).expect_err("refused");
    assert!(matches!(error, ClaimError::Write { .. }), "{error}");
    let wanted = UidRange { first: 700_000, last: 700_999 };
    assert_eq!(machine.host.claim(&one, Some(wanted)).expect("the operator's word"), wanted);
}
