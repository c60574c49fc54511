use std::{
    fs,
    io::{Seek as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use flate2::{Compression, write::GzEncoder};
use tar::{Builder, EntryType, Header};

use super::{Limits, UnpackError, Unpacked, unpack};

const LIMITS: Limits = Limits { entries: 20, bytes: 1 << 20, file_bytes: 1 << 19 };

/// One entry, named as no honest tool would.
struct Item {
    kind: EntryType,
    name: &'static [u8],
    target: &'static [u8],
    mode: u32,
    content: Vec<u8>,
}

fn item(kind: EntryType, name: &'static [u8], target: &'static [u8]) -> Item {
    Item { kind, name, target, mode: 0o644, content: Vec::new() }
}

fn file(name: &'static [u8], content: &[u8]) -> Item {
    Item { content: content.to_vec(), ..item(EntryType::Regular, name, b"") }
}

fn link(name: &'static [u8], target: &'static [u8]) -> Item {
    item(EntryType::Symlink, name, target)
}

fn tar(items: &[Item]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for item in items {
        let mut header = Header::new_ustar();
        header.set_entry_type(item.kind);
        header.set_mode(item.mode);
        header.set_mtime(1_600_000_000);
        header.set_size(item.content.len() as u64);
        let names = header.as_ustar_mut().expect("a ustar");
        names.name[..item.name.len()].copy_from_slice(item.name);
        names.linkname[..item.target.len()].copy_from_slice(item.target);
        header.set_cksum();
        builder.append(&header, &item.content[..]).expect("added");
    }
    builder.into_inner().expect("whole")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("whole")
}

/// A zip of stored files, with Unix modes.
fn zip(items: &[(&[u8], u32, &[u8])]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    let short = |n: usize| (n as u16).to_le_bytes();
    let long = |n: usize| (n as u32).to_le_bytes();
    for (name, mode, content) in items {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let sizes = [&crc.sum().to_le_bytes()[..], &long(content.len()), &long(content.len())].concat();
        let offset = out.len();
        out.extend(
            [b"PK\x03\x04", &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sizes, &short(name.len()), &[0, 0]]
                .concat(),
        );
        out.extend([*name, *content].concat());
        list.extend(
            [b"PK\x01\x02", &[20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sizes, &short(name.len())].concat(),
        );
        list.extend([&[0; 8][..], &long((*mode as usize) << 16)[..], &long(offset), *name].concat());
    }
    let (begins, length) = (out.len(), list.len());
    out.extend(list);
    out.extend([&b"PK\x05\x06"[..], &[0; 4], &short(items.len()), &short(items.len())].concat());
    out.extend([&long(length)[..], &long(begins), &[0, 0]].concat());
    out
}

/// Unpacks, and lists what is there.
fn unpacked(archive: &[u8]) -> Result<(Unpacked, Vec<String>), UnpackError> {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("root");
    fs::create_dir(&root).expect("made");
    let mut spooled = tempfile::tempfile().expect("a file");
    spooled.write_all(archive).expect("written");
    spooled.rewind().expect("rewound");
    let done = unpack(spooled, &root, LIMITS)?;
    let outside: Vec<_> = fs::read_dir(directory.path()).expect("listed").collect();
    assert_eq!(outside.len(), 1, "nothing is written beside the root");
    let mut found = Vec::new();
    list(&root, "", &mut found);
    Ok((done, found))
}

fn list(directory: &Path, prefix: &str, found: &mut Vec<String>) {
    let mut names: Vec<_> =
        fs::read_dir(directory).expect("listed").map(|it| it.expect("an entry")).collect();
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names {
        let (name, metadata) = (entry.file_name(), entry.metadata().expect("a look"));
        let path = format!("{prefix}{}", warren_snapshots::escape(name.as_encoded_bytes()));
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            found.push(format!("{path}/ {mode:o}"));
            list(&entry.path(), &format!("{path}/"), found);
        } else if metadata.is_symlink() {
            found.push(format!("{path} -> {}", fs::read_link(entry.path()).expect("a target").display()));
        } else {
            found.push(format!("{path} {mode:o} {}", fs::read_to_string(entry.path()).expect("text")));
        }
    }
}

#[track_caller]
fn refused(archive: &[u8], why: &str) {
    match unpacked(archive) {
        Err(UnpackError::Archive { message, .. } | UnpackError::TooLarge(message)) => {
            assert!(message.contains(why), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_links_modes_and_empty_directories_come_out_of_every_format() {
    let directory = || Item { mode: 0o750, ..item(EntryType::Directory, b"./empty/", b"") };
    let run = || Item { mode: 0o4755, ..file(b"./bin/run", b"#!") };
    let items = || {
        [
            item(EntryType::Directory, b"./", b""),
            directory(),
            run(),
            link(b"l", b"bin/run"),
            file(b"\xff", b"x"),
        ]
    };
    let expect = ["bin/ 755", "bin/run 755 #!", "empty/ 750", "l -> bin/run", "\\xff 644 x"];
    for archive in [tar(&items()), gzip(&tar(&items()))] {
        let (done, found) = unpacked(&archive).expect("unpacked");
        assert_eq!((done, &found[..]), (Unpacked::default(), &expect.map(str::to_owned)[..]));
    }
    let (done, found) = unpacked(&zip(&[
        (b"empty/", 0o040_750, b""),
        (b"bin/run", 0o104_755, b"#!"),
        (b"l", 0o120_777, b"bin/run"),
    ]))
    .expect("unpacked");
    assert_eq!((done, &found[..]), (Unpacked::default(), &expect.map(str::to_owned)[..4]));
    assert_eq!(unpacked(&[0; 1024]).expect("an empty tar").1, [""; 0]);
}

#[test]
fn path_that_leads_out_or_through_a_link_refuses_the_whole_archive() {
    refused(&tar(&[file(b"ok", b""), file(b"../out", b"x")]), "`../out` leads out");
    refused(&tar(&[file(b"a/../../out", b"x")]), "leads out");
    refused(&tar(&[file(b"/etc/passwd", b"x")]), "is an absolute path");
    refused(&tar(&[link(b"a", b"b"), file(b"a/x", b"x")]), "has `a` twice");
    refused(&tar(&[file(b"a", b""), file(b"a/x", b"x")]), "leads through a file or a link");
    refused(&zip(&[(b"../out", 0o100_644, b"x")]), "leads out");
    refused(&zip(&[(b"a\\..\\x", 0o100_644, b"x")]), "backslash");
    let deep: &'static [u8] = b"a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a";
    assert!(unpacked(&tar(&[file(deep, b"")])).is_ok(), "50 names");
}

#[test]
fn name_that_comes_twice_is_refused_and_another_case_is_another_name() {
    refused(&tar(&[file(b"a", b"1"), file(b"a", b"2")]), "has `a` twice");
    refused(&tar(&[file(b"a", b"1"), file(b"./a", b"2")]), "has `a` twice");
    refused(&tar(&[link(b"a", b"x"), link(b"a", b"y")]), "has `a` twice");
    refused(&zip(&[(b"a", 0o100_644, b"1"), (b"a", 0o100_644, b"2")]), "has `a` twice");
    let (_, found) = unpacked(&tar(&[file(b"A", b"1"), file(b"a", b"2")])).expect("unpacked");
    assert_eq!(found, ["A 644 1", "a 644 2"]);
}

#[test]
fn links_that_lead_out_and_special_files_are_left_out_and_named() {
    let (done, found) = unpacked(&tar(&[
        link(b"out", b"/etc/passwd"),
        link(b"d/up", b"../../x"),
        link(b"d/in", b"../x"),
        item(EntryType::Char, b"dev", b""),
        item(EntryType::Fifo, b"pipe", b""),
        file(b"out/x", b"harmless"),
    ]))
    .expect("unpacked");
    assert_eq!(found, ["d/ 755", "d/in -> ../x", "out/ 755", "out/x 644 harmless"]);
    let skipped = [("out", "link_out"), ("d/up", "link_out"), ("dev", "special"), ("pipe", "special")];
    assert_eq!(done.skipped, skipped.map(|(path, why)| (path.to_owned(), why)));
}

#[test]
fn hard_link_is_a_copy_of_an_earlier_file_and_of_nothing_else() {
    let hard = |target| item(EntryType::Link, b"b", target);
    let (_, found) = unpacked(&tar(&[file(b"a", b"x"), hard(b"./a")])).expect("unpacked");
    assert_eq!(found, ["a 644 x", "b 644 x"]);
    refused(&tar(&[hard(b"/etc/passwd")]), "is an absolute path");
    refused(&tar(&[hard(b"../a")]), "leads out");
    refused(&tar(&[link(b"a", b"x"), hard(b"a")]), "not an earlier file");
}

#[test]
fn too_many_entries_or_bytes_are_refused_however_they_are_packed() {
    let many: Vec<Item> = (0..21).map(|_| item(EntryType::Directory, b"d", b"")).collect();
    refused(&tar(&many), "more than 20 entries");
    let half = vec![0; 1 << 19];
    refused(
        &gzip(&tar(&[file(b"a", &half), file(b"b", &half), file(b"c", b"x")])),
        "more than 1048576 bytes",
    );
    refused(&tar(&[file(b"a", &[&half[..], b"x"].concat())]), "`a` is larger than 524288 bytes");
    let bomb = vec![0; 8 << 20];
    let hidden = Item { content: bomb, ..item(EntryType::XGlobalHeader, b"g", b"") };
    refused(&gzip(&tar(&[hidden])), "header that is too long");
}

#[test]
fn damage_is_told_as_such() {
    refused(b"no archive at all", "not a tar");
    refused(b"", "not a tar");
    let whole = tar(&[file(b"a", b"content")]);
    refused(&whole[..515], "damaged");
    refused(&gzip(&whole)[..40], "damaged");
    let mut zipped = zip(&[(b"a", 0o100_644, b"content")]);
    zipped[32] ^= 1;
    refused(&zipped, "damaged");
    zipped.truncate(60);
    refused(&zipped, "damaged");
}

#[test]
fn archive_that_unpacks_to_many_times_its_size_is_refused() {
    use super::meter::{Meter, Metered};
    let limits = Limits { entries: 1, bytes: u64::MAX / 2, file_bytes: u64::MAX };
    let meter = Meter::new(limits, 1000);
    let copied = std::io::copy(&mut Metered::new(std::io::repeat(0), &meter), &mut std::io::sink());
    assert!(copied.expect_err("refused").to_string().contains("100 times its size"));
}
