//! The two cookies of a browser that is signed in.

use axum::http::{HeaderMap, HeaderValue, header};
use warren_gateway::{SIGN_IN_LIFETIME_MILLIS, SignedIn};
use warren_wire::{CSRF_COOKIE, SESSION_COOKIE};

use crate::failure::Failure;

/// The secret in the browser's cookie.
pub(crate) fn secret(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies =
        values.flat_map(|value| value.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(name, _)| *name == SESSION_COOKIE).map(|(_, value)| value)
}

/// Puts a sign-in into the browser.
pub(crate) fn set(headers: &mut HeaderMap, signed_in: &SignedIn, secure: bool) -> Result<(), Failure> {
    let seconds = SIGN_IN_LIFETIME_MILLIS / 1000;
    let secret = signed_in.secret.expose();
    append(headers, &cookie(SESSION_COOKIE, secret, seconds, secure, "; HttpOnly"))?;
    append(headers, &cookie(CSRF_COOKIE, &signed_in.csrf, seconds, secure, ""))
}

/// Takes it out again.
pub(crate) fn clear(headers: &mut HeaderMap, secure: bool) -> Result<(), Failure> {
    append(headers, &cookie(SESSION_COOKIE, "", 0, secure, "; HttpOnly"))?;
    append(headers, &cookie(CSRF_COOKIE, "", 0, secure, ""))
}

fn cookie(name: &str, value: &str, seconds: i64, secure: bool, more: &str) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Strict{secure}{more}")
}

fn append(headers: &mut HeaderMap, cookie: &str) -> Result<(), Failure> {
    let mut value = HeaderValue::from_str(cookie).map_err(Failure::internal)?;
    value.set_sensitive(true);
    headers.append(header::SET_COOKIE, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{cookie, secret};
    use axum::http::{HeaderMap, HeaderValue, header};

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        assert_eq!(secret(&headers), None);
        headers.append(header::COOKIE, HeaderValue::from_static("a=b; xwarren_session=no"));
        headers.append(header::COOKIE, HeaderValue::from_static("c=d;  warren_session=yes; e=f"));
        assert_eq!(secret(&headers), Some("yes"));
    }

    #[test]
    fn a_cookie_stays_on_this_site_and_away_from_scripts() {
        assert_eq!(
            cookie("n", "v", 60, true, "; HttpOnly"),
            "n=v; Path=/; Max-Age=60; SameSite=Strict; Secure; HttpOnly"
        );
    }
}
