//! Talks to a server. There is one client, whether the server is another process or inside this one.

mod error;
mod follow;
mod sse;

use std::time::Duration;

use futures::{Stream, TryStreamExt as _};
use reqwest::{Method, RequestBuilder, Response, header};
use serde::{Serialize, de::DeserializeOwned};
use warren_domain::{RunId, Seq, SessionId};
use warren_wire::{
    EventPage, Health, Interrupted, MessageAccepted, MessageSend, RunItem, SessionCreate, SessionListItem,
    SessionPage,
};

pub(crate) use error::CallError;
pub(crate) use follow::{Entry, Follow};

/// How long the server may take to answer a call that does not stream.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and the token it knows us by. A cheap clone.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
}

/// A body of several files.
pub(crate) struct Form {
    media: String,
    body: Vec<u8>,
}

impl Form {
    /// A form of files with these names. A name has no quotes and no control characters in it.
    pub(crate) fn of(files: &[(String, Vec<u8>)]) -> Self {
        // Nobody can have foreseen it, so it is in none of the files.
        let boundary = warren_env::Env::system().uuid().simple().to_string();
        let mut body = Vec::new();
        for (name, content) in files {
            let head = format!(
                "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        Self { media: format!("multipart/form-data; boundary={boundary}"), body }
    }
}

impl Client {
    /// A client of the server at `url`.
    pub(crate) fn new(url: &str, token: Option<String>) -> Result<Self, CallError> {
        let mut http = reqwest::Client::builder().connect_timeout(Duration::from_secs(5));
        if is_loopback(url) {
            http = http.no_proxy();
            if url.starts_with("http://") {
                // Reading all certificates of the machine would take most of the start of a command, and none is needed.
                http = http.tls_certs_only([]);
            }
        }
        let http = http.build().map_err(|source| CallError::Setup { source })?;
        Ok(Self { http, url: url.trim_end_matches('/').to_owned(), token })
    }

    /// The address of the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Whether the server answers.
    pub(crate) async fn health(&self) -> Result<Health, CallError> {
        self.get("/health").await
    }

    pub(crate) async fn session_create(&self, new: &SessionCreate) -> Result<SessionListItem, CallError> {
        self.post("/api/sessions", new).await
    }

    pub(crate) async fn session_newest(&self) -> Result<Option<SessionListItem>, CallError> {
        let page: SessionPage = self.get("/api/sessions?limit=1").await?;
        Ok(page.sessions.into_iter().next())
    }

    /// Sends a message. Tried again if the connection fails: its idempotency key makes that harmless.
    pub(crate) async fn message_send(
        &self,
        session: SessionId,
        message: &MessageSend,
    ) -> Result<MessageAccepted, CallError> {
        let path = format!("/api/sessions/{session}/messages");
        match self.post(&path, message).await {
            Err(CallError::Unreachable { .. }) if message.idempotency_key.is_some() => {
                self.post(&path, message).await
            }
            answer => answer,
        }
    }

    pub(crate) async fn run_get(&self, session: SessionId, run: RunId) -> Result<RunItem, CallError> {
        self.get(&format!("/api/sessions/{session}/runs/{run}")).await
    }

    /// Stops the run that is going on; another's if ours waits in the queue.
    pub(crate) async fn interrupt(&self, session: SessionId) -> Result<Interrupted, CallError> {
        self.post(&format!("/api/sessions/{session}/interrupt"), &serde_json::json!({})).await
    }

    /// Takes a message that waits out of the queue.
    pub(crate) async fn run_drop(&self, session: SessionId, run: RunId) -> Result<(), CallError> {
        self.delete(&format!("/api/sessions/{session}/runs/{run}")).await
    }

    /// A part of a log.
    pub(crate) async fn events(&self, session: SessionId, after: Seq) -> Result<EventPage, CallError> {
        self.get(&format!("/api/sessions/{session}/events?after={after}&limit=1000")).await
    }

    /// A log from `after` on, as it grows.
    pub(crate) fn follow(&self, session: SessionId, after: Seq) -> Follow {
        Follow::new(self.clone(), session, after)
    }

    /// Reads JSON; `Box<RawValue>` gives the server's own text.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.read(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CallError> {
        self.read(self.request(Method::POST, path).json(body)).await
    }

    /// Has something done that takes as long as there are files: whoever gives up waiting does not stop it.
    pub(crate) async fn post_long<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CallError> {
        self.read_long(self.request(Method::POST, path).json(body)).await
    }

    pub(crate) async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CallError> {
        self.read(self.request(Method::PUT, path).json(body)).await
    }

    pub(crate) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CallError> {
        self.read(self.request(Method::PATCH, path).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<(), CallError> {
        self.call(self.request(Method::DELETE, path).timeout(PATIENCE)).await.map(drop)
    }

    /// Reads bytes of any kind. A file may take its time.
    pub(crate) async fn bytes(&self, path: &str) -> Result<bytes::Bytes, CallError> {
        let response = self.call(self.request(Method::GET, path)).await?;
        response.bytes().await.map_err(|source| self.unreachable(source))
    }

    /// Reads bytes of any kind piece by piece, as they come.
    pub(crate) async fn pieces(
        &self,
        path: &str,
    ) -> Result<impl Stream<Item = Result<bytes::Bytes, CallError>>, CallError> {
        let response = self.call(self.request(Method::GET, path)).await?;
        Ok(response.bytes_stream().map_err(|source| self.unreachable(source)))
    }

    /// Reads a document converted by the server, and the name of the converter.
    pub(crate) async fn converted(&self, path: &str) -> Result<(bytes::Bytes, String), CallError> {
        let response = self.call(self.request(Method::GET, path)).await?;
        let by = response.headers().get("x-warren-converter").and_then(|name| name.to_str().ok());
        let by = by.unwrap_or_default().to_owned();
        let bytes = response.bytes().await.map_err(|source| self.unreachable(source))?;
        Ok((bytes, by))
    }

    /// Sends bytes of any kind. They may take their time.
    pub(crate) async fn put_bytes<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Vec<u8>,
    ) -> Result<T, CallError> {
        self.read_long(self.request(Method::PUT, path).body(body)).await
    }

    /// Sends files as a form. They may take their time.
    pub(crate) async fn post_form<T: DeserializeOwned>(
        &self,
        path: &str,
        form: Form,
    ) -> Result<T, CallError> {
        let request = self.request(Method::POST, path).header(header::CONTENT_TYPE, form.media);
        self.read_long(request.body(form.body)).await
    }

    /// Sends bytes as they are made. They may take their time.
    pub(crate) async fn post_stream<T: DeserializeOwned>(
        &self,
        path: &str,
        body: reqwest::Body,
    ) -> Result<T, CallError> {
        self.read_long(self.request(Method::POST, path).body(body)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.token {
            Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        }
    }

    async fn read<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, CallError> {
        self.read_long(request.timeout(PATIENCE)).await
    }

    async fn read_long<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, CallError> {
        let response = self.call(request).await?;
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        serde_json::from_slice(&body)
            .map_err(|source| CallError::Unreadable { url: self.url.clone(), source })
    }

    async fn call(&self, request: RequestBuilder) -> Result<Response, CallError> {
        let response = request.send().await.map_err(|source| self.unreachable(source))?;
        if response.status().is_success() { Ok(response) } else { Err(CallError::of_answer(response).await) }
    }

    fn unreachable(&self, source: reqwest::Error) -> CallError {
        // The URL would be in the message twice.
        CallError::Unreachable { url: self.url.clone(), source: source.without_url() }
    }
}

/// Whether an address is one of this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."))
}
