//! Which names this server answers to. A web page can make a browser call any address under a name of the page's own
//! choice; it cannot make the name ours.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Method, Uri, header};
use warren_domain::ErrorCode;
use warren_wire::SOCKET_PATH;

use crate::failure::Failure;

/// The names.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: Vec<Name>,
    /// The address it listens on.
    address: String,
    /// It listens on every address of the machine: then any address is ours, for names are what can be faked.
    any_address: bool,
    /// A proxy with TLS stands before it: pages under its names come over TLS only.
    is_secure: bool,
    /// Other origins whose pages may call, as browsers write them.
    origins: Vec<String>,
}

/// A name that was configured, perhaps with the port that browsers use.
#[derive(Debug)]
struct Name {
    /// Lowercase.
    host: String,
    port: Option<u16>,
}

/// A host and a port, as `Host` and `Origin` write them.
#[derive(Debug, PartialEq, Eq)]
struct Authority<'a> {
    host: &'a str,
    port: Option<u16>,
}

impl Hosts {
    pub(crate) fn new(listen: SocketAddr, configured: &[String], is_secure: bool) -> Self {
        let name = |text: &String| {
            if let Ok(address) = text.parse::<IpAddr>() {
                return Some(Name { host: address.to_string(), port: None });
            }
            let Authority { host, port } = Authority::parse(text)?;
            Some(Name { host: host.to_lowercase(), port })
        };
        Self {
            names: configured.iter().filter_map(name).collect(),
            address: listen.ip().to_string(),
            any_address: listen.ip().is_unspecified(),
            is_secure,
            origins: Vec::new(),
        }
    }

    /// Lets pages of these origins call too.
    pub(crate) fn with_origins(self, origins: Vec<String>) -> Self {
        Self { origins, ..self }
    }

    /// The other origins whose pages may call.
    pub(crate) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Refuses what was meant for another server, and what a page of another origin wants changed.
    pub(crate) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Failure> {
        let host = target(uri, headers)?;
        if !self.is_ours(host.host) {
            let detail = format!("this server is not `{}`", host.host);
            return Err(Failure::new(ErrorCode::Misdirected, detail)
                .hint("use the address that the server printed, or add the name to `server.allowed_hosts`"));
        }
        // What a socket's page may read is asked for by GET too.
        let is_harmless = method.is_safe() && !uri.path().starts_with(SOCKET_PATH);
        if is_harmless || self.is_same_origin(&host, headers) {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::Forbidden, "the request comes from a page of another origin")
            .hint("to allow pages of that origin, add it to `server.allowed_origins`"))
    }

    fn is_ours(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let is_our_address = address.is_some_and(|address| self.any_address || address.is_loopback());
        let bare = address.map_or(host.clone(), |address| address.to_string());
        let is_named = self.names.iter().any(|name| name.host == host || name.host == bare);
        host == "localhost" || is_our_address || bare == self.address || is_named
    }

    /// Programs send no `Origin`; browsers always do for calls that change something, unless they are old, and those
    /// tell by `Sec-Fetch-Site` or are stopped by the cookie's `SameSite`.
    fn is_same_origin(&self, host: &Authority<'_>, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("null"));
        match text("origin") {
            Some(origin) => {
                self.origins.iter().any(|allowed| allowed == origin) || self.is_our_origin(host, origin)
            }
            None => matches!(text("sec-fetch-site"), None | Some("same-origin" | "none")),
        }
    }

    /// An origin is a scheme, a host and a port, and all three must be ours.
    fn is_our_origin(&self, asked: &Authority<'_>, origin: &str) -> bool {
        let Some((scheme, rest)) = origin.split_once("://") else { return false };
        let Some(from) = Authority::parse(rest) else { return false };
        let usual = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return false,
        };
        let port = from.port.unwrap_or(usual);
        // The page was got from where it calls now.
        let is_same = from.host.eq_ignore_ascii_case(asked.host) && port == asked.port.unwrap_or(usual);
        // An address never comes through a proxy that has another name for us.
        let is_name = from.host.parse::<IpAddr>().is_err();
        let is_from = |name: &&Name| is_name && name.host.eq_ignore_ascii_case(from.host);
        let mut names = self.names.iter().filter(is_from).peekable();
        if names.peek().is_none() {
            // We speak plain HTTP ourselves; TLS is a proxy's.
            return is_same && (scheme == "http" || self.is_secure);
        }
        // A proxy may call us by another name or port than the browser called it.
        let is_port_ours = |name: &Name| name.port.map_or(is_same || port == usual, |ours| port == ours);
        (scheme == "https" || !self.is_secure) && names.any(is_port_ours)
    }
}

impl<'a> Authority<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let end = rest.find(']')?;
                let port = &rest[end + 1..];
                (&text[..end + 2], if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let is_host = !host.is_empty()
            && host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']'));
        let is_digits = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
        let port = match port {
            Some(port) => Some(port.parse().ok().filter(|_| is_digits(port))?),
            None => None,
        };
        is_host.then_some(Self { host, port })
    }
}

/// The host of the request. Two different hosts are an error.
fn target<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Result<Authority<'a>, Failure> {
    let refuse = || Failure::new(ErrorCode::Misdirected, "the request does not say which server it is for");
    let mut named = headers.get_all(header::HOST).iter();
    let (first, second) = (named.next(), named.next());
    if second.is_some() {
        return Err(refuse().hint("send one `Host` header"));
    }
    let from_header = first.map(|value| value.to_str().unwrap_or_default());
    let from_uri = uri.authority().map(axum::http::uri::Authority::as_str);
    let text = match (from_uri, from_header) {
        (Some(one), Some(two)) if one != two => return Err(refuse()),
        (Some(text), _) | (None, Some(text)) => text,
        (None, None) => return Err(refuse().hint("send a `Host` header")),
    };
    Authority::parse(text).ok_or_else(refuse)
}

#[cfg(test)]
mod tests;
