use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use tar::{Builder, EntryType, Header};

use super::{Limits, UnpackError, unpack};

/// One entry of a package: written as bytes, so that it may be what no honest program writes.
struct Item<'a> {
    path: &'a str,
    kind: EntryType,
    mode: u32,
    content: &'a [u8],
    target: &'a str,
}

fn file<'a>(path: &'a str, mode: u32, content: &'a [u8]) -> Item<'a> {
    Item { path, kind: EntryType::Regular, mode, content, target: "" }
}

fn link<'a>(path: &'a str, target: &'a str) -> Item<'a> {
    Item { path, kind: EntryType::Symlink, mode: 0o777, content: b"", target }
}

fn pack(items: &[Item<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for item in items {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..item.path.len()].copy_from_slice(item.path.as_bytes());
        header.as_old_mut().linkname[..item.target.len()].copy_from_slice(item.target.as_bytes());
        header.set_entry_type(item.kind);
        header.set_mode(item.mode);
        header.set_size(item.content.len().try_into().expect("short"));
        header.set_cksum();
        builder.append(&header, item.content).expect("appended");
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&builder.into_inner().expect("whole")).expect("compressed");
    encoder.finish().expect("compressed")
}

/// Unpacks into `inside` of a fresh directory. Whatever happens, nothing may be beside it.
fn run(package: &[u8], limits: Limits) -> (tempfile::TempDir, Result<u64, String>) {
    let around = tempfile::tempdir().expect("a directory");
    let root = around.path().join("inside");
    fs::create_dir(&root).expect("made");
    let unpacked = unpack(package, &root, limits).map_err(|error| match error {
        UnpackError::Package(problem) => problem,
        UnpackError::Write { path, source } => format!("{}: {source}", path.display()),
    });
    let names: Vec<_> =
        fs::read_dir(around.path()).expect("read").map(|entry| entry.expect("read").file_name()).collect();
    assert_eq!(names, ["inside"]);
    (around, unpacked)
}

/// Every path below `root`, with its mode or where it points.
fn tree(root: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).expect("read") {
        let path = entry.expect("read").path();
        let metadata = fs::symlink_metadata(&path).expect("there");
        let shown = if metadata.is_symlink() {
            fs::read_link(&path).expect("a link").display().to_string()
        } else {
            format!("{:o}", metadata.permissions().mode() & 0o7777)
        };
        if metadata.is_dir() {
            found.extend(
                tree(&path)
                    .into_iter()
                    .map(|(below, shown)| (Path::new(path.file_name().unwrap()).join(below), shown)),
            );
        }
        found.push((path.file_name().expect("a name").into(), shown));
    }
    found.sort();
    found
}

#[test]
fn files_lose_their_first_directory_and_all_rights_but_to_be_read_and_run() {
    let package = pack(&[
        Item { path: "package/", kind: EntryType::Directory, mode: 0o700, content: b"", target: "" },
        file("package/bin/run", 0o6711, b"#!"),
        file("other-name/readme", 0o600, b"text"),
        file("./package/./deep/er/file", 0o666, b""),
        link("package/link", "bin/run"),
        link("package/deep/up", "../readme"),
    ]);
    let (around, unpacked) = run(&package, Limits::default());
    assert_eq!(unpacked, Ok(6));
    let expect = [
        ("bin", "755"),
        ("bin/run", "755"),
        ("deep", "755"),
        ("deep/er", "755"),
        ("deep/er/file", "644"),
        ("deep/up", "../readme"),
        ("link", "bin/run"),
        ("readme", "644"),
    ];
    let expect: Vec<_> = expect.map(|(path, shown)| (PathBuf::from(path), shown.to_owned())).into();
    assert_eq!(tree(&around.path().join("inside")), expect);
}

#[track_caller]
fn check_refused(items: &[Item<'_>], problem: &str) {
    let (_around, unpacked) = run(&pack(items), Limits::default());
    assert_eq!(unpacked, Err(problem.to_owned()));
}

#[test]
fn a_path_that_leads_out_is_refused() {
    check_refused(
        &[file("package/../../x", 0o644, b"")],
        "the path `package/../../x` leads out of the package",
    );
    check_refused(
        &[file("package/a/../x", 0o644, b"")],
        "the path `package/a/../x` leads out of the package",
    );
    check_refused(&[file("/etc/x", 0o644, b"")], "the path `/etc/x` leads out of the package");
    check_refused(&[file("../x", 0o644, b"")], "the path `../x` leads out of the package");
}

#[test]
fn a_link_that_leads_out_is_refused() {
    for target in ["/etc/passwd", "..", "../x", "a/../../x", "a/..", ""] {
        let (_around, unpacked) = run(&pack(&[link("package/l", target)]), Limits::default());
        let is_refused = unpacked.as_ref().is_err_and(|problem| problem.contains("leads out of the package"));
        assert!(is_refused || target.is_empty() && unpacked.is_err(), "{target}: {unpacked:?}");
    }
    check_refused(&[link("package/d/l", "../../x")], "the link `d/l` leads out of the package");
}

#[test]
fn nothing_is_written_through_a_link_or_judged_below_one() {
    // The file is written to a real directory, where the link then has no place.
    check_refused(&[link("package/l", "."), file("package/l/x", 0o644, b"")], "`l` is there twice");
    // Where it really would be, the second link would lead out.
    check_refused(
        &[link("package/a/b/l", "../.."), link("package/a/b/l/m", "../../../x")],
        "`a/b/l/m` is below a link",
    );
}

#[test]
fn what_is_neither_file_nor_directory_nor_link_is_refused() {
    for kind in [EntryType::Link, EntryType::Char, EntryType::Block, EntryType::Fifo] {
        let item = Item { path: "package/x", kind, mode: 0o644, content: b"", target: "package/y" };
        check_refused(&[item], &format!("`x` is neither file nor directory: {kind:?}"));
    }
}

#[test]
fn a_package_that_holds_too_much_is_given_up() {
    let many = pack(&[file("p/a", 0o644, b"x"), file("p/b", 0o644, b"x"), file("p/c", 0o644, b"x")]);
    let limits = Limits { entries: 2, bytes: 100 };
    assert_eq!(run(&many, limits).1, Err("it has more than 2 files".to_owned()));
    // A small package that becomes a large one.
    let zeros = vec![0; 5_000_000];
    let bomb = pack(&[file("p/a", 0o644, &zeros)]);
    assert!(bomb.len() < 100_000);
    let limits = Limits { entries: 2, bytes: 1_000_000 };
    let (around, unpacked) = run(&bomb, limits);
    assert_eq!(unpacked, Err("its files are too large".to_owned()));
    assert!(fs::metadata(around.path().join("inside/a")).expect("begun").len() <= 1_000_000);
}

#[test]
fn no_damage_makes_the_reader_fail_otherwise_than_by_saying_so() {
    let whole = pack(&[file("p/a", 0o644, b"content"), link("p/l", "a"), file("p/b/c", 0o755, &[7; 2000])]);
    for end in 0..whole.len() {
        // Only the end marks may be missing: what counts is there then, and the hash tells the rest.
        let unpacked = run(&whole[..end], Limits::default()).1;
        assert!(unpacked.is_err() || unpacked == Ok(2007), "{end}: {unpacked:?}");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x41;
        // Either it is noticed here, or by the hash; but nothing is written beside the directory.
        let _ = run(&damaged, Limits::default());
    }
}
