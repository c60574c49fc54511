use std::sync::Arc;

use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring, pki_types::ServerName};

use super::{Hello, HelloError, MAX_HELLO, read_hello};

/// What a real client sends first.
fn greeting(name: &'static str) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(name).expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).expect("written");
    bytes
}

fn named(name: &str) -> Hello {
    Hello { server_name: Some(name.to_owned()), is_encrypted: false }
}

/// A greeting with just these extensions, in one record.
fn made(extensions: &[(u16, &[u8])]) -> Vec<u8> {
    let listed: Vec<u8> = extensions
        .iter()
        .flat_map(|(kind, data)| [&kind.to_be_bytes()[..], &short(data.len()), data].concat())
        .collect();
    let body =
        [&[3, 3][..], &[0; 32], &[0], &[0, 2, 0x13, 1], &[1, 0], &short(listed.len()), &listed].concat();
    let message = [&[1, 0][..], &short(body.len()), &body].concat();
    record(&message)
}

fn record(piece: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &short(piece.len()), piece].concat()
}

fn short(length: usize) -> [u8; 2] {
    u16::try_from(length).expect("short").to_be_bytes()
}

fn list(names: &[&str]) -> Vec<u8> {
    let names: Vec<u8> =
        names.iter().flat_map(|name| [&[0][..], &short(name.len()), name.as_bytes()].concat()).collect();
    [&short(names.len())[..], &names].concat()
}

#[test]
fn a_real_clients_greeting_says_whom_it_is_meant_for() {
    assert_eq!(read_hello(&greeting("example.com")), Ok(Some(named("example.com"))));
}

#[test]
fn a_greeting_to_an_address_names_nobody() {
    assert_eq!(read_hello(&greeting("1.1.1.1")), Ok(Some(Hello { server_name: None, is_encrypted: false })));
}

#[test]
fn every_beginning_of_a_greeting_waits_for_more() {
    let whole = greeting("example.com");
    for end in 0..whole.len() {
        assert_eq!(read_hello(&whole[..end]), Ok(None), "{end}");
    }
}

#[test]
fn a_greeting_cut_into_many_records_is_put_together() {
    let whole = greeting("example.com");
    for size in [1, 2, 3, 7, 100] {
        let cut: Vec<u8> = whole[5..].chunks(size).flat_map(record).collect();
        assert_eq!(read_hello(&cut), Ok(Some(named("example.com"))), "{size}");
    }
}

#[test]
fn a_greeting_inside_a_greeting_is_seen() {
    let name = list(&["a.com"]);
    let hello = made(&[(0, &name), (0xfe0d, b"secret")]);
    assert_eq!(
        read_hello(&hello),
        Ok(Some(Hello { server_name: Some("a.com".to_owned()), is_encrypted: true }))
    );
}

#[test]
fn two_names_are_no_name() {
    let (one, other, both) = (list(&["a.com"]), list(&["b.com"]), list(&["a.com", "b.com"]));
    assert_eq!(read_hello(&made(&[(0, &one)])), Ok(Some(named("a.com"))));
    assert_eq!(read_hello(&made(&[(0, &one), (0, &other)])), Err(HelloError::Malformed));
    assert_eq!(read_hello(&made(&[(0, &both)])), Err(HelloError::Malformed));
    assert_eq!(read_hello(&made(&[(0, &list(&[]))])), Err(HelloError::Malformed));
    assert_eq!(read_hello(&made(&[(0, &list(&[""]))])), Err(HelloError::Malformed));
}

#[test]
fn what_is_not_tls_is_known_by_its_first_bytes() {
    for bytes in [&b"GET / HTTP/1.1"[..], b"SSH-2.0", &[22, 2], &[22, 3, 1, 0, 0], &[22, 3, 1, 0xff, 0xff]] {
        assert_eq!(read_hello(bytes), Err(HelloError::Malformed), "{bytes:?}");
    }
    assert_eq!(read_hello(&record(&[2, 0, 0, 0])), Err(HelloError::Malformed));
}

#[test]
fn a_greeting_that_does_not_end_is_given_up() {
    assert_eq!(read_hello(&record(&[1, 0xff, 0xff, 0xff])), Err(HelloError::TooLong));
    let long = [record(&[1, 0, 0x7f, 0xff]), record(&[0; 1 << 14]), record(&[0; 1 << 14])].concat();
    assert_eq!(read_hello(&long[..MAX_HELLO]), Err(HelloError::TooLong));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = read_hello(&bytes);
        let _ = read_hello(&record(&[&[1, 0, 1, 0][..], &bytes].concat()));
    }

    #[test]
    fn one_changed_byte_never_gives_the_name_of_another_host_unseen(at in 0_usize..200, to: u8) {
        let mut bytes = made(&[(0, &list(&["allowed.example"]))]);
        let end = bytes.len();
        bytes[at % end] = to;
        if let Ok(Some(hello)) = read_hello(&bytes) {
            // Whatever name is read stands in the bytes that are sent on.
            if let Some(name) = hello.server_name {
                prop_assert!(bytes.windows(name.len()).any(|window| window == name.as_bytes()));
            }
            prop_assert_eq!(bytes.len(), end);
        }
    }
}
