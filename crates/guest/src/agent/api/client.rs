//! Requests to the model, and its answers.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, Uri,
    body::Incoming,
    header::{CONTENT_TYPE, HOST, HeaderMap, RETRY_AFTER},
};
use jiff::fmt::rfc2822;
use tokio::time::timeout;
use warren_domain::ConversationId;

use super::{Api, ApiError, ApiEvent, Decoder, ErrorBody};
use crate::agent::{clock::now, request::Request as Ask};
use crate::http::{Driver, ExchangeError, Splitter, TooLong, address, exchange, is_plain};

/// The API sends pings while the model thinks; a silence this long is a dead connection.
const SILENCE: Duration = Duration::from_secs(300);

/// As much of an error's text as is of use to anyone.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// What the host answers while it cannot reach the provider.
const HOST_CANNOT_REACH: u16 = 502;

/// Where the models are, and how they are addressed.
pub(in crate::agent) struct Client {
    endpoints: BTreeMap<Api, Endpoint>,
}

/// Where one API is.
pub(in crate::agent) struct Endpoint {
    address: SocketAddr,
    authority: String,
    /// What stands before the API's own paths.
    base: String,
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
    decoder: Decoder,
    /// Events that were read and not yet given out.
    ready: VecDeque<ApiEvent>,
    is_over: bool,
}

impl Endpoint {
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
            base: uri.path().trim_end_matches('/').to_owned(),
            api_key: api_key.to_owned(),
        })
    }

    fn request(
        &self,
        api: Api,
        thread: &ConversationId,
        ask: Ask<'_>,
    ) -> Result<Request<Full<Bytes>>, ApiError> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("{}{}", self.base, api.path(ask.model)))
            .header(HOST, &self.authority)
            .header(CONTENT_TYPE, "application/json")
            .header("accept", "text/event-stream")
            // Tells the host which thread spent it; never goes further than the host.
            .header("x-warren-conversation", thread.as_str());
        let headers = api.headers(&self.api_key).into_iter();
        let request = headers.fold(request, |request, (name, value)| request.header(name, value));
        request.body(Full::new(api.body(ask).into())).map_err(|error| lost(&error))
    }
}

impl Client {
    pub(in crate::agent) fn new(endpoints: BTreeMap<Api, Endpoint>) -> Self {
        Self { endpoints }
    }

    /// Sends a request of one thread and returns when the answer begins.
    pub(in crate::agent) async fn ask(
        &self,
        thread: &ConversationId,
        ask: Ask<'_>,
    ) -> Result<Answering, ApiError> {
        let api = Api::of_model(ask.model);
        let no_endpoint = || ApiError::NoEndpoint(ask.model.to_owned());
        let endpoint = self.endpoints.get(&api).ok_or_else(no_endpoint)?;
        let request = endpoint.request(api, thread, ask)?;
        let (connection, response) = exchange(endpoint.address, request, SILENCE).await.map_err(no_answer)?;
        if !response.status().is_success() {
            return Err(refusal(connection, response).await);
        }
        Ok(Answering {
            connection,
            body: response.into_body(),
            events: Splitter::default(),
            decoder: api.decoder(),
            ready: VecDeque::new(),
            is_over: false,
        })
    }
}

impl Answering {
    /// The next event, or `None` when the stream has ended.
    pub(in crate::agent) async fn next(&mut self) -> Result<Option<ApiEvent>, ApiError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let mut read = Vec::new();
            if let Some(data) = self.events.next() {
                self.decoder.decode(&data, &mut read)?;
            } else if self.is_over {
                return Ok(None);
            } else {
                self.receive(&mut read).await?;
            }
            self.ready.extend(read);
        }
    }

    async fn receive(&mut self, out: &mut Vec<ApiEvent>) -> Result<(), ApiError> {
        let frame = self.connection.drive(timeout(SILENCE, self.body.frame())).await;
        let Some(frame) = frame.map_err(|_| ApiError::Silent(SILENCE))? else {
            self.is_over = true;
            self.decoder.finish(out);
            return Ok(());
        };
        let frame = frame.map_err(|error| ApiError::Broken(error.to_string()))?;
        if let Some(bytes) = frame.data_ref() {
            self.events.push(bytes).map_err(|TooLong| ApiError::Broken("an event is too long".to_owned()))?;
        }
        Ok(())
    }
}

async fn refusal(mut connection: Driver, response: Response<Incoming>) -> ApiError {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    let body = Limited::new(response.into_body(), MAX_ERROR_BODY).collect();
    let bytes = match connection.drive(timeout(SILENCE, body)).await {
        Ok(Ok(whole)) => whole.to_bytes(),
        Ok(Err(_)) | Err(_) => Bytes::new(),
    };
    let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // One provider puts the errors of streams into a list.
    let body = body.get(0).unwrap_or(&body);
    let error = if body["error"].is_object() {
        ErrorBody::of(&body["error"])
    } else {
        ErrorBody { message: String::from_utf8_lossy(&bytes).trim().to_owned(), ..ErrorBody::default() }
    };
    // Nobody answered: the status is the host's own.
    match (error.is_host_without_provider(), status) {
        (true, HOST_CANNOT_REACH) => ApiError::NoProvider(error.message),
        (true, _) => ApiError::GivenUp(error.message),
        (false, status) => ApiError::Status { status, error, retry_after },
    }
}

/// How long the provider asks us to wait: milliseconds, seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let millis =
        text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()).map(|millis| millis / 1_000.0);
    let asked = text(RETRY_AFTER.as_str());
    let seconds = millis.or_else(|| asked?.parse().ok()).or_else(|| seconds_until(asked?))?;
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}

#[expect(clippy::cast_precision_loss, reason = "a fraction of a second does not matter")]
fn seconds_until(date: &str) -> Option<f64> {
    let at = rfc2822::parse(date).ok()?.timestamp().as_millisecond();
    Some((at - now().as_millis()) as f64 / 1_000.0)
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
    use hyper::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{Endpoint, now, retry_after};

    #[test]
    fn an_address_is_plain_http_to_a_number_or_to_localhost() {
        let endpoint = |url: &str| {
            Endpoint::new(url, "")
                .map(|endpoint| (endpoint.address.to_string(), endpoint.base))
                .map_err(|error| error.to_string())
        };
        assert_eq!(endpoint("http://127.0.0.1:4100"), Ok(("127.0.0.1:4100".to_owned(), String::new())));
        assert_eq!(endpoint("http://localhost/"), Ok(("127.0.0.1:80".to_owned(), String::new())));
        assert_eq!(endpoint("http://[::1]:1/a/"), Ok(("[::1]:1".to_owned(), "/a".to_owned())));
        assert!(endpoint("https://127.0.0.1").is_err_and(|error| error.contains("is not plain HTTP")));
        assert!(endpoint("http://example.com").is_err_and(|error| error.contains("is not an address")));
        assert!(endpoint("nonsense").is_err());
    }

    #[test]
    fn retry_after_is_seconds_milliseconds_or_a_date() {
        let asked = |name: &'static str, value: &str| {
            let value = HeaderValue::from_str(value).expect("a value");
            let headers: HeaderMap = [(HeaderName::from_static(name), value)].into_iter().collect();
            retry_after(&headers).map(|asked| asked.as_secs())
        };
        assert_eq!(asked("retry-after", "17"), Some(17));
        assert_eq!(asked("retry-after-ms", "2500"), Some(2));
        let date =
            jiff::Timestamp::from_millisecond(now().plus_millis(3_600_000).as_millis()).expect("a time");
        let date = date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        assert!(
            asked("retry-after", &date).is_some_and(|seconds| (3_500..=3_600).contains(&seconds)),
            "{date}"
        );
        assert_eq!(asked("retry-after", "Mon, 16 Nov 2020 18:28:11 GMT"), Some(0), "it is over");
        assert_eq!(asked("retry-after", "soon"), None);
    }
}
