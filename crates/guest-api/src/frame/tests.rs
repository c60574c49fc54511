use bytes::Bytes;
use proptest::{prelude::any, proptest};

use super::{Frame, FrameReader, MAX_FRAME, read_frame};
use crate::{ErrorCode, Exit, GuestError, Output};

fn every_kind() -> Vec<Frame> {
    let data = || Bytes::from_static(b"some data");
    vec![
        Frame::Reply(Bytes::from_static(b"null")),
        Frame::error(ErrorCode::NotFound, "it is not there"),
        Frame::Data(data()),
        Frame::Data(Bytes::new()),
        Frame::End(Bytes::new()),
        Frame::Stdin(data()),
        Frame::StdinEnd,
        Frame::Signal(9),
        Frame::Credit(Output::Stdout, 77),
        Frame::Credit(Output::Stderr, u32::MAX),
        Frame::Output(Output::Stdout, data()),
        Frame::Output(Output::Stderr, data()),
        Frame::OutputEnd(Output::Stdout),
        Frame::OutputEnd(Output::Stderr),
        Frame::StdinCredit(0),
        Frame::Exit(Exit::Code(3)),
        Frame::Exit(Exit::Signal(9)),
    ]
}

fn encoded(frames: &[Frame]) -> Vec<u8> {
    frames.iter().flat_map(|frame| frame.encode().expect("encodes")).collect()
}

async fn read_all(mut bytes: &[u8]) -> Vec<Frame> {
    let mut reader = FrameReader::new(&mut bytes);
    let mut frames = Vec::new();
    while let Some(frame) = reader.next().await.expect("reads") {
        frames.push(frame);
    }
    frames
}

#[tokio::test]
async fn every_frame_survives_the_way_through_bytes() {
    let frames = every_kind();
    assert_eq!(read_all(&encoded(&frames)).await, frames);
    for frame in frames {
        assert_eq!(read_frame(&mut &encoded(std::slice::from_ref(&frame))[..]).await.expect("reads"), frame);
    }
}

#[tokio::test]
async fn a_cut_frame_is_an_error_and_not_an_end() {
    let whole = encoded(&[Frame::Data(Bytes::from_static(b"some data"))]);
    for len in 1..whole.len() {
        let mut part = &whole[..len];
        FrameReader::new(&mut part).next().await.expect_err("cut");
    }
}

#[tokio::test]
async fn a_frame_too_long_is_refused_before_it_is_read() {
    let mut bytes = vec![3];
    bytes.extend_from_slice(&(MAX_FRAME as u32 + 1).to_be_bytes());
    FrameReader::new(&bytes[..]).next().await.expect_err("too long");
    Frame::Data(vec![0; MAX_FRAME + 1].into()).encode().expect_err("too long");
}

#[test]
fn an_error_code_of_a_newer_guest_is_read_as_other() {
    let error: GuestError = Frame::parse(br#"{"code":"brand_new","message":"?"}"#).expect("reads");
    assert_eq!(error, GuestError::new(ErrorCode::Other, "?"));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut reader = FrameReader::new(&bytes[..]);
            while let Ok(Some(_)) = reader.next().await {}
        });
    }
}
