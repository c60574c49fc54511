//! What is known of places, across restarts and damage.

use std::{fs, path::PathBuf, sync::Arc};

use tempfile::TempDir;
use warren_domain::Partition;
use warren_tree::{Directory, Entry, Hash, Index, Known, KnownDir, Seen, What, encode_entries};

use super::Places;

/// A cache directory.
struct Ground(TempDir);

impl Ground {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn open(&self) -> Places {
        Places::open(Some(self.0.path().to_owned())).expect("opens")
    }

    /// What a server that was started anew knows.
    fn known(&self, place: &str) -> Option<Arc<Index>> {
        self.open().get(&Partition::default_partition(), place)
    }

    fn file(&self) -> PathBuf {
        let files: Vec<_> =
            fs::read_dir(self.0.path()).expect("lists").map(|file| file.expect("a file").path()).collect();
        let [file] = &files[..] else { panic!("{files:?}") };
        file.clone()
    }

    fn length(&self) -> u64 {
        fs::metadata(self.file()).expect("a look").len()
    }
}

fn directory(entries: Vec<Known>) -> Arc<KnownDir> {
    let node = Hash::of(&encode_entries(entries.iter().map(|known| &known.entry)));
    Arc::new(KnownDir { entries, node: Some(node), ..KnownDir::default() })
}

/// A hundred directories, each with a link that leads to what `target` says of its number.
fn index(target: impl Fn(u32) -> String, before: Option<&Index>) -> Index {
    let link = |number: u32| {
        let what = What::Symlink(target(number).into_bytes().into());
        let entry = Entry { name: b"link"[..].into(), mode: 0o777, mtime_ns: -5, what };
        directory(vec![Known { entry, seen: Seen { inode: number.into(), ctime_ns: 7 }, child: 0 }])
    };
    let mut dirs: Vec<Arc<KnownDir>> = (1..=100).map(link).collect();
    let entries = (1..).zip(&dirs).map(|(child, dir)| {
        let node = dir.node.expect("a node");
        let what = What::Directory(Directory { node, totals: dir.totals });
        let entry = Entry { name: format!("{child:03}").into_bytes().into(), mode: 0o755, mtime_ns: 0, what };
        Known { entry, seen: Seen::default(), child }
    });
    dirs.insert(0, directory(entries.collect()));
    // As a merge does it: what did not change is the very same.
    for (dir, before) in dirs.iter_mut().zip(before.map(Index::dirs).unwrap_or_default()) {
        if dir.node == before.node {
            *dir = before.clone();
        }
    }
    Index::new(dirs)
}

fn keep(places: &Places, index: &Index) -> bool {
    let partition = Partition::default_partition();
    let is_news = places.put(&partition, "a", Arc::new(index.clone()));
    places.save(&partition, "a");
    is_news
}

fn entries(index: &Index) -> Vec<&[Known]> {
    index.dirs().iter().map(|dir| &dir.entries[..]).collect()
}

#[test]
fn what_is_known_of_a_place_survives_a_restart_and_damage_makes_it_unknown() {
    let ground = Ground::new();
    let index = index(|_| "x".to_owned(), None);
    assert!(keep(&ground.open(), &index));
    assert_eq!(entries(&ground.known("a").expect("known")), entries(&index));
    assert!(ground.known("b").is_none());

    let mut bytes = fs::read(ground.file()).expect("reads");
    bytes[10] ^= 1;
    fs::write(ground.file(), bytes).expect("writes");
    assert!(ground.known("a").is_none());
}

#[test]
fn a_change_is_added_to_the_file_and_nothing_is_written_for_none() {
    let ground = Ground::new();
    let places = ground.open();
    let first = index(|_| "x".repeat(1_000), None);
    keep(&places, &first);
    let whole = ground.length();
    assert!(!keep(&places, &first.clone()), "the same is no news");
    assert_eq!(ground.length(), whole);

    let second = index(|n| if n == 7 { "y".to_owned() } else { "x".repeat(1_000) }, Some(&first));
    assert!(keep(&places, &second));
    let added = ground.length() - whole;
    assert!((1..whole / 4).contains(&added), "{added} bytes were added to {whole}");
    assert_eq!(entries(&ground.known("a").expect("known")), entries(&second));
}

#[test]
fn what_was_cut_short_while_it_was_added_counts_as_not_written() {
    let ground = Ground::new();
    let places = ground.open();
    let first = index(|_| "x".to_owned(), None);
    keep(&places, &first);
    let whole = ground.length();
    let second = index(|n| if n == 7 { "y".to_owned() } else { "x".to_owned() }, Some(&first));
    keep(&places, &second);
    let bytes = fs::read(ground.file()).expect("reads");
    for length in (whole as usize + 1..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        fs::write(ground.file(), &bytes[..length]).expect("writes");
        assert_eq!(entries(&ground.known("a").expect("known")), entries(&first), "{length} bytes");
    }
    // What comes next is not put behind it.
    let places = ground.open();
    let known = places.get(&Partition::default_partition(), "a").expect("known");
    let third = index(|n| if n == 8 { "z".to_owned() } else { "x".to_owned() }, Some(&known));
    keep(&places, &third);
    assert_eq!(entries(&ground.known("a").expect("known")), entries(&third));
}

#[test]
fn a_file_that_was_added_to_for_long_is_written_anew() {
    let ground = Ground::new();
    let places = ground.open();
    let mut last = index(|_| "x".repeat(3_000), None);
    keep(&places, &last);
    let whole = ground.length();
    for round in 0..300 {
        let target = |n: u32| if n % 30 == round % 30 { format!("{round:03000}") } else { "x".repeat(3_000) };
        last = index(target, Some(&last));
        keep(&places, &last);
        assert!(ground.length() <= whole + whole / 2 + super::MAX_ADDED + 4096);
    }
    assert_eq!(entries(&ground.known("a").expect("known")), entries(&last));
}
