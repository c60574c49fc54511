//! Signing browsers in and out.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use warren_domain::ErrorCode;
use warren_gateway::{RequestError, Secret};
use warren_wire::{SignIn, SignInLink};

use crate::{
    choke::{Call, Credential},
    convert, cookies,
    failure::Failure,
    respond::{self, Answer},
};

/// Shown for a link that was used or has expired.
const EXPIRED: &str = include_str!("../page/link-expired.html");

pub(crate) async fn link(call: Call) -> Answer {
    let link = call.app().gateway().sign_in_link_for(call.identity()?)?;
    let made = SignInLink { path: format!("/auth?code={}", link.code), expires_at: link.expires_at };
    respond::json(StatusCode::CREATED, &made)
}

pub(crate) async fn sign_in(call: Call) -> Answer {
    // Programs that only look whether a link works must not use it up, nor be signed in.
    if call.is_head() {
        return Err(Failure::new(ErrorCode::MethodNotAllowed, "a sign-in link accepts GET only")
            .hint("open it in a browser"));
    }
    let code = call.query().text("code").unwrap_or_default();
    let signed_in = match call.app().gateway().sign_in(code).await {
        Err(RequestError::SignInCode) if is_browser(&call) => return Ok(expired()),
        signed_in => signed_in?,
    };
    let place = call.query().id("session").map(|session| format!("/sessions/{session}"));
    let place = HeaderValue::from_str(place.as_deref().unwrap_or("/")).map_err(Failure::internal)?;
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, place);
    cookies::set(headers, &signed_in, call.app().deps.options.secure_cookies)?;
    Ok(response)
}

/// Whether the client is a browser page.
fn is_browser(call: &Call) -> bool {
    call.header(header::ACCEPT.as_str()).is_some_and(|wishes| wishes.contains("text/html"))
}

/// Tells a person how to get another link.
fn expired() -> Response {
    let mut response = (StatusCode::UNAUTHORIZED, EXPIRED).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// Signs a browser in with a token that its user pasted. The cookie is not the token: it ends by itself, by signing
/// out, and with the token, which goes on when the browser has signed out.
pub(crate) async fn sign_in_with_token(call: Call) -> Answer {
    let SignIn { token } = call.json()?;
    let gateway = call.app().gateway();
    let identity = gateway.authenticate(token.trim()).await?;
    let signed_in = gateway.sign_in_as(&identity).await?;
    let mut response = respond::ok(&convert::who(&identity, Some(signed_in.csrf.clone())))?;
    cookies::set(response.headers_mut(), &signed_in, call.app().deps.options.secure_cookies)?;
    Ok(response)
}

/// Ends a browser's sign-in. A token that was shown in a header is not touched: revoking it is another thing.
pub(crate) async fn sign_out(call: Call) -> Answer {
    let caller = call.caller()?;
    if matches!(caller.credential, Credential::Token) {
        return Err(Failure::bad_request("only a browser that signed in can sign out")
            .hint("revoke a token with `DELETE /api/tokens/{tokenId}`"));
    }
    call.app().gateway().sign_out(&caller.identity).await?;
    let mut response = respond::nothing()?;
    cookies::clear(response.headers_mut(), call.app().deps.options.secure_cookies)?;
    Ok(response)
}

pub(crate) async fn who_am_i(call: Call) -> Answer {
    let caller = call.caller()?;
    let csrf = match &caller.credential {
        Credential::Token => None,
        Credential::Cookie(secret) => Secret::parse(secret).map(|secret| secret.csrf()),
    };
    respond::ok(&convert::who(&caller.identity, csrf))
}
