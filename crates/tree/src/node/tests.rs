use proptest::prelude::{any, proptest};

use super::{Directory, Entry, File, Node, Piece, Totals, What};
use crate::Hash;

/// The stored form of version 1, byte for byte. It stays readable for ever.
const V1: &str = include_str!("../../fixtures/node-v1.hex");

fn sample() -> Node {
    let entry = |name: &[u8], mode, what| Entry { name: name.into(), mode, mtime_ns: -5, what };
    let data = |text: &[u8]| Piece::Data { hash: Hash::of(text), len: text.len() as u32 };
    let pieces = vec![data(b"abc"), Piece::Hole { len: 1 << 32 }];
    Node {
        entries: vec![
            entry(b"a", 0o644, What::File(File { size: 3, pieces: vec![data(b"abc")] })),
            entry(
                b"b",
                0o755,
                What::Directory(Directory { node: Hash::of(b"x"), totals: Totals { files: 2, bytes: 9 } }),
            ),
            entry(b"c", 0o777, What::Symlink((*b"../etc").into())),
            entry(b"\xff\xfe", 0, What::File(File { size: 3 + (1 << 32), pieces })),
        ],
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_node_looks_as_it_always_did() {
    assert_eq!(hex(&sample().encode()), V1.trim());
    let bytes: Vec<u8> = (0..V1.trim().len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&V1[at..at + 2], 16).expect("hex"))
        .collect();
    assert_eq!(Node::decode(&bytes), Ok(sample()));
}

#[test]
fn what_no_honest_writer_makes_is_refused() {
    let mut cases = vec![Vec::new(), vec![2, 0], vec![1, 5]];
    for name in [&b""[..], b".", b"..", b"a/b", b"a\0b", &[b'x'; 256]] {
        let entry = Entry { name: name.into(), mode: 0, mtime_ns: 0, what: What::File(File::default()) };
        cases.push(Node { entries: vec![entry] }.encode());
    }
    let twice = sample().entries[0].clone();
    cases.push(Node { entries: vec![twice.clone(), twice.clone()] }.encode());
    let setuid = Entry { mode: 0o4755, ..twice.clone() };
    cases.push(Node { entries: vec![setuid] }.encode());
    let short = Entry { what: What::File(File { size: 4, pieces: vec![] }), ..twice };
    cases.push(Node { entries: vec![short] }.encode());
    for bytes in cases {
        Node::decode(&bytes).expect_err("refused");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_reading_a_node_panic(bytes in any::<Vec<u8>>()) {
        let mut versioned = vec![1];
        versioned.extend(bytes);
        _ = Node::decode(&versioned);
    }
}
