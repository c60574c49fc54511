//! Where a request wants to go, in the one spelling that everything else works with.

use std::{fmt, net::IpAddr};

use hyper::Uri;
use url::Host as ParsedHost;

/// The longest name that can be looked up.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// A host as the URL standard reads it: an address in any spelling is an address, a name is lower case, in its ASCII
/// form and without a final dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// Why a request names no target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TargetError {
    #[error("the request names no host; this is a proxy, so a request must name the whole URL")]
    Missing,
    #[error("only `http` URLs can be requested this way; use CONNECT for others")]
    Scheme,
    #[error("a URL with a user name or password is not accepted here")]
    UserInfo,
    #[error("the host name is invalid")]
    Host,
    #[error("the port is invalid")]
    Port,
}

impl Host {
    /// Reads a host as browsers do, so that no spelling means one thing here and another where it is dialled.
    pub(super) fn parse(text: &str) -> Option<Host> {
        match ParsedHost::parse(text).ok()? {
            ParsedHost::Ipv4(address) => Some(Host::Address(address.into())),
            ParsedHost::Ipv6(address) => Some(Host::Address(address.into())),
            ParsedHost::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                is_name(name).then(|| Host::Name(name.to_owned()))
            }
        }
    }
}

/// Names have letters, digits, hyphens and underscores, so nothing in them can be mistaken by a resolver or a log.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

impl Target {
    /// The target of a CONNECT: `host:port` and nothing else.
    pub(super) fn of_connect(uri: &Uri) -> Result<Target, TargetError> {
        let (host, port) = split(uri)?;
        Ok(Target { host, port: port.ok_or(TargetError::Port)? })
    }

    /// The target of any other request, whose URI must be whole.
    pub(super) fn of_request(uri: &Uri) -> Result<Target, TargetError> {
        match uri.scheme_str() {
            Some(scheme) if scheme.eq_ignore_ascii_case("http") => {}
            Some(_) => return Err(TargetError::Scheme),
            None => return Err(TargetError::Missing),
        }
        let (host, port) = split(uri)?;
        Ok(Target { host, port: port.unwrap_or(80) })
    }

    /// Reads `host:port`, with brackets around an IPv6 address.
    pub(super) fn parse(text: &str) -> Option<Target> {
        let (host, port) = text.rsplit_once(':')?;
        Some(Target { host: Host::parse(host)?, port: parse_port(port)? })
    }
}

/// The host and the port, if any, of a URI's authority.
fn split(uri: &Uri) -> Result<(Host, Option<u16>), TargetError> {
    let authority = uri.authority().ok_or(TargetError::Missing)?.as_str();
    if authority.contains('@') {
        return Err(TargetError::UserInfo);
    }
    // A colon inside brackets belongs to an IPv6 address.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let port = port.map(|port| parse_port(port).ok_or(TargetError::Port)).transpose()?;
    Ok((Host::parse(host).ok_or(TargetError::Host)?, port))
}

/// Digits only: `str::parse` would take a sign.
pub(super) fn parse_port(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port != 0)
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(address)) => address.fmt(f),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use hyper::Uri;
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Host, Target, TargetError};

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(Host::parse(text).map(|host| host.to_string()).as_deref(), expect, "{text}");
    }

    #[test]
    fn an_address_is_the_same_however_it_is_written() {
        let loopback = [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7F.0.0.0x1",
            "017700000001",
            "0177.0.0.01",
            "127.0.0.1.",
            "0x7f.1",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
        ];
        for text in loopback {
            check(text, Some("127.0.0.1"));
        }
        check("0", Some("0.0.0.0"));
        check("0x", Some("0.0.0.0"));
        check("0xA9FEA9FE", Some("169.254.169.254"));
        check("[::FFFF:127.0.0.1]", Some("[::ffff:127.0.0.1]"));
        check("[0:0:0:0:0:0:0:1]", Some("[::1]"));
    }

    #[test]
    fn a_name_is_lower_case_in_ascii_and_without_a_final_dot() {
        check("Example.COM", Some("example.com"));
        check("example.com.", Some("example.com"));
        check("bücher.example", Some("xn--bcher-kva.example"));
        check("ｅxample.com", Some("example.com"));
        check("a_b.example", Some("a_b.example"));
        check("localhost", Some("localhost"));
    }

    #[test]
    fn what_is_neither_is_no_host() {
        let long = format!("{}.com", "a".repeat(64));
        let bad = [
            "",
            ".",
            "..",
            "a..b",
            "a.com..",
            ".a.com",
            "a b",
            "a/b",
            "a@b",
            "a:1",
            "[::1",
            "::1",
            "[fe80::1%25eth0]",
            "256.0.0.1",
            "1.2.3.4.5",
            "0xffffffff0",
            "*.example.com",
            "a\0b",
            "a%00b",
            &long,
        ];
        for text in bad {
            check(text, None);
        }
    }

    #[track_caller]
    fn check_uri(uri: &str, expect: Result<&str, TargetError>) {
        let found = Target::of_request(&uri.parse::<Uri>().expect("a URI"));
        assert_eq!(found.map(|target| target.to_string()), expect.map(str::to_owned), "{uri}");
    }

    #[test]
    fn a_request_names_its_whole_url() {
        check_uri("http://EXAMPLE.com/x?y", Ok("example.com:80"));
        check_uri("HTTP://example.com:8080", Ok("example.com:8080"));
        check_uri("http://[::1]/", Ok("[::1]:80"));
        check_uri("http://[::1]:81/", Ok("[::1]:81"));
        check_uri("/etc/passwd", Err(TargetError::Missing));
        check_uri("example.com:80", Err(TargetError::Missing));
        check_uri("https://example.com/", Err(TargetError::Scheme));
        check_uri("ftp://example.com/", Err(TargetError::Scheme));
        check_uri("http://good.example@10.0.0.1/", Err(TargetError::UserInfo));
        check_uri("http://good.example:80@10.0.0.1:80/", Err(TargetError::UserInfo));
        check_uri("http://example.com:0/", Err(TargetError::Port));
    }

    #[test]
    fn a_connect_names_its_port() {
        let of = |text: &str| Target::of_connect(&text.parse().expect("a URI")).map(|to| to.to_string());
        assert_eq!(of("Example.com:443"), Ok("example.com:443".to_owned()));
        assert_eq!(of("example.com"), Err(TargetError::Port));
        assert_eq!(of("x@example.com:443"), Err(TargetError::UserInfo));
    }

    proptest! {
        #[test]
        fn a_host_that_was_read_reads_the_same_again(text in "\\PC{0,40}") {
            if let Some(host) = Host::parse(&text) {
                prop_assert_eq!(Host::parse(&host.to_string()), Some(host));
            }
        }

        #[test]
        fn every_number_is_the_address_it_stands_for(bits: u32) {
            let plain = std::net::Ipv4Addr::from_bits(bits).to_string();
            for text in [format!("{bits}"), format!("0x{bits:x}"), format!("0{bits:o}"), format!("{plain}.")] {
                prop_assert_eq!(Host::parse(&text).map(|host| host.to_string()), Some(plain.clone()));
            }
        }
    }
}
