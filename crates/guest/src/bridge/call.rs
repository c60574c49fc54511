//! Calls to the server.

use std::{net::SocketAddr, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, Uri,
    body::Incoming,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST},
};

use crate::http::{self, Driver, ExchangeError};

/// Where the server is, and how it is addressed.
pub(super) struct Server {
    address: SocketAddr,
    authority: String,
    authorization: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("`{0}` is not an address of a server on loopback")]
    Address(String),
    #[error("the request is invalid")]
    Request(#[source] hyper::http::Error),
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    #[error("the answer broke off")]
    Broken(#[source] hyper::Error),
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
}

impl Server {
    /// The server at a URL; with a password if it has one.
    pub(super) fn new(url: &str, user: &str, password: Option<&str>) -> Result<Self, CallError> {
        let no_address = || CallError::Address(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| no_address())?;
        let authority = uri.authority().filter(|_| http::is_plain(&uri)).ok_or_else(no_address)?;
        let address = http::address(authority).filter(|it| it.ip().is_loopback()).ok_or_else(no_address)?;
        let secret = password.map(|password| BASE64_STANDARD.encode(format!("{user}:{password}")));
        Ok(Self {
            address,
            authority: authority.to_string(),
            authorization: secret.map(|secret| format!("Basic {secret}")),
        })
    }

    /// Calls it and returns when the answer begins.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        patience: Duration,
    ) -> Result<(Driver, Response<Incoming>), CallError> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.authority)
            .header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(CallError::Request)?;
        Ok(http::exchange(self.address, request, patience).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::Server;

    #[test]
    fn a_server_is_on_loopback() {
        let server =
            |url: &str| Server::new(url, "u", Some("p")).map(|server| server.address.to_string()).ok();
        assert_eq!(server("http://127.0.0.1:4096"), Some("127.0.0.1:4096".to_owned()));
        assert_eq!(server("http://localhost:1/"), Some("127.0.0.1:1".to_owned()));
        assert_eq!([server("http://10.0.0.1"), server("https://127.0.0.1"), server("x")], [None, None, None]);
    }
}
