//! Names of hosts on which browsers see previews: one for each port of each session, so that no two share an origin,
//! and none the page's.

use std::fmt;

use warren_domain::{Artifact, ArtifactKind, SessionId};

/// Where previews are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewHosts {
    scheme: String,
    /// What comes behind the first label.
    domain: String,
    port: Option<u16>,
}

/// One of a session's hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PreviewHost {
    /// Whose.
    pub session: SessionId,
    /// What is behind it.
    pub behind: Behind,
}

/// What is behind a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Behind {
    /// A port of the sandbox.
    Port(u16),
    /// The session's `outputs/`, as files.
    Files,
}

/// Why a text is no base of previews.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form `http://host` or `https://host:port`")]
pub struct PreviewBaseError(pub String);

impl PreviewHosts {
    /// The hosts below a base such as `http://localhost:7777`.
    ///
    /// # Errors
    /// When it is no scheme, host and port.
    pub fn parse(base: &str) -> Result<Self, PreviewBaseError> {
        let wrong = || PreviewBaseError(base.to_owned());
        let (scheme, rest) = base.trim_end_matches('/').split_once("://").ok_or_else(wrong)?;
        let (domain, port) = match rest.split_once(':') {
            Some((domain, port)) => (domain, Some(port.parse().map_err(|_| wrong())?)),
            None => (rest, None),
        };
        let is_name = domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
        let is_address = domain.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !matches!(scheme, "http" | "https") || domain.is_empty() || !is_name || is_address {
            return Err(wrong());
        }
        Ok(Self { scheme: scheme.to_owned(), domain: domain.to_ascii_lowercase(), port })
    }

    /// Whether browsers treat it as safe, so that cookies marked for safe places only can be used.
    #[must_use]
    pub fn is_trustworthy(&self) -> bool {
        self.scheme == "https" || self.domain == "localhost" || self.domain.ends_with(".localhost")
    }

    /// The host that a request names, if it is one of ours. A port behind the name is not looked at.
    #[must_use]
    pub fn find(&self, host: &str) -> Option<PreviewHost> {
        let host =
            host.rsplit_once(':').map_or(host, |(name, _)| name).trim_end_matches('.').to_ascii_lowercase();
        let label = host.strip_suffix(&self.domain)?.strip_suffix('.')?;
        let (behind, session) = label.split_once('-')?;
        let behind = match behind {
            "files" => Behind::Files,
            port => {
                Behind::Port(port.parse().ok().filter(|port: &u16| port.to_string() == label_port(label))?)
            }
        };
        Some(PreviewHost { session: session.parse().ok()?, behind })
    }

    /// Where an artifact is seen, if it is of a kind that is served.
    #[must_use]
    pub fn url_of(&self, session: SessionId, artifact: &Artifact) -> Option<String> {
        let (behind, path) = match (artifact.kind, artifact.port) {
            (ArtifactKind::WebApp, Some(port)) => (Behind::Port(port), String::new()),
            (ArtifactKind::Html, _) => (Behind::Files, encoded_path(&artifact.path)),
            _ => return None,
        };
        Some(format!("{}/{path}", self.origin(PreviewHost { session, behind })))
    }

    /// The origin of a host, as browsers write it.
    #[must_use]
    pub fn origin(&self, host: PreviewHost) -> String {
        match self.port {
            Some(port) => format!("{}://{host}.{}:{port}", self.scheme, self.domain),
            None => format!("{}://{host}.{}", self.scheme, self.domain),
        }
    }
}

/// A path as a URL has it.
#[must_use]
pub fn encoded_path(path: &str) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            text.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn label_port(label: &str) -> &str {
    label.split('-').next().unwrap_or(label)
}

impl fmt::Display for PreviewHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.behind {
            Behind::Port(port) => write!(f, "{port}-{}", self.session),
            Behind::Files => write!(f, "files-{}", self.session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Behind, PreviewHost, PreviewHosts, encoded_path};
    use warren_domain::SessionId;

    const SESSION: SessionId = SessionId(uuid::Uuid::from_u128(7));

    #[test]
    fn a_host_is_found_by_the_name_it_was_given() {
        for base in
            ["http://localhost:7777", "https://preview.example.com", "https://Preview.Example.com:8443/"]
        {
            let hosts = PreviewHosts::parse(base).expect(base);
            for behind in [Behind::Port(3000), Behind::Files] {
                let host = PreviewHost { session: SESSION, behind };
                let origin = hosts.origin(host);
                let name = origin.split_once("://").expect("a scheme").1;
                assert_eq!(hosts.find(name), Some(host), "{origin}");
                assert_eq!(hosts.find(&name.to_uppercase()), Some(host), "{origin}");
            }
        }
        let hosts = PreviewHosts::parse("http://localhost:7777").expect("a base");
        let port = PreviewHost { session: SESSION, behind: Behind::Port(3000) };
        assert_eq!(hosts.origin(port), format!("http://3000-{SESSION}.localhost:7777"));
    }

    #[test]
    fn a_path_in_a_url_is_what_it_was() {
        assert_eq!(encoded_path("outputs/a b/ü?.html"), "outputs/a%20b/%C3%BC%3F.html");
    }

    #[test]
    fn no_other_name_is_a_host() {
        let hosts = PreviewHosts::parse("http://localhost:7777").expect("a base");
        for name in [
            "localhost:7777".to_owned(),
            format!("3000-{SESSION}.localhost.evil.example"),
            format!("3000-{SESSION}localhost"),
            format!("x.3000-{SESSION}.localhost"),
            format!("03000-{SESSION}.localhost"),
            format!("+3000-{SESSION}.localhost"),
            format!("70000-{SESSION}.localhost"),
            format!("files{SESSION}.localhost"),
            "3000-nobody.localhost".to_owned(),
            String::new(),
        ] {
            assert_eq!(hosts.find(&name), None, "{name}");
        }
        for base in ["localhost", "ftp://x", "http://", "http://a b", "http://127.0.0.1:80", "http://x:y"] {
            PreviewHosts::parse(base).expect_err(base);
        }
    }
}
