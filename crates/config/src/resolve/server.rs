//! `[server]` and `[previews]`: names, origins and addresses that browsers use.

use super::{MIB, Server, invalid};
use crate::{ConfigError, quantity::Bytes, raw::RawServer};

pub(super) fn server(raw: RawServer) -> Result<Server, ConfigError> {
    let allowed_hosts = raw.allowed_hosts.unwrap_or_default();
    let is_name = |host: &String| !host.is_empty() && !host.contains(['/', ' ', '@']);
    if let Some(host) = allowed_hosts.iter().find(|host| !is_name(host)) {
        return Err(invalid("server.allowed_hosts", host, "write host names without scheme or path"));
    }
    Ok(Server {
        allowed_hosts,
        allowed_origins: allowed_origins(raw.allowed_origins)?,
        body_limit: raw.body_limit.map_or(2 * MIB, |Bytes(bytes)| bytes),
        secure_cookies: raw.secure_cookies.unwrap_or(false),
    })
}

/// Origins as browsers write them: in lower case, and without the usual port of their scheme.
fn allowed_origins(written: Option<Vec<String>>) -> Result<Vec<String>, ConfigError> {
    let hint = "write a scheme, a host and optionally a port, no path and no `*`: `https://app.example.com`, `http://localhost:5173`";
    let each = |text: String| origin(&text).ok_or_else(|| invalid("server.allowed_origins", text, hint));
    written.unwrap_or_default().into_iter().map(each).collect()
}

fn origin(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, usual) = [("https", ":443"), ("http", ":80")]
        .into_iter()
        .find(|(scheme, _)| text.strip_prefix(scheme).is_some_and(|rest| rest.starts_with("://")))?;
    let authority = text.strip_prefix(scheme)?.strip_prefix("://")?;
    let end = authority.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match authority[end..].find(':') {
        Some(colon) => authority.split_at(end + colon),
        None => (authority, ""),
    };
    let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    let is_address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && digits.parse::<u16>().is_ok_and(|port| port > 0)
        });
    let is_origin = !host.is_empty() && (is_name || is_address) && is_port;
    let port = if port == usual { "" } else { port };
    is_origin.then(|| format!("{scheme}://{host}{port}"))
}

pub(super) fn preview_base(written: Option<String>) -> Result<Option<String>, ConfigError> {
    let is_base = |base: &String| {
        let rest = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
        rest.is_some_and(|rest| {
            !rest.is_empty() && !rest.trim_end_matches('/').contains(['/', ' ', '@', '?', '#'])
        })
    };
    match written {
        Some(base) if !is_base(&base) => Err(invalid(
            "previews.base_url",
            base,
            "write a scheme, a host and optionally a port: `https://preview.example.com`",
        )),
        base => Ok(base),
    }
}

pub(super) fn preview_origins(written: Option<Vec<String>>) -> Result<Vec<String>, ConfigError> {
    let origins = written.unwrap_or_default();
    // They become part of a header that browsers read: nothing in them may begin another source or directive.
    let is_host = |rest: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '*' | '[' | ']');
        !rest.is_empty() && rest.chars().all(plain)
    };
    let is_origin = |text: &String| {
        let schemes = ["https://", "http://", "wss://", "ws://"];
        schemes.iter().find_map(|scheme| text.strip_prefix(scheme)).is_some_and(is_host)
    };
    match origins.iter().find(|origin| !is_origin(origin)) {
        None => Ok(origins),
        Some(origin) => Err(invalid(
            "previews.allow_origins",
            origin,
            "write a scheme, a host and optionally a port, and no path: `https://api.example.com`, `wss://*.example.com`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn an_origin_is_kept_as_browsers_write_it() {
        for (written, expect) in [
            ("https://App.Example.com", "https://app.example.com"),
            ("HTTPS://app.example.com:443", "https://app.example.com"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://localhost:80", "http://localhost"),
            ("https://app.example.com:80", "https://app.example.com:80"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("http://10.0.0.5:3000", "http://10.0.0.5:3000"),
        ] {
            assert_eq!(origin(written).as_deref(), Some(expect), "{written}");
        }
        for wrong in [
            "*",
            "null",
            "",
            "app.example.com",
            "https://",
            "https://*.example.com",
            "https://app.example.com/",
            "https://app.example.com/path",
            "https://user@app.example.com",
            "https://a b",
            "https://a,https://b",
            "http://localhost:",
            "http://localhost:0",
            "http://localhost:99999",
            "http://localhost:+80",
            "http://[::1",
            "http://[zz]",
            "ftp://app.example.com",
            "httpsx://app.example.com",
        ] {
            assert_eq!(origin(wrong), None, "{wrong}");
        }
    }
}
