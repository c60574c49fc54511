//! A tunnel: bytes both ways, once the greeting was looked at.

use std::{io, time::Duration};

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    time::timeout,
};

use super::{
    EgressCaller, EgressStream,
    decide::decision,
    hello::{Hello, HelloError, MAX_HELLO, read_hello},
    host::{Host, Target},
};

/// The fatal alert `unrecognized_name`, so that a client says what is wrong and does not try again.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// A CONNECT that was allowed and dialled, before its first byte.
pub(super) struct Tunnel {
    /// The sandbox's end, once the answer to CONNECT is out.
    pub(super) sandbox: OnUpgrade,
    pub(super) upstream: Box<dyn EgressStream>,
    /// Whom a TLS greeting must be meant for. `None`: it is not looked at.
    pub(super) checked: Option<Target>,
    pub(super) greeting_timeout: Duration,
}

/// What is wrong with a greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    /// It is meant for somebody else.
    Name(String),
    /// It is meant for nobody, for somebody that cannot be seen, or is no greeting.
    Unreadable(&'static str),
}

impl Tunnel {
    /// Carries bytes until both ends closed.
    pub(super) async fn run(self, caller: &dyn EgressCaller) {
        let Tunnel { sandbox, mut upstream, checked, greeting_timeout } = self;
        let Ok(sandbox) = sandbox.await else { return };
        let mut sandbox = TokioIo::new(sandbox);
        if let Some(target) = checked {
            let greeting = timeout(greeting_timeout, greeting(&mut sandbox)).await;
            let Ok(Ok((bytes, read))) = greeting else { return };
            if let Some(fault) = fault(&target.host, read) {
                refuse(&target, fault, caller, &mut sandbox).await;
                return;
            }
            if upstream.write_all(&bytes).await.is_err() {
                return;
            }
        }
        if let Err(error) = copy_bidirectional(&mut sandbox, &mut upstream).await {
            tracing::debug!(%error, "a tunnel broke");
        }
    }
}

/// Reads until the greeting is whole or known not to be one.
async fn greeting<S>(sandbox: &mut S) -> io::Result<(Vec<u8>, Result<Hello, HelloError>)>
where
    S: AsyncRead + Unpin,
{
    let mut bytes = Vec::with_capacity(2048);
    loop {
        match read_hello(&bytes) {
            Ok(Some(hello)) => return Ok((bytes, Ok(hello))),
            Err(error) => return Ok((bytes, Err(error))),
            Ok(None) => {}
        }
        let room = MAX_HELLO.saturating_sub(bytes.len()).max(1);
        let mut piece = (&mut *sandbox).take(u64::try_from(room).unwrap_or(u64::MAX));
        if piece.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn fault(host: &Host, read: Result<Hello, HelloError>) -> Option<Fault> {
    let hello = match read {
        Ok(hello) => hello,
        Err(HelloError::Malformed) => return Some(Fault::Unreadable("no TLS ClientHello was sent")),
        Err(HelloError::TooLong) => return Some(Fault::Unreadable("the TLS ClientHello is too long")),
    };
    match (host, &hello.server_name) {
        // Names in greetings have no final dot and may be in upper case: they are read like any other.
        (_, Some(name)) if Host::parse(name).as_ref() != Some(host) => Some(Fault::Name(name.clone())),
        _ if hello.is_encrypted => Some(Fault::Unreadable("the TLS ClientHello hides its server name")),
        (Host::Name(_), None) => Some(Fault::Unreadable("the TLS ClientHello has no server name")),
        // Greetings to an address have no name.
        _ => None,
    }
}

/// The greeting is a decision of its own: it asks for another host than the CONNECT did.
async fn refuse<S>(target: &Target, fault: Fault, caller: &dyn EgressCaller, sandbox: &mut S)
where
    S: AsyncWrite + Unpin,
{
    let refused = match fault {
        Fault::Unreadable(why) => decision(target, false, why.to_owned()),
        Fault::Name(name) => {
            let why = format!("the TLS ClientHello names another host than `{target}`");
            let host = Host::parse(&name).unwrap_or_else(|| target.host.clone());
            decision(&Target { host, port: target.port }, false, why)
        }
    };
    caller.decided(refused).await;
    // If the sandbox is gone there is nobody left to tell.
    let _ = sandbox.write_all(&ALERT).await;
    let _ = sandbox.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::{Fault, Hello, HelloError, Host, fault};

    fn named(name: &str) -> Result<Hello, HelloError> {
        Ok(Hello { server_name: Some(name.to_owned()), is_encrypted: false })
    }

    #[test]
    fn only_the_name_that_was_asked_for_goes_through() {
        let host = Host::Name("example.com".to_owned());
        assert_eq!(fault(&host, named("example.com")), None);
        assert_eq!(fault(&host, named("EXAMPLE.com")), None);
        for other in ["a.example.com", "example.org", "com", "1.1.1.1", "ex ample"] {
            assert_eq!(fault(&host, named(other)), Some(Fault::Name(other.to_owned())));
        }
    }

    #[test]
    fn a_greeting_that_hides_its_server_is_refused() {
        let host = Host::Name("example.com".to_owned());
        let hidden = Ok(Hello { server_name: Some("example.com".to_owned()), is_encrypted: true });
        let nobody = Ok(Hello { server_name: None, is_encrypted: false });
        let why = |why| Some(Fault::Unreadable(why));
        assert_eq!(fault(&host, hidden), why("the TLS ClientHello hides its server name"));
        assert_eq!(fault(&host, nobody.clone()), why("the TLS ClientHello has no server name"));
        assert_eq!(fault(&host, Err(HelloError::Malformed)), why("no TLS ClientHello was sent"));
        assert_eq!(fault(&Host::Address([1, 1, 1, 1].into()), nobody), None);
    }
}
