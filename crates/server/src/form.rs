//! A form as it comes: one file after the other, and never more of it in memory than is being looked at.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use multer::{Field, Multipart};
use warren_domain::ErrorCode;

use crate::{body::ByteStream, choke::Call, failure::Failure, preview::decoded};

/// Maximum length before a part's content starts. Headers of parts are short.
const LONGEST_HEAD: u64 = 64 * 1024;

/// The body of a request that is a form.
pub(crate) struct Form {
    parts: Multipart<'static>,
    /// Remaining bytes before the limit.
    left: Arc<AtomicU64>,
}

/// One file of a form.
pub(crate) struct FilePart {
    pub(crate) name: String,
    pub(crate) content: Field<'static>,
}

impl Form {
    /// The body, which must be a form.
    pub(crate) fn of(call: &Call) -> Result<Self, Failure> {
        let media = call.header("content-type").unwrap_or_default();
        let boundary = multer::parse_boundary(media).map_err(|_| {
            Failure::new(
                ErrorCode::UnsupportedMediaType,
                "the body must be `multipart/form-data` with a boundary",
            )
        })?;
        Ok(Self::new(call.take_stream()?, boundary))
    }

    fn new(body: ByteStream, boundary: String) -> Self {
        let left = Arc::new(AtomicU64::new(LONGEST_HEAD));
        Self { parts: Multipart::new(piece_by_piece(body, left.clone()), boundary), left }
    }

    /// The next file. Parts that are no files are passed over: pages send them along.
    pub(crate) async fn next_file(&mut self) -> Result<Option<FilePart>, multer::Error> {
        while let Some(mut part) = self.next_part().await? {
            if let Some(name) = file_name(&part) {
                return Ok(Some(FilePart { name, content: part }));
            }
            while part.chunk().await?.is_some() {}
        }
        Ok(None)
    }

    async fn next_part(&mut self) -> Result<Option<Field<'static>>, multer::Error> {
        self.left.store(LONGEST_HEAD, Ordering::Relaxed);
        let part = self.parts.next_field().await;
        self.left.store(u64::MAX, Ordering::Relaxed);
        part
    }
}

/// A body, of which a form takes all that it can get before it looks at any: so it gets one piece, and then its turn.
fn piece_by_piece(
    mut body: ByteStream,
    left: Arc<AtomicU64>,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let mut has_given = false;
    stream::poll_fn(move |cx| {
        if std::mem::take(&mut has_given) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = left.load(Ordering::Relaxed);
        if before == 0 {
            let what = format!("the header of a form part is limited to {LONGEST_HEAD} bytes");
            return Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::InvalidData, what))));
        }
        let next = body.poll_next_unpin(cx);
        if let Poll::Ready(Some(Ok(piece))) = &next {
            has_given = true;
            left.store(before.saturating_sub(piece.len() as u64), Ordering::Relaxed);
        }
        next
    })
}

/// The name of the file that a part is, if it is one. Some clients write it only in the way of RFC 5987.
fn file_name(part: &Field<'_>) -> Option<String> {
    if let Some(name) = part.file_name() {
        return Some(name.to_owned());
    }
    let disposition = part.headers().get("content-disposition")?.to_str().ok()?;
    extended_name(disposition)
}

fn extended_name(disposition: &str) -> Option<String> {
    let value = disposition.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("filename*").then(|| value.trim())
    })?;
    let (charset, rest) = value.split_once('\'')?;
    let (_language, name) = rest.split_once('\'')?;
    charset.eq_ignore_ascii_case("utf-8").then(|| decoded(name)).flatten()
}

/// What a broken form says of itself to whoever reads a file of it.
pub(crate) fn broken(error: &multer::Error) -> io::Error {
    let cause = match error {
        multer::Error::StreamReadFailed(cause) => cause.downcast_ref::<io::Error>(),
        _ => None,
    };
    match cause {
        Some(cause) => io::Error::new(cause.kind(), cause.to_string()),
        None => io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the body is not a valid `multipart/form-data` form: {error}"),
        ),
    }
}

/// The error of a broken form.
pub(crate) fn code_of(error: &io::Error) -> ErrorCode {
    match error.kind() {
        io::ErrorKind::FileTooLarge => ErrorCode::TooLarge,
        _ => ErrorCode::BadRequest,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use bytes::Bytes;
    use futures::{StreamExt as _, stream};

    use super::{Form, LONGEST_HEAD, broken, extended_name};

    const PIECE: usize = 16 * 1024;

    /// A form of these bytes, and how many pieces of it were taken.
    fn form(pieces: impl Iterator<Item = Bytes> + Send + 'static) -> (Form, Arc<AtomicUsize>) {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = taken.clone();
        let pieces = pieces.inspect(move |_| _ = counted.fetch_add(1, Ordering::Relaxed)).map(Ok);
        (Form::new(stream::iter(pieces).boxed(), "XX".to_owned()), taken)
    }

    #[tokio::test]
    async fn a_head_without_an_end_is_given_up_soon() {
        for start in [
            "--XX\r\nx: ",
            "no boundary ",
            "--XX\r\ncontent-disposition: form-data; filename=\"a\"\r\n\r\nx\r\n--XX\r\ny: ",
        ] {
            let endless = std::iter::repeat_n(Bytes::from(vec![b'x'; PIECE]), 10_000);
            let (mut form, taken) = form(std::iter::once(Bytes::from(start)).chain(endless));
            let error = loop {
                match form.next_file().await {
                    Ok(Some(mut file)) => while file.content.chunk().await.expect("a file").is_some() {},
                    Ok(None) => panic!("it has no end"),
                    Err(error) => break broken(&error),
                }
            };
            assert_eq!(
                (error.kind(), error.to_string().contains("head")),
                (io::ErrorKind::InvalidData, true)
            );
            let most = usize::try_from(LONGEST_HEAD).expect("short") / PIECE + 3;
            assert!(taken.load(Ordering::Relaxed) <= most, "{start}: {taken:?}");
        }
    }

    #[tokio::test]
    async fn a_file_is_taken_as_it_is_read_and_not_before() {
        let head = Bytes::from("--XX\r\ncontent-disposition: form-data; filename=\"a\"\r\n\r\n");
        let content = std::iter::repeat_n(Bytes::from(vec![b'x'; PIECE]), 1_000);
        let (mut form, taken) =
            form(std::iter::once(head).chain(content).chain([Bytes::from("\r\n--XX--\r\n")]));
        let mut file = form.next_file().await.expect("a form").expect("a file");
        let (mut n_bytes, mut n_read) = (0, 0);
        while let Some(piece) = file.content.chunk().await.expect("content") {
            (n_bytes, n_read) = (n_bytes + piece.len(), n_read + 1);
            assert!(taken.load(Ordering::Relaxed) <= n_read + 2, "{n_read}: {taken:?}");
        }
        assert_eq!(n_bytes, 1_000 * PIECE);
        drop(file);
        assert!(form.next_file().await.expect("a form").is_none());
    }

    #[tokio::test]
    async fn a_part_that_is_no_file_is_passed_over_whatever_its_length() {
        let text = "x".repeat(300_000);
        let body = format!(
            "--XX\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\n{text}\r\n\
             --XX\r\ncontent-disposition: form-data; name=\"f\"; filename*=UTF-8''%C3%BC%20b.txt\r\n\r\nhere\r\n--XX--\r\n"
        );
        let pieces: Vec<_> = body.as_bytes().chunks(PIECE).map(Bytes::copy_from_slice).collect();
        let (mut form, _) = form(pieces.into_iter());
        let file = form.next_file().await.expect("a form").expect("a file");
        assert_eq!(
            (file.name.as_str(), file.content.text().await.expect("text")),
            ("ü b.txt", "here".to_owned())
        );
        assert!(form.next_file().await.expect("a form").is_none());
    }

    #[test]
    fn an_extended_name_is_decoded_if_it_is_utf_8() {
        for (text, expect) in [
            ("form-data; name=\"f\"; filename*=UTF-8''a%20b.txt", Some("a b.txt")),
            ("form-data; FileName* = utf-8'en'%c3%bc", Some("ü")),
            ("form-data; filename*=UTF-8''..%2Fa", Some("../a")),
            ("form-data; filename*=ISO-8859-1''a", None),
            ("form-data; filename*=a.txt", None),
            ("form-data; name=\"f\"", None),
        ] {
            assert_eq!(extended_name(text).as_deref(), expect, "{text}");
        }
    }
}
