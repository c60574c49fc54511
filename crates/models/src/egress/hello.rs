//! The first message of a TLS connection, read as far as needed to know whom it is meant for.
//!
//! A tunnel's bytes are opaque, so a program could name a host that is allowed and then greet another one behind the
//! same address. The name in the greeting is therefore compared. Pure: bytes in, an answer out.

/// The longest greeting that is waited for. Real ones have a few kilobytes, with post-quantum keys in them.
pub(super) const MAX_HELLO: usize = 32 * 1024;

/// The longest piece that a TLS record may carry.
const MAX_RECORD: usize = 1 << 14;

const HANDSHAKE_RECORD: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const ENCRYPTED_HELLO: u16 = 0xfe0d;
const HOST_NAME: u8 = 0;

/// What a greeting says about whom it is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hello {
    /// The server's name, as it was written.
    pub(super) server_name: Option<String>,
    /// There is another greeting inside, which only the server can read.
    pub(super) is_encrypted: bool,
}

/// Why bytes are no greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HelloError {
    /// Something else than TLS, or TLS that breaks its own rules.
    Malformed,
    /// It does not end.
    TooLong,
}

/// Reads the greeting at the beginning of a stream. `None`: there must be more to come.
pub(super) fn read_hello(stream: &[u8]) -> Result<Option<Hello>, HelloError> {
    let hello = match message(stream)? {
        Some(message) => client_hello(&message).ok_or(HelloError::Malformed)?,
        None if stream.len() >= MAX_HELLO => return Err(HelloError::TooLong),
        None => return Ok(None),
    };
    Ok(Some(hello))
}

/// The body of the first handshake message, put together from as many records as it was cut into.
fn message(stream: &[u8]) -> Result<Option<Vec<u8>>, HelloError> {
    let mut handshake = Vec::new();
    let mut rest = stream;
    loop {
        if let [kind, a, b, c, body @ ..] = handshake.as_slice() {
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            if *kind != CLIENT_HELLO {
                return Err(HelloError::Malformed);
            }
            if length > MAX_HELLO {
                return Err(HelloError::TooLong);
            }
            if let Some(body) = body.get(..length) {
                return Ok(Some(body.to_vec()));
            }
        }
        // Said as early as it is known: what is not TLS may never send more.
        if rest.first().is_some_and(|kind| *kind != HANDSHAKE_RECORD)
            || rest.get(1).is_some_and(|major| *major != 3)
        {
            return Err(HelloError::Malformed);
        }
        let [_, _, _, high, low, after @ ..] = rest else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if !(1..=MAX_RECORD).contains(&length) {
            return Err(HelloError::Malformed);
        }
        let Some((piece, after)) = after.split_at_checked(length) else { return Ok(None) };
        handshake.extend_from_slice(piece);
        rest = after;
    }
}

/// Bytes that are taken from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// Bytes behind their length, which is one byte.
    fn vector8(&mut self) -> Option<&'a [u8]> {
        let length = self.byte()?;
        self.take(usize::from(length))
    }

    /// Bytes behind their length, which is two bytes.
    fn vector16(&mut self) -> Option<&'a [u8]> {
        let length = self.short()?;
        self.take(usize::from(length))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn client_hello(body: &[u8]) -> Option<Hello> {
    let mut reader = Reader(body);
    let (_version, _random) = (reader.take(2)?, reader.take(32)?);
    let (_session, _ciphers, _compression) = (reader.vector8()?, reader.vector16()?, reader.vector8()?);
    let mut hello = Hello { server_name: None, is_encrypted: false };
    if reader.is_empty() {
        return Some(hello);
    }
    let mut extensions = Reader(reader.vector16()?);
    if !reader.is_empty() {
        return None;
    }
    while !extensions.is_empty() {
        let (kind, data) = (extensions.short()?, extensions.vector16()?);
        match kind {
            // Two names, and the server takes the other one: refused.
            SERVER_NAME if hello.server_name.is_some() => return None,
            SERVER_NAME => hello.server_name = Some(server_name(data)?),
            ENCRYPTED_HELLO => hello.is_encrypted = true,
            _ => {}
        }
    }
    Some(hello)
}

/// The only name of a list that may have but one.
fn server_name(data: &[u8]) -> Option<String> {
    let mut data = Reader(data);
    let mut list = Reader(data.vector16()?);
    let (kind, name) = (list.byte()?, list.vector16()?);
    let is_alone = list.is_empty() && data.is_empty() && kind == HOST_NAME;
    String::from_utf8(name.to_vec()).ok().filter(|name| is_alone && !name.is_empty())
}

#[cfg(test)]
mod tests;
