use proptest::prelude::{any, proptest};
use warren_tree::Hash;

use super::{Builder, Press, Segment, Slot, Table, TailError};

/// A pack of version 1, byte for byte. It stays readable for ever.
const V1: &[u8] = include_bytes!("../../fixtures/v1.pack");

fn sample() -> Vec<Vec<u8>> {
    vec![b"hello".to_vec(), vec![b'z'; 5000], (0..=255).collect()]
}

#[test]
fn a_pack_of_version_1_is_read_as_it_was_written() {
    let table = Table::from_tail(V1).expect("a table");
    let read = |(hash, slot): &(Hash, Slot)| {
        let segment: Segment = table.segments[slot.segment as usize];
        let stored = &V1[segment.offset as usize..][..segment.stored as usize];
        let raw = segment.open(stored.to_vec()).expect("a segment");
        let bytes = raw[slot.offset as usize..][..slot.len as usize].to_vec();
        assert_eq!(Hash::of(&bytes), *hash);
        bytes
    };
    assert_eq!(table.objects.iter().map(read).collect::<Vec<_>>(), sample());
}

#[test]
fn what_is_written_is_read() {
    let mut builder = Builder::default();
    let objects: Vec<_> = sample().iter().map(|bytes| (Hash::of(bytes), bytes.len() as u32)).collect();
    let mut press = Press::default();
    builder.add(&press.seal(&objects[..2], &sample()[..2].concat()));
    builder.add(&press.seal(&objects[2..], &sample()[2..].concat()));
    let (bytes, table) = builder.finish();
    if let Some(path) = option_env!("WARREN_UPDATE_FIXTURES") {
        std::fs::write(path, &bytes).expect("writes");
    }
    assert_eq!(Table::from_tail(&bytes), Ok(table));
}

#[test]
fn a_pack_that_was_cut_or_damaged_has_no_table() {
    for end in 0..V1.len() {
        assert!(Table::from_tail(&V1[..end]).is_err(), "cut at {end}");
    }
    let from = V1.len() - 100;
    for at in from..V1.len() {
        let mut bytes = V1.to_vec();
        bytes[at] ^= 1;
        assert!(Table::from_tail(&bytes).is_err(), "damaged at {at}");
    }
    assert!(matches!(Table::from_tail(&V1[V1.len() - 50..]), Err(TailError::More(n)) if n < V1.len()));
}

proptest! {
    #[test]
    fn no_bytes_make_reading_a_table_panic(bytes in any::<Vec<u8>>()) {
        _ = Table::decode(&bytes);
        _ = Table::from_tail(&bytes);
    }
}
