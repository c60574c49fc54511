//! Whoever answers: a provider over HTTP, or the demo model.

mod unreachable;

use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, header::CONTENT_ENCODING};
use reqwest::{Client, Url, redirect::Policy};
use tokio::sync::Mutex;
use warren_domain::Timestamp;
use warren_env::Env;

use crate::{
    OfferError, OfferedModel, Pace, Secret, Timeouts, UpstreamOptions,
    demo::{Demo, Dialect, Naming},
    format::{Format, Route},
    http::{Answer, Pieces, StreamError},
    offered,
    refusal::{Refusal, RefusalKind},
};

/// Who answers calls of one format.
pub(crate) enum Upstream {
    Demo(Demo),
    Http(Provider),
}

/// A provider, reached over HTTP.
pub(crate) struct Provider {
    client: Client,
    base: Url,
    key: Option<Secret>,
    answer_timeout: Duration,
    silence_timeout: Duration,
    /// What it said last of the models it offers, and when.
    offered: Mutex<Option<(Timestamp, Offered)>>,
}

type Offered = Result<Vec<OfferedModel>, OfferError>;

/// How long a list of models is believed, and how long it is that there is none.
const OFFERED_FOR_MILLIS: i64 = 5 * 60_000;
const FAILED_FOR_MILLIS: i64 = 20_000;

/// Why a gateway cannot be made from its options.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The address is none.
    #[error(
        "`{base_url}` is not the address of a model provider\nhint: write it as `https://host` or `https://host/path`"
    )]
    BaseUrl {
        /// What was written.
        base_url: String,
    },
    /// The address carries a user or password, which would be shown wherever the address is.
    #[error(
        "the address of the model provider contains a user name or password\nhint: set the key separately"
    )]
    Credentials,
    /// The key cannot be sent.
    #[error("the key for `{host}` is empty or has characters that are not allowed in a header")]
    Key {
        /// Whose key.
        host: String,
    },
    /// The program forgot to choose a TLS implementation.
    #[error("no TLS provider is installed")]
    NoTls,
    /// The HTTP client could not be made.
    #[error("failed to set up the connection to `{host}`")]
    Client {
        /// Whom to connect to.
        host: String,
        /// Why not.
        #[source]
        source: reqwest::Error,
    },
}

/// A provider's answer that stopped in the middle.
#[derive(Debug, thiserror::Error)]
#[error("the provider sent nothing for {0:?}")]
struct Silent(Duration);

impl Upstream {
    pub(crate) fn new(
        options: UpstreamOptions,
        timeouts: &Timeouts,
        pace: Pace,
        env: &Env,
    ) -> Result<Self, SetupError> {
        match options {
            UpstreamOptions::Demo => Ok(Upstream::Demo(Demo::new(pace, Naming::Call(env.clone())))),
            UpstreamOptions::Http { base_url, api_key } => {
                Provider::new(&base_url, api_key, timeouts).map(Upstream::Http)
            }
        }
    }

    /// Where calls go, in words that may be shown.
    pub(crate) fn target(&self) -> String {
        match self {
            Upstream::Demo(_) => "demo".to_owned(),
            Upstream::Http(provider) => host(&provider.base),
        }
    }

    pub(crate) fn is_demo(&self) -> bool {
        matches!(self, Upstream::Demo(_))
    }

    pub(crate) fn has_key(&self) -> bool {
        matches!(self, Upstream::Http(Provider { key: Some(_), .. }))
    }

    /// Carries out one call. Dropping the future or the answer gives it up.
    pub(crate) async fn call(
        &self,
        format: Format,
        route: &Route,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Answer, Refusal> {
        match self {
            Upstream::Demo(demo) => Ok(demo.answer(dialect(format), &route.path, &body)),
            Upstream::Http(provider) => provider.call(format, route, headers, body).await,
        }
    }
}

impl Provider {
    fn new(base_url: &str, key: Option<Secret>, timeouts: &Timeouts) -> Result<Self, SetupError> {
        let base = Url::parse(base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .filter(|url| url.query().is_none() && url.fragment().is_none())
            .ok_or_else(|| SetupError::BaseUrl { base_url: without_credentials(base_url) })?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err(SetupError::Credentials);
        }
        if key.as_ref().is_some_and(|key| !key.is_sendable()) {
            return Err(SetupError::Key { host: host(&base) });
        }
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            return Err(SetupError::NoTls);
        }
        let client = Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(timeouts.connect)
            .build()
            .map_err(|source| SetupError::Client { host: host(&base), source })?;
        Ok(Self {
            client,
            base,
            key,
            answer_timeout: timeouts.answer,
            silence_timeout: timeouts.silence,
            offered: Mutex::default(),
        })
    }

    async fn call(
        &self,
        format: Format,
        route: &Route,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Answer, Refusal> {
        let request = self
            .client
            .post(self.url(format, route))
            .headers(format.wire().request_headers(headers, self.key.as_ref()))
            .body(body);
        let response = tokio::time::timeout(self.answer_timeout, request.send()).await.map_err(|_| {
            let (label, _) = format.provider();
            Refusal::new(RefusalKind::TimedOut, format!("{label} did not answer in time"))
        })?;
        let (label, _) = format.provider();
        let response = response.map_err(|error| {
            // The address stays out of the message: it is the operator's, and the sandbox reads this.
            let reason = unreachable::reason(&error);
            tracing::warn!(error = &error as &dyn std::error::Error, "{label} cannot be reached ({reason})");
            Refusal::new(RefusalKind::Unreachable, format!("{label} cannot be reached ({reason})"))
        })?;
        if response.status().is_redirection() {
            let message = format!("{label} redirects elsewhere, and redirects are not followed");
            return Err(Refusal::new(RefusalKind::Unreachable, message));
        }
        if is_encoded(response.headers()) {
            let message = format!(
                "{label} compresses its answer although it was asked not to, so it cannot be metered"
            );
            return Err(Refusal::new(RefusalKind::Unreachable, message));
        }
        Ok(Answer {
            status: response.status(),
            headers: format.wire().answer_headers(response.headers()),
            pieces: pieces(response, self.silence_timeout),
        })
    }

    fn url(&self, format: Format, route: &Route) -> Url {
        self.url_of(format, &route.path, route.query)
    }

    pub(crate) fn url_of(&self, format: Format, path: &str, query: Option<&str>) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format.wire().path_at(self.base.path().trim_end_matches('/'), path));
        url.set_query(query);
        url
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn key(&self) -> Option<&Secret> {
        self.key.as_ref()
    }

    /// The models it offers, as it said lately. Many may ask at once; one finds out, the others wait for it.
    pub(crate) async fn offered(&self, format: Format, env: &Env, fresh: bool) -> Offered {
        let mut known = self.offered.lock().await;
        let believed = |at: Timestamp, said: &Offered| {
            env.now() < at.plus_millis(if said.is_ok() { OFFERED_FOR_MILLIS } else { FAILED_FOR_MILLIS })
        };
        if let Some((at, said)) = known.as_ref().filter(|(at, said)| !fresh && believed(*at, said)) {
            tracing::trace!(%at, "the list of models is believed");
            return said.clone();
        }
        let said = offered::ask(self, format).await;
        *known = Some((env.now(), said.clone()));
        said
    }
}

fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// The answer's body. The time-out runs only while somebody waits for the next piece.
fn pieces(response: reqwest::Response, silence: Duration) -> Pieces {
    Box::pin(futures::stream::try_unfold(response, move |mut response| async move {
        match tokio::time::timeout(silence, response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk.map(|bytes| (bytes, response))),
            Ok(Err(error)) => Err(StreamError::from(error)),
            Err(_) => Err(StreamError::from(Silent(silence))),
        }
    }))
}

/// How the demo model speaks to callers of a format.
fn dialect(format: Format) -> Dialect {
    match format {
        Format::Anthropic => Dialect::Anthropic,
        Format::Gemini => Dialect::Gemini,
        Format::OpenAiChat => Dialect::OpenAiChat,
        Format::OpenAiResponses => Dialect::OpenAiResponses,
    }
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Even an address that cannot be read may hold a password before its `@`.
fn without_credentials(text: &str) -> String {
    text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, rest)| format!("…@{rest}"))
}
