//! Addresses of providers that somebody sets while the server runs.

use std::net::IpAddr;

use url::{Host, Url};

/// Why an address is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// It is none.
    #[error("the base URL is not the address of an API")]
    NotOne,
    /// It has a user name or a password in it.
    #[error("the base URL contains a user name or password")]
    Credentials,
    /// The key and all that is said would go over the network unencrypted.
    #[error("a base URL by plain HTTP is allowed on this machine only")]
    PlainHttp,
}

impl BaseUrlError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            BaseUrlError::NotOne => "write it as `https://host` or `https://host/path`, without `?` and `#`",
            BaseUrlError::Credentials => "set the key separately",
            BaseUrlError::PlainHttp => {
                "use `https://`, or set `models.allow_http_base_url = true` in `warren.toml` if the network is yours alone"
            }
        }
    }
}

/// The address as it is kept. Plain HTTP is taken for this machine, and elsewhere only if `allow_http`.
///
/// # Errors
/// When it is no address of an API, holds a password, or would send the key unencrypted.
pub fn checked_base_url(text: &str, allow_http: bool) -> Result<String, BaseUrlError> {
    let url = Url::parse(text.trim()).map_err(|_| BaseUrlError::NotOne)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BaseUrlError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(BaseUrlError::NotOne);
    }
    match (url.scheme(), url.host()) {
        ("https", Some(_)) => {}
        ("http", Some(host)) if allow_http || is_this_machine(&host) => {}
        ("http", Some(_)) => return Err(BaseUrlError::PlainHttp),
        _ => return Err(BaseUrlError::NotOne),
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => IpAddr::V4(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::V6(*address).is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BaseUrlError, checked_base_url};

    #[test]
    fn address_is_kept_without_the_slash_at_its_end() {
        let kept = |text| checked_base_url(text, false);
        assert_eq!(kept(" https://api.example.com/v1/ ").as_deref(), Ok("https://api.example.com/v1"));
        assert_eq!(kept("https://api.example.com").as_deref(), Ok("https://api.example.com"));
    }

    #[test]
    fn plain_http_is_for_this_machine_unless_the_operator_allows_it() {
        for url in ["http://127.0.0.1:8080/v1", "http://[::1]:1", "http://localhost:11434/v1"] {
            assert_eq!(checked_base_url(url, false).as_deref(), Ok(url));
        }
        for url in ["http://10.0.0.5/v1", "http://169.254.169.254", "http://localhost.example.com"] {
            assert_eq!(checked_base_url(url, false), Err(BaseUrlError::PlainHttp), "{url}");
            assert_eq!(checked_base_url(url, true).as_deref(), Ok(url));
        }
    }

    #[test]
    fn what_is_no_address_of_an_api_is_refused() {
        for url in
            ["", "api.example.com", "ftp://x", "file:///etc", "https://", "https://x?y=1", "https://x#y"]
        {
            assert_eq!(checked_base_url(url, true), Err(BaseUrlError::NotOne), "{url}");
        }
        let password = checked_base_url("https://ada:secret@example.com", true);
        assert_eq!(password, Err(BaseUrlError::Credentials));
        assert!(!format!("{password:?}").contains("secret"));
    }
}
