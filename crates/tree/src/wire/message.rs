//! What the two sides say.

use crate::{
    Decoder, Encoder, File, Hash, Malformed, Seen, is_legal_name,
    node::{decode_mode, decode_target},
    scan::{Batch, DirRef, Found, FoundDir, FoundEntry, FoundWhat, Notice, Why},
};

/// The longest payload: a directory of half a million entries.
pub const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// Kind and length.
pub const HEADER: usize = 5;

/// The longest path that is told of.
const MAX_PATH: usize = 64 * 1024;

/// One thing that one side says to the other.
#[derive(Debug)]
pub enum Message {
    /// Scan, leaving out directories of these names.
    Scan {
        /// Names of directories.
        excludes: Vec<Vec<u8>>,
        /// The most entries.
        max_entries: u64,
    },
    /// Some directories of the base, in the order of their numbers: see [`super::encode_base`].
    Base(Vec<u8>),
    /// That was all of the base.
    Go {
        /// Whether the store has nothing at all, so that it need not be asked what it lacks.
        send_all: bool,
    },
    /// Which of these are lacking?
    Ask {
        /// Of the question.
        id: u32,
        /// What is asked for.
        chunks: Vec<(Hash, u32)>,
    },
    /// These are.
    Lacking {
        /// Of the question.
        id: u32,
        /// One for each.
        marks: Vec<bool>,
    },
    /// Chunks that were lacking.
    Chunks(Batch),
    /// A directory.
    Found(FoundDir),
    /// Something that is not in the tree as one might expect.
    Notice(Notice),
    /// Write a tree.
    Write,
    /// A directory of it, after the one it is in.
    Directory {
        /// Which root.
        root: String,
        /// Where; empty for the root itself.
        path: Vec<u8>,
        /// What it is to look like.
        mode: u16,
        /// Time of last change.
        mtime_ns: i64,
        /// Its stored form.
        node: Vec<u8>,
    },
    /// That was the whole tree.
    PlanEnd,
    /// Chunks are needed.
    Fetch {
        /// Of the question.
        id: u32,
        /// Which.
        chunks: Vec<(Hash, u32)>,
    },
    /// Here they are.
    Content {
        /// Of the question.
        id: u32,
        /// All, one behind the other.
        data: Vec<u8>,
    },
    /// What the files of a directory look like.
    Seen {
        /// The directory, by its place in the order.
        number: u32,
        /// One for each entry.
        seen: Vec<Seen>,
    },
    /// All went well.
    Done,
    /// It did not.
    Failed {
        /// Why, for people.
        message: String,
    },
}

/// The kind and the length of a message.
pub fn parse_header(header: [u8; HEADER]) -> Result<(u8, usize), Malformed> {
    let [kind, length @ ..] = header;
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_MESSAGE { Err(Malformed::new("a message of a legal length")) } else { Ok((kind, length)) }
}

impl Message {
    /// With its header. Fails if it is too long to be sent.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        let mut encoder = Encoder::new();
        encoder.raw(&[0; HEADER]);
        let kind = self.encode_payload(&mut encoder);
        let mut bytes = encoder.finish();
        let length = bytes.len() - HEADER;
        if length > MAX_MESSAGE {
            return Err(Malformed::new("a message that is not too long"));
        }
        bytes[0] = kind;
        bytes[1..HEADER].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(bytes)
    }

    fn encode_payload(&self, encoder: &mut Encoder) -> u8 {
        match self {
            Message::Scan { excludes, max_entries } => {
                encoder.uint(*max_entries);
                encoder.uint(excludes.len() as u64);
                excludes.iter().for_each(|name| encoder.bytes(name));
                1
            }
            Message::Base(dirs) => put(2, || encoder.raw(dirs)),
            Message::Go { send_all } => put(3, || encoder.byte((*send_all).into())),
            Message::Lacking { id, marks } => {
                encoder.uint((*id).into());
                encoder.uint(marks.len() as u64);
                marks.iter().for_each(|mark| encoder.byte((*mark).into()));
                4
            }
            Message::Write => 10,
            Message::Directory { root, path, mode, mtime_ns, node } => {
                [root.as_bytes(), path].iter().for_each(|bytes| encoder.bytes(bytes));
                encoder.uint((*mode).into());
                encoder.int(*mtime_ns);
                encoder.bytes(node);
                11
            }
            Message::PlanEnd => 12,
            Message::Content { id, data } => {
                encoder.uint((*id).into());
                encoder.raw(data);
                13
            }
            Message::Ask { id, chunks } => encode_chunks(encoder, 20, *id, chunks),
            Message::Chunks(batch) => {
                let kind = encode_chunks(encoder, 21, 0, &batch.chunks);
                encoder.raw(&batch.data);
                kind
            }
            Message::Found(found) => put(22, || encode_found(encoder, found)),
            Message::Notice(notice) => {
                encoder.bytes(&notice.path);
                encoder.byte(notice.why.number());
                23
            }
            Message::Done => 24,
            Message::Failed { message } => put(25, || encoder.bytes(message.as_bytes())),
            Message::Fetch { id, chunks } => encode_chunks(encoder, 30, *id, chunks),
            Message::Seen { number, seen } => {
                encoder.uint((*number).into());
                encoder.uint(seen.len() as u64);
                seen.iter().for_each(|seen| encode_seen(encoder, *seen));
                31
            }
        }
    }

    /// Reads the payload of a message of this kind, and believes nothing of it that is not checked.
    pub fn decode(kind: u8, payload: Vec<u8>) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(&payload);
        let message = match kind {
            1 => {
                let max_entries = decoder.uint()?;
                let n = decoder.count()?;
                let excludes =
                    (0..n).map(|_| decoder.bytes().map(<[u8]>::to_vec)).collect::<Result<_, _>>()?;
                Message::Scan { excludes, max_entries }
            }
            2 => return Ok(Message::Base(payload)),
            3 => Message::Go { send_all: decoder.byte()? != 0 },
            4 => {
                let id = decoder.uint32()?;
                let n = decoder.count()?;
                Message::Lacking { id, marks: decoder.raw(n)?.iter().map(|mark| *mark != 0).collect() }
            }
            10 => Message::Write,
            11 => decode_directory(&mut decoder)?,
            12 => Message::PlanEnd,
            13 => {
                let id = decoder.uint32()?;
                return Ok(Message::Content { id, data: decoder.rest().to_vec() });
            }
            20 => {
                let (id, chunks) = decode_chunks(&mut decoder)?;
                Message::Ask { id, chunks }
            }
            21 => {
                let (_, chunks) = decode_chunks(&mut decoder)?;
                return decode_batch(chunks, decoder.rest());
            }
            22 => Message::Found(decode_found(&mut decoder)?),
            23 => Message::Notice(decode_notice(&mut decoder)?),
            24 => Message::Done,
            25 => Message::Failed { message: String::from_utf8_lossy(decoder.bytes()?).into_owned() },
            30 => {
                let (id, chunks) = decode_chunks(&mut decoder)?;
                Message::Fetch { id, chunks }
            }
            31 => {
                let number = decoder.uint32()?;
                let n = decoder.count()?;
                let seen = (0..n).map(|_| decode_seen(&mut decoder)).collect::<Result<_, _>>()?;
                Message::Seen { number, seen }
            }
            _ => return Err(Malformed::new("a message of a known kind")),
        };
        decoder.end()?;
        Ok(message)
    }
}

impl Why {
    const ALL: [Why; 5] = [Why::Excluded, Why::Special, Why::Unreadable, Why::TooLong, Why::Unstable];

    fn number(self) -> u8 {
        Self::ALL.iter().position(|why| *why == self).unwrap_or(0) as u8
    }
}

/// Puts the payload of a message of this kind.
fn put(kind: u8, payload: impl FnOnce()) -> u8 {
    payload();
    kind
}

fn encode_chunks(encoder: &mut Encoder, kind: u8, id: u32, chunks: &[(Hash, u32)]) -> u8 {
    encoder.uint(id.into());
    encoder.uint(chunks.len() as u64);
    for (hash, len) in chunks {
        encoder.hash(hash);
        encoder.uint((*len).into());
    }
    kind
}

fn decode_chunks(decoder: &mut Decoder<'_>) -> Result<(u32, Vec<(Hash, u32)>), Malformed> {
    let id = decoder.uint32()?;
    let n = decoder.count()?;
    let chunks =
        (0..n).map(|_| Ok((decoder.hash()?, decoder.uint32()?))).collect::<Result<_, Malformed>>()?;
    Ok((id, chunks))
}

fn decode_batch(chunks: Vec<(Hash, u32)>, data: &[u8]) -> Result<Message, Malformed> {
    let len: u64 = chunks.iter().map(|(_, len)| u64::from(*len)).sum();
    if len != data.len() as u64 {
        return Err(Malformed::new("chunks of the lengths that were said"));
    }
    Ok(Message::Chunks(Batch { chunks, data: data.to_vec() }))
}

fn decode_directory(decoder: &mut Decoder<'_>) -> Result<Message, Malformed> {
    Ok(Message::Directory {
        root: String::from_utf8_lossy(decoder.bytes()?).into_owned(),
        path: decoder.bytes()?.to_vec(),
        mode: decode_mode(decoder)?,
        mtime_ns: decoder.int()?,
        node: decoder.bytes()?.to_vec(),
    })
}

fn decode_notice(decoder: &mut Decoder<'_>) -> Result<Notice, Malformed> {
    let path = decoder.bytes()?;
    if path.len() > MAX_PATH {
        return Err(Malformed::new("a path that is not too long"));
    }
    let why = Why::ALL.get(usize::from(decoder.byte()?)).copied().ok_or(Malformed::new("a reason"))?;
    Ok(Notice { path: path.to_vec(), why })
}

fn encode_found(encoder: &mut Encoder, found: &FoundDir) {
    encode_ref(encoder, found.at);
    encoder.uint(found.entries.len() as u64);
    for entry in &found.entries {
        match entry {
            Found::Same(at) => {
                encoder.byte(0);
                encoder.uint((*at).into());
            }
            Found::Entry(entry) => {
                encoder.byte(1);
                encoder.bytes(&entry.name);
                encoder.uint(entry.mode.into());
                encoder.int(entry.mtime_ns);
                encode_seen(encoder, entry.seen);
                encode_what(encoder, &entry.what);
            }
        }
    }
}

fn decode_found(decoder: &mut Decoder<'_>) -> Result<FoundDir, Malformed> {
    let at = decode_ref(decoder)?;
    let n = decoder.count()?;
    let entry = |_| match decoder.byte()? {
        0 => Ok(Found::Same(decoder.uint32()?)),
        1 => {
            let name = decoder.bytes()?;
            if !is_legal_name(name) {
                return Err(Malformed::new("a legal name"));
            }
            let mode = decode_mode(decoder)?;
            let mtime_ns = decoder.int()?;
            let seen = decode_seen(decoder)?;
            let what = decode_what(decoder)?;
            Ok(Found::Entry(FoundEntry { name: name.into(), mode, mtime_ns, seen, what }))
        }
        _ => Err(Malformed::new("an entry")),
    };
    Ok(FoundDir { at, entries: (0..n).map(entry).collect::<Result<_, _>>()? })
}

fn encode_what(encoder: &mut Encoder, what: &FoundWhat) {
    match what {
        FoundWhat::File(file) => {
            encoder.byte(0);
            file.encode(encoder);
        }
        FoundWhat::Directory(at) => {
            encoder.byte(1);
            encode_ref(encoder, *at);
        }
        FoundWhat::Symlink(target) => {
            encoder.byte(2);
            encoder.bytes(target);
        }
    }
}

fn decode_what(decoder: &mut Decoder<'_>) -> Result<FoundWhat, Malformed> {
    Ok(match decoder.byte()? {
        0 => FoundWhat::File(File::decode(decoder)?),
        1 => FoundWhat::Directory(decode_ref(decoder)?),
        2 => FoundWhat::Symlink(decode_target(decoder)?),
        _ => return Err(Malformed::new("a file, a directory or a link")),
    })
}

fn encode_ref(encoder: &mut Encoder, at: DirRef) {
    let (kind, number) = match at {
        DirRef::Base(number) => (0, number),
        DirRef::New(number) => (1, number),
    };
    encoder.byte(kind);
    encoder.uint(number.into());
}

fn decode_ref(decoder: &mut Decoder<'_>) -> Result<DirRef, Malformed> {
    match decoder.byte()? {
        0 => Ok(DirRef::Base(decoder.uint32()?)),
        1 => Ok(DirRef::New(decoder.uint32()?)),
        _ => Err(Malformed::new("a directory")),
    }
}

pub(super) fn encode_seen(encoder: &mut Encoder, seen: Seen) {
    encoder.uint(seen.inode);
    encoder.int(seen.ctime_ns);
}

pub(super) fn decode_seen(decoder: &mut Decoder<'_>) -> Result<Seen, Malformed> {
    Ok(Seen { inode: decoder.uint()?, ctime_ns: decoder.int()? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::Message;

    proptest! {
        #[test]
        fn no_bytes_make_reading_a_message_panic(kind in any::<u8>(), bytes in any::<Vec<u8>>()) {
            _ = Message::decode(kind % 32, bytes);
        }
    }
}
