use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::{any, proptest};
use warren_domain::{BlobHash, Timestamp};

use super::{FANOUT, Packed, Place};
use crate::{Recording, RecordingError};

fn hash(bytes: &[u8]) -> BlobHash {
    BlobHash(blake3::hash(bytes).to_hex().to_string())
}

#[test]
fn repeated_content_costs_nothing_and_comes_back_byte_for_byte() {
    // Incompressible, so that only sharing can make it small.
    let mut noise = vec![0; 900_000];
    blake3::Hasher::new().update(b"noise").finalize_xof().fill(&mut noise);
    let next = [&noise[..700_000], b"edited", &noise[700_000..], b" and more"].concat();
    let place = Place::first(Timestamp::from_millis(7));
    let first = Packed::pack(place, None, &noise).expect("packed");
    assert!(first.len() >= noise.len());
    let place = Place { n: 1, ..place };
    let second = Packed::pack(place, Some((&hash(&first), &noise)), &next).expect("packed");
    assert!(second.len() < 400, "{} bytes", second.len());

    let read = Packed::parse(&second).expect("a header").expect("packed");
    assert_eq!((read.place, &read.base), (place, &Some(hash(&first))));
    assert_eq!(read.unpack(Some(&noise)).expect("unpacked"), next);
}

#[test]
fn wrong_base_and_damaged_frame_are_errors() {
    let (base, whole) = (b"what was said before ".repeat(50), b"what was said before ".repeat(60));
    let packed =
        Packed::pack(Place { n: 1, since: Timestamp::from_millis(0) }, Some((&hash(&base), &base)), &whole);
    let packed = packed.expect("packed");
    let read = |bytes: &Bytes| Packed::parse(bytes).expect("a header").expect("packed");
    let damaged = Err(RecordingError::Damaged("it cannot be unpacked"));
    assert_eq!(read(&packed).unpack(Some(&base)), Ok(Bytes::from(whole)));
    assert_eq!(read(&packed).unpack(Some(&base.to_ascii_uppercase())), damaged);
    assert_eq!(read(&packed).unpack(None), damaged);
    assert_eq!(read(&packed.slice(..packed.len() - 1)).unpack(Some(&base)), damaged);
    assert_eq!(Packed::parse(&packed.slice(..20)), Err(RecordingError::Damaged("its header is cut short")));
    assert_eq!(Packed::parse(&Bytes::from_static(b"{}\n")), Ok(None));
}

#[test]
fn chain_depth_grows_with_the_digits_of_its_length() {
    let since = Timestamp::from_millis(0);
    let depth = |n: u32| {
        let bases = std::iter::successors(Some(n), |n| Place { n: *n, since }.base());
        bases.count() - 1
    };
    let bases: Vec<_> = [0, 1, 31, 32, 33, 64, 1024, 1056].map(|n| Place { n, since }.base()).into();
    assert_eq!(bases, [None, Some(0), Some(30), Some(0), Some(32), Some(32), Some(0), Some(1024)]);
    let deepest = (0..5_000).map(depth).max();
    assert!(deepest <= Some(3 * (FANOUT as usize - 1)), "{deepest:?}");
}

#[test]
fn old_chain_is_not_continued() {
    let place = Place { n: 4, since: Timestamp::from_millis(1_000) };
    let next = |now: i64| place.next(Timestamp::from_millis(now), Duration::from_secs(9));
    assert_eq!(next(9_999), Some(Place { n: 5, ..place }));
    assert_eq!(next(10_000), None);
    // A clock that was set back says nothing about its age.
    assert_eq!(next(999), None);
    assert_eq!(place.next(place.since, Duration::ZERO), None);
}

/// `v1` and `v2` are whole recordings; `v3` is packed, and based on `v3-base`.
#[test]
#[expect(clippy::disallowed_methods, reason = "whoever changes the form says so by a variable")]
fn stored_forms_of_every_version_are_readable() {
    let directory = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/recording"));
    let fixture = |name: &str| Bytes::from(std::fs::read(directory.join(name)).expect("a fixture"));
    let v2 = Recording::decode(&fixture("v2.bin")).expect("a recording");
    let v1 =
        Recording { model: v2.model.clone(), ..Recording::decode(&fixture("v1.bin")).expect("a recording") };
    assert_eq!(v1, v2);
    assert_eq!(
        v2.request,
        &br#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"hello"}]}"#[..]
    );
    assert_eq!((Packed::parse(&fixture("v1.bin")), Packed::parse(&fixture("v2.bin"))), (Ok(None), Ok(None)));

    let (whole, longer) = (fixture("v2.bin"), [&fixture("v2.bin")[..], b"and more"].concat());
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let place = Place::first(Timestamp::from_millis(1_700_000_000_000));
        let base = Packed::pack(place, None, &whole).expect("packed");
        let packed =
            Packed::pack(Place { n: 1, ..place }, Some((&hash(&base), &whole)), &longer).expect("packed");
        std::fs::write(directory.join("v3-base.bin"), &base).expect("written");
        std::fs::write(directory.join("v3.bin"), &packed).expect("written");
    }
    let read = |name: &str| Packed::parse(&fixture(name)).expect("a header").expect("packed");
    assert_eq!(read("v3-base.bin").unpack(None), Ok(whole.clone()));
    assert_eq!(read("v3.bin").base, Some(hash(&fixture("v3-base.bin"))));
    assert_eq!(read("v3.bin").unpack(Some(&whole)), Ok(Bytes::from(longer)));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>()) {
        let bytes = Bytes::from([b"WRC3".as_slice(), &bytes].concat());
        if let Ok(Some(packed)) = Packed::parse(&bytes) {
            let _ = packed.unpack(None);
        }
    }
}
