//! Bytes of a transcript as text: decompressed, without a byte order mark. Other encodings are named in the error.

use std::{
    io::{self, BufRead, BufReader, Read as _},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use flate2::bufread::MultiGzDecoder;
use serde_json::value::RawValue;

use crate::{invocation::quoted, report::Advised};

const GZIP: &[u8] = &[0x1f, 0x8b];
const UTF8_BOM: &[u8] = &[0xef, 0xbb, 0xbf];

/// The text of an input.
pub(crate) fn decoded(input: Box<dyn BufRead>, path: &Path) -> Result<Box<dyn BufRead>> {
    let (head, input) = peek(input, path)?;
    if !head.starts_with(GZIP) {
        return plain(&head, input, path);
    }
    let unpacked: Box<dyn BufRead> = Box::new(BufReader::new(MultiGzDecoder::new(input)));
    let (head, input) = peek(unpacked, path)?;
    plain(&head, input, path)
}

/// The first bytes, and the input with them.
fn peek(mut input: Box<dyn BufRead>, path: &Path) -> Result<(Vec<u8>, Box<dyn BufRead>)> {
    let mut head = Vec::new();
    let read = io::Read::by_ref(&mut input).take(4).read_to_end(&mut head);
    read.with_context(|| format!("failed to read `{}`", path.display()))?;
    Ok((head.clone(), Box::new(io::Cursor::new(head).chain(input))))
}

fn plain(head: &[u8], mut input: Box<dyn BufRead>, path: &Path) -> Result<Box<dyn BufRead>> {
    let shown = path.display();
    let name = quoted(&shown.to_string());
    match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, 0, _] | [_, 0, _, 0] => bail!(Advised::new(
            format!("`{shown}` is encoded as UTF-16, and transcripts are UTF-8"),
            format!("convert it: `iconv -f UTF-16 -t UTF-8 {name} > transcript.jsonl`"),
        )),
        [0x28, 0xb5, 0x2f, 0xfd] => bail!(Advised::new(
            format!("`{shown}` is compressed with zstd"),
            format!("decompress it: `zstd -dc {name} > transcript.jsonl`"),
        )),
        [b'P', b'K', 3, 4] => {
            bail!(Advised::new(format!("`{shown}` is a zip archive"), format!("unpack it: `unzip {name}`"),))
        }
        _ => {}
    }
    if head.starts_with(UTF8_BOM) {
        input.consume_exactly(UTF8_BOM.len())?;
    }
    Ok(input)
}

trait Skip {
    /// Skips bytes that are known to be there.
    fn consume_exactly(&mut self, n: usize) -> io::Result<()>;
}

impl<R: BufRead + ?Sized> Skip for R {
    fn consume_exactly(&mut self, n: usize) -> io::Result<()> {
        io::copy(&mut self.take(n as u64), &mut io::sink()).map(drop)
    }
}

/// The elements of a JSON array, one a line: some tools write transcripts so.
pub(super) fn lines_of_array(content: &[u8]) -> Option<Vec<u8>> {
    let first = content.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if *first != b'[' {
        return None;
    }
    let elements: Vec<Box<RawValue>> = serde_json::from_slice(content).ok()?;
    let mut lines = Vec::with_capacity(content.len());
    for element in elements {
        // An element may be laid out over several lines; between its tokens a line end says nothing.
        lines.extend(element.get().bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')));
        lines.push(b'\n');
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        path::Path,
    };

    use super::{decoded, lines_of_array};

    fn text(bytes: &[u8]) -> Result<String, String> {
        let input = Box::new(std::io::Cursor::new(bytes.to_vec()));
        let mut text = String::new();
        let decoded = decoded(input, Path::new("it's.jsonl"))
            .map_err(|error| format!("{error}; {}", crate::report::hint(&error).unwrap_or_default()));
        decoded?.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    #[test]
    fn byte_order_mark_and_compression_are_removed() {
        for bytes in
            [b"{}\n".to_vec(), b"\xef\xbb\xbf{}\n".to_vec(), gzip(b"{}\n"), gzip(b"\xef\xbb\xbf{}\n")]
        {
            assert_eq!(text(&bytes).as_deref(), Ok("{}\n"));
        }
        let two = [gzip(b"{}\n"), gzip(b"[]\n")].concat();
        assert_eq!(text(&two).as_deref(), Ok("{}\n[]\n"), "files that were compressed one after the other");
        for short in ["", "a", "ab", "abc"] {
            assert_eq!(text(short.as_bytes()).as_deref(), Ok(short));
        }
    }

    #[test]
    fn other_encodings_are_named_with_a_command_that_converts_them() {
        let utf16: Vec<u8> = "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let with_mark = [&[0xff, 0xfe], utf16.as_slice()].concat();
        for bytes in [utf16, with_mark] {
            let said = text(&bytes).expect_err("refused");
            assert!(
                said.contains("UTF-16") && said.contains(r"iconv -f UTF-16 -t UTF-8 'it'\''s.jsonl'"),
                "{said}"
            );
        }
        assert!(text(b"\x28\xb5\x2f\xfd....").expect_err("refused").contains("zstd"));
        assert!(text(b"PK\x03\x04....").expect_err("refused").contains("zip"));
    }

    #[test]
    fn elements_of_an_array_become_lines() {
        let lines = lines_of_array(b" [{\"a\":\n 1}, {\"b\":\"x\\ny\"}]").expect("an array");
        assert_eq!(String::from_utf8(lines).expect("text"), "{\"a\": 1}\n{\"b\":\"x\\ny\"}\n");
        assert_eq!([lines_of_array(b"{}"), lines_of_array(b"[1,"), lines_of_array(b"")], [None, None, None]);
    }
}
