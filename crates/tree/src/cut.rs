//! Cutting content into chunks, by what it is and not by where it lies.

use std::os::fd::AsFd;

use fastcdc::v2020::{Normalization, cut, select_masks};
use rustix::{
    fs::{SeekFrom, seek},
    io::{Errno, pread},
};

use crate::{File, Hash, Piece};

/// Content up to this is one chunk, whatever it is.
pub(crate) const MIN_CHUNK: usize = 64 * 1024;
const AVERAGE_CHUNK: usize = 256 * 1024;
/// The longest chunk.
pub const MAX_CHUNK: usize = 1024 * 1024;

/// How much of a big file is in memory at a time.
const WINDOW: usize = 4 * MAX_CHUNK;

/// The hash a file of this content has in a tree: see [`File::hash`].
#[must_use]
pub fn hash_content(content: &[u8]) -> Hash {
    let mut file = File { size: content.len() as u64, pieces: Vec::new() };
    let cuts = Cuts::new();
    let mut rest = content;
    while !rest.is_empty() {
        let (chunk, more) = rest.split_at(cuts.next(rest));
        file.pieces.push(Piece::Data { hash: Hash::of(chunk), len: chunk.len() as u32 });
        rest = more;
    }
    file.hash()
}

/// Where to cut.
pub(crate) struct Cuts {
    mask_small: u64,
    mask_large: u64,
}

impl Cuts {
    pub(crate) fn new() -> Self {
        let (mask_small, mask_large) = select_masks(AVERAGE_CHUNK, Normalization::Level1);
        Self { mask_small, mask_large }
    }

    /// The length of the first chunk. `source` is at least [`MAX_CHUNK`] long, or all there is.
    pub(crate) fn next(&self, source: &[u8]) -> usize {
        let (small, large) = (self.mask_small, self.mask_large);
        let sizes = (MIN_CHUNK, AVERAGE_CHUNK, MAX_CHUNK);
        let (_, len) = cut(source, sizes.0, sizes.1, sizes.2, small, large, small << 1, large << 1);
        len
    }
}

/// Cuts big files, one after the other.
pub(crate) struct Cutter {
    cuts: Cuts,
    window: Vec<u8>,
}

impl Cutter {
    pub(crate) fn new() -> Self {
        Self { cuts: Cuts::new(), window: Vec::new() }
    }

    /// Cuts the first `size` bytes of a file. Each chunk is handed to `take`, which says its hash. A file that
    /// has become shorter gives fewer bytes.
    pub(crate) fn cut<E: From<Errno>>(
        &mut self,
        file: impl AsFd,
        size: u64,
        is_sparse: bool,
        mut take: impl FnMut(&[u8]) -> Result<Hash, E>,
    ) -> Result<File, E> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < size {
            let (data, end) = if is_sparse { next_extent(&file, at, size)? } else { (at, size) };
            if data > at {
                pieces.push(Piece::Hole { len: data - at });
            }
            let read = self.cut_extent(&file, data, end, |chunk| {
                let hash = take(chunk)?;
                pieces.push(Piece::Data { hash, len: chunk.len() as u32 });
                Ok::<_, E>(())
            })?;
            at = data + read;
            if at < end {
                break;
            }
        }
        Ok(File { size: at, pieces })
    }

    /// Returns how many bytes there were.
    fn cut_extent<E: From<Errno>>(
        &mut self,
        file: impl AsFd,
        from: u64,
        to: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.window.resize(WINDOW, 0);
        let mut at = from;
        let mut held = 0;
        let mut is_over = from >= to;
        while !is_over || held > 0 {
            while held < WINDOW && !is_over {
                let want = usize::try_from(to - at).map_or(WINDOW - held, |left| left.min(WINDOW - held));
                match pread(&file, &mut self.window[held..held + want], at) {
                    Ok(0) => is_over = true,
                    Ok(n) => {
                        held += n;
                        at += n as u64;
                        is_over = at == to;
                    }
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
            let mut start = 0;
            while held - start >= MAX_CHUNK || (is_over && start < held) {
                let len = self.cuts.next(&self.window[start..held]);
                take(&self.window[start..start + len])?;
                start += len;
            }
            self.window.copy_within(start..held, 0);
            held -= start;
        }
        Ok(at - from)
    }
}

/// The next part of a sparse file that is not a hole. Where nothing more comes, it is empty and at the end.
fn next_extent(file: impl AsFd, at: u64, size: u64) -> Result<(u64, u64), Errno> {
    let data = match seek(&file, SeekFrom::Data(at)) {
        Ok(data) => data.min(size),
        Err(Errno::NXIO) => return Ok((size, size)),
        // A file system that does not know holes: all is data.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok((at, size)),
        Err(errno) => return Err(errno),
    };
    let end = seek(&file, SeekFrom::Hole(data)).map_or(size, |end| end.min(size));
    Ok((data, end))
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::FileExt};

    use rustix::io::Errno;

    use super::{Cutter, hash_content};
    use crate::{Hash, Piece};

    /// Bytes that do not repeat.
    fn noise(n_bytes: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(n_bytes).collect()
    }

    fn cut(file: &std::fs::File, size: u64, is_sparse: bool) -> (crate::File, Vec<u8>) {
        let mut content = Vec::new();
        let cut = Cutter::new().cut(file, size, is_sparse, |chunk| {
            content.extend_from_slice(chunk);
            Ok::<_, Errno>(Hash::of(chunk))
        });
        (cut.expect("reads"), content)
    }

    #[test]
    fn a_file_in_windows_is_cut_like_content_at_hand() {
        let content = noise(9_000_001);
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&content).expect("writes");
        let (cut, read) = cut(&file, content.len() as u64, false);
        assert!(read == content, "all is there");
        assert_eq!((cut.hash(), cut.size), (hash_content(&content), content.len() as u64));
        assert!(cut.pieces.len() > 9, "{} pieces", cut.pieces.len());
    }

    #[test]
    fn a_byte_more_at_the_front_leaves_most_chunks_as_they_were() {
        let content = noise(8_000_000);
        let mut longer = vec![7];
        longer.extend_from_slice(&content);
        let pieces = |content: &[u8]| {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(content).expect("writes");
            cut(&file, content.len() as u64, false).0.pieces
        };
        let (before, after) = (pieces(&content), pieces(&longer));
        let kept = after.iter().filter(|piece| before.contains(piece)).count();
        assert!(kept * 10 > before.len() * 8, "{kept} of {}", before.len());
    }

    #[test]
    fn a_hole_is_a_piece_without_content() {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(b"end", 1 << 33).expect("writes");
        let (cut, read) = cut(&file, (1 << 33) + 3, true);
        assert_eq!(cut.size, (1 << 33) + 3);
        assert!(matches!(cut.pieces[0], Piece::Hole { len } if len > 1 << 32), "{:?}", cut.pieces);
        assert!(read.ends_with(b"end") && read.len() < 1 << 20);
    }

    #[test]
    fn a_file_that_became_shorter_gives_what_is_there() {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(&noise(100_000), 0).expect("writes");
        assert_eq!(cut(&file, 5_000_000, false).0.size, 100_000);
    }
}
