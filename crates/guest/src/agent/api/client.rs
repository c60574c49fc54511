//! Requests to the model, and its answers.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, Uri,
    body::Incoming,
    header::{CONTENT_TYPE, HOST, RETRY_AFTER},
};
use tokio::time::timeout;
use warren_domain::ConversationId;

use super::{ApiError, ApiEvent, event::ErrorBody};
use crate::http::{Driver, ExchangeError, Splitter, TooLong, address, exchange, is_plain};

/// The API sends pings while the model thinks; a silence this long is a dead connection.
const SILENCE: Duration = Duration::from_secs(300);

/// As much of an error's text as is of use to anyone.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// Where the model is, and how it is addressed.
pub(in crate::agent) struct Client {
    address: SocketAddr,
    authority: String,
    path: String,
    api_key: String,
}

/// Why an address is not usable.
#[derive(Debug, thiserror::Error)]
pub(in crate::agent) enum ClientError {
    #[error("`{0}` is not an address of a model")]
    Address(String),
    #[error("`{0}` is not plain HTTP: the sandbox's model endpoint is on loopback")]
    NotHttp(String),
}

/// An answer that is coming in.
pub(in crate::agent) struct Answering {
    connection: Driver,
    body: Incoming,
    events: Splitter,
}

impl Client {
    pub(in crate::agent) fn new(base_url: &str, api_key: &str) -> Result<Self, ClientError> {
        let uri: Uri = base_url.parse().map_err(|_| ClientError::Address(base_url.to_owned()))?;
        if !is_plain(&uri) {
            return Err(ClientError::NotHttp(base_url.to_owned()));
        }
        let no_address = || ClientError::Address(base_url.to_owned());
        let authority = uri.authority().ok_or_else(no_address)?;
        Ok(Self {
            address: address(authority).ok_or_else(no_address)?,
            authority: authority.to_string(),
            path: format!("{}/v1/messages", uri.path().trim_end_matches('/')),
            api_key: api_key.to_owned(),
        })
    }

    /// Sends a request of one thread and returns when the answer begins.
    pub(in crate::agent) async fn ask(
        &self,
        thread: &ConversationId,
        body: Vec<u8>,
    ) -> Result<Answering, ApiError> {
        let request = self.request(thread, body)?;
        let (connection, response) = exchange(self.address, request, SILENCE).await.map_err(no_answer)?;
        if !response.status().is_success() {
            return Err(refusal(connection, response).await);
        }
        Ok(Answering { connection, body: response.into_body(), events: Splitter::default() })
    }

    fn request(&self, thread: &ConversationId, body: Vec<u8>) -> Result<Request<Full<Bytes>>, ApiError> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.path)
            .header(HOST, &self.authority)
            .header(CONTENT_TYPE, "application/json")
            .header("accept", "text/event-stream")
            .header("anthropic-version", "2023-06-01")
            .header("x-api-key", &self.api_key)
            // Tells the host which thread spent it; never goes further than the host.
            .header("x-warren-conversation", thread.as_str());
        request.body(Full::new(body.into())).map_err(|error| lost(&error))
    }
}

impl Answering {
    /// The next event, or `None` when the stream has ended.
    pub(in crate::agent) async fn next(&mut self) -> Result<Option<ApiEvent>, ApiError> {
        loop {
            if let Some(data) = self.events.next() {
                let event = serde_json::from_slice(&data);
                return event
                    .map(Some)
                    .map_err(|error| ApiError::Broken(format!("an event is not understood: {error}")));
            }
            let frame = self.connection.drive(timeout(SILENCE, self.body.frame())).await;
            let Some(frame) = frame.map_err(|_| ApiError::Silent(SILENCE))? else { return Ok(None) };
            let frame = frame.map_err(|error| ApiError::Broken(error.to_string()))?;
            if let Some(bytes) = frame.data_ref() {
                self.events
                    .push(bytes)
                    .map_err(|TooLong| ApiError::Broken("an event is too long".to_owned()))?;
            }
        }
    }
}

async fn refusal(mut connection: Driver, response: Response<Incoming>) -> ApiError {
    #[derive(serde::Deserialize)]
    struct Body {
        error: ErrorBody,
    }
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = Limited::new(response.into_body(), MAX_ERROR_BODY).collect();
    let bytes = match connection.drive(timeout(SILENCE, body)).await {
        Ok(Ok(whole)) => whole.to_bytes(),
        Ok(Err(_)) | Err(_) => Bytes::new(),
    };
    let error = serde_json::from_slice(&bytes).map_or_else(
        |_| ErrorBody { kind: String::new(), message: String::from_utf8_lossy(&bytes).trim().to_owned() },
        |body: Body| body.error,
    );
    ApiError::Status { status, error, retry_after: retry_after.map(Duration::from_secs) }
}

fn no_answer(error: ExchangeError) -> ApiError {
    match error {
        ExchangeError::Silent(patience) => ApiError::Silent(patience),
        error => lost(std::error::Error::source(&error).unwrap_or(&error)),
    }
}

fn lost(error: &dyn std::error::Error) -> ApiError {
    let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    ApiError::Unreachable(format!("{error}{cause}"))
}

#[cfg(test)]
mod tests {
    use super::Client;

    #[test]
    fn an_address_is_plain_http_to_a_number_or_to_localhost() {
        let client = |url: &str| {
            Client::new(url, "")
                .map(|client| (client.address.to_string(), client.path))
                .map_err(|error| error.to_string())
        };
        let messages = "/v1/messages".to_owned();
        assert_eq!(client("http://127.0.0.1:4100"), Ok(("127.0.0.1:4100".to_owned(), messages.clone())));
        assert_eq!(client("http://localhost/"), Ok(("127.0.0.1:80".to_owned(), messages)));
        assert_eq!(client("http://[::1]:1/a/"), Ok(("[::1]:1".to_owned(), "/a/v1/messages".to_owned())));
        assert!(client("https://127.0.0.1").is_err_and(|error| error.contains("is not plain HTTP")));
        assert!(client("http://example.com").is_err_and(|error| error.contains("is not an address")));
        assert!(client("nonsense").is_err());
    }
}
