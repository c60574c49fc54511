//! The changes as a patch that `git apply` takes.

use std::io::Write as _;

use anyhow::Result;
use bytes::Bytes;
use flate2::{Compression, write::ZlibEncoder};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use similar::TextDiff;
use warren_snapshots::unescape;
use warren_wire::{TreeEntry, VersionPlace};

use super::{
    Changes,
    plan::{is_runnable, leads_out},
};
use crate::{client::Client, render::one_line, terminal::Terminal, verbs::files::print as print_bytes};

/// A file with a zero byte so near its beginning is not text, as git has it.
const LOOKED_AT: usize = 8000;

/// Lines around a change.
const CONTEXT: usize = 3;

/// git's alphabet of base 85.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// Bytes that one line of a binary patch has.
const LINE: usize = 52;

/// One side of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Side {
    /// As git writes it: of a mode only whether it can be run.
    mode: &'static str,
    content: Bytes,
}

/// Prints all changes.
pub(super) async fn print(client: &Client, changes: &Changes, terminal: &mut Terminal) -> Result<()> {
    terminal.status(None);
    for (path, change) in &changes.paths {
        if change.after.as_ref().is_some_and(|after| leads_out(path, after)) {
            eprintln!("left out: {} (a link that points outside the directory)", one_line(&change.path));
            continue;
        }
        let before = side(client, changes, &changes.from, change.before.as_ref()).await?;
        let after = side(client, changes, &changes.to, change.after.as_ref()).await?;
        print_bytes(&file(path, before.as_ref(), after.as_ref()))?;
    }
    Ok(())
}

async fn side(
    client: &Client,
    changes: &Changes,
    place: &VersionPlace,
    entry: Option<&TreeEntry>,
) -> Result<Option<Side>> {
    let Some(entry) = entry else { return Ok(None) };
    Ok(match entry.kind.as_str() {
        "symlink" => {
            let target = entry.target.as_deref().and_then(unescape).unwrap_or_default();
            Some(Side { mode: "120000", content: target.into() })
        }
        "file" => {
            let mode = if is_runnable(entry.mode) { "100755" } else { "100644" };
            Some(Side { mode, content: changes.content(client, place, entry).await? })
        }
        // git knows no directories.
        _ => None,
    })
}

/// The patch of one file.
fn file(path: &[u8], before: Option<&Side>, after: Option<&Side>) -> Vec<u8> {
    match (before, after) {
        (Some(old), Some(new)) if old == new => Vec::new(),
        // What becomes a link, or was one, is another file to git.
        (Some(old), Some(new)) if (old.mode == "120000") != (new.mode == "120000") => {
            [file(path, Some(old), None), file(path, None, Some(new))].concat()
        }
        (None, None) => Vec::new(),
        _ => one(path, before, after),
    }
}

fn one(path: &[u8], before: Option<&Side>, after: Option<&Side>) -> Vec<u8> {
    let (old_name, new_name) = (name(b"a/", path), name(b"b/", path));
    let mut out = [b"diff --git ", &old_name[..], b" ", &new_name[..], b"\n"].concat();
    let mut line = |text: String| out.extend_from_slice(text.as_bytes());
    match (before, after) {
        (Some(old), Some(new)) if old.mode != new.mode => {
            line(format!("old mode {}\nnew mode {}\n", old.mode, new.mode));
        }
        (Some(old), None) => line(format!("deleted file mode {}\n", old.mode)),
        (None, Some(new)) => line(format!("new file mode {}\n", new.mode)),
        _ => {}
    }
    let content = |side: Option<&Side>| side.map(|side| side.content.clone()).unwrap_or_default();
    let (old, new) = (content(before), content(after));
    if old == new && before.is_some() && after.is_some() {
        return out;
    }
    let id = |side: Option<&Side>| side.map_or_else(|| "0".repeat(40), |side| blob_id(&side.content));
    line(format!("index {}..{}\n", id(before), id(after)));
    match (text(&old), text(&new)) {
        (Some(old), Some(new)) if !(old.is_empty() && new.is_empty()) => {
            let head = |mark: &[u8], name: &[u8], is_there: bool| {
                let name: &[u8] = if is_there { name } else { b"/dev/null" };
                // A name with a space in it ends with a tab, or readers take the rest for a time.
                let end: &[u8] = if is_there && name.contains(&b' ') { b"\t\n" } else { b"\n" };
                [mark, name, end].concat()
            };
            out.extend(head(b"--- ", &old_name, before.is_some()));
            out.extend(head(b"+++ ", &new_name, after.is_some()));
            out.extend_from_slice(lines(old, new).as_bytes());
        }
        (Some(_), Some(_)) => {}
        _ => out.extend(binary(&new)),
    }
    out
}

/// The lines that differ. Only a line feed ends a line, as for git.
fn lines(old: &str, new: &str) -> String {
    let split = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (old, new) = (split(old), split(new));
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    diff.unified_diff().context_radius(CONTEXT).to_string()
}

fn text(content: &[u8]) -> Option<&str> {
    let is_binary = content[..content.len().min(LOOKED_AT)].contains(&0);
    if is_binary { None } else { std::str::from_utf8(content).ok() }
}

/// The whole new content, compressed, in git's form.
fn binary(content: &[u8]) -> Vec<u8> {
    let mut out = format!("GIT binary patch\nliteral {}\n", content.len()).into_bytes();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Nothing that is written to memory fails.
    let packed = encoder.write_all(content).and_then(|()| encoder.finish()).unwrap_or_default();
    for piece in packed.chunks(LINE) {
        let length = piece.len() as u8;
        out.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
        for word in piece.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            let mut number = u32::from_be_bytes(bytes);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(number % 85) as usize];
                number /= 85;
            }
            out.extend_from_slice(&digits);
        }
        out.push(b'\n');
    }
    out.push(b'\n');
    out
}

/// What git knows the content by.
fn blob_id(content: &[u8]) -> String {
    let all = [format!("blob {}\0", content.len()).as_bytes(), content].concat();
    digest(&SHA1_FOR_LEGACY_USE_ONLY, &all).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name as git writes it: in quotes, if it has anything in it that is not plain.
fn name(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| matches!(byte, 0x20..=0x7e) && !matches!(byte, b'"' | b'\\');
    if path.iter().all(is_plain) {
        return [prefix, path].concat();
    }
    let mut quoted = [b"\"", prefix].concat();
    for byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            byte if is_plain(byte) => quoted.push(*byte),
            byte => quoted.extend(format!("\\{byte:03o}").into_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{Side, file, name};

    fn patch(
        path: &str,
        before: Option<(&'static str, &[u8])>,
        after: Option<(&'static str, &[u8])>,
    ) -> String {
        let side = |side: Option<(&'static str, &[u8])>| {
            side.map(|(mode, content)| Side { mode, content: content.to_vec().into() })
        };
        let made = file(path.as_bytes(), side(before).as_ref(), side(after).as_ref());
        String::from_utf8(made).expect("text")
    }

    #[test]
    fn text_change_has_git_headers_and_only_line_feeds_end_lines() {
        let before = Some(("100644", &b"a\rb\nold\n"[..]));
        let made = patch("x y.txt", before, Some(("100755", b"a\rb\nnew")));
        assert!(
            made.starts_with("diff --git a/x y.txt b/x y.txt\nold mode 100644\nnew mode 100755\nindex "),
            "{made}"
        );
        assert!(made.ends_with(
            "--- a/x y.txt\t\n+++ b/x y.txt\t\n@@ -1,2 +1,2 @@\n a\rb\n-old\n+new\n\\ No newline at end of file\n"
        ), "{made}");
    }

    #[test]
    fn empty_file_and_mode_change_have_no_lines() {
        assert_eq!(
            patch("e", None, Some(("100644", b""))),
            "diff --git a/e b/e\nnew file mode 100644\nindex 0000000000000000000000000000000000000000..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"
        );
        assert_eq!(
            patch("m", Some(("100644", b"x")), Some(("100755", b"x"))),
            "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
        );
    }

    #[test]
    fn file_that_becomes_a_link_is_removed_and_made() {
        let made = patch("l", Some(("100644", b"x\n")), Some(("120000", b"y")));
        let heads: Vec<&str> = made.lines().filter(|line| line.contains("file mode")).collect();
        assert_eq!(heads, ["deleted file mode 100644", "new file mode 120000"]);
    }

    #[test]
    fn strange_names_are_quoted() {
        assert_eq!(name(b"a/", "plain name".as_bytes()), b"a/plain name");
        assert_eq!(name(b"a/", b"q\"\\\n\xff"), br#""a/q\"\\\012\377""#);
    }
}
