//! Why a provider cannot be reached, in a few words that name no address.

use std::{error::Error, io};

/// The reason for an error of a request that got no answer.
pub(super) fn reason(error: &reqwest::Error) -> &'static str {
    let (mut causes, mut next) = (Vec::new(), error.source());
    while let Some(cause) = next {
        causes.push(cause);
        next = cause.source();
    }
    let io = causes.iter().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    // The resolver's error has no type of its own to ask.
    if causes.iter().any(|cause| cause.to_string().starts_with("dns error")) {
        return "its host name cannot be resolved";
    }
    match io {
        Some(io::ErrorKind::ConnectionRefused) => "connection refused",
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => "connection reset",
        Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => "no route to its host",
        _ if error.is_timeout() => "connection timed out",
        _ if error.is_connect() => "no connection could be made",
        _ => "the connection closed without an answer",
    }
}
