//! Plain HTTP, with nothing hidden.

use reqwest::{Method, RequestBuilder, StatusCode, header::HeaderMap};
use serde_json::{Value, json};
use warren_domain::{RunId, Seq, SessionId};

use crate::{TestEvent, TestEvents};

/// Somebody who calls the server. A cheap clone.
#[derive(Clone)]
pub struct TestClient {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
}

/// What the server answered.
#[derive(Debug, Clone)]
pub struct TestAnswer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body; `null` if it is empty, a text if it is not JSON.
    pub body: Value,
}

impl TestClient {
    /// A caller with a token, or a stranger.
    #[must_use]
    pub fn new(url: &str, token: Option<&str>) -> Self {
        // Another client of this process may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let http = http.build().expect("a client");
        Self { http, url: url.to_owned(), token: token.map(str::to_owned) }
    }

    /// The same server, called with another token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// A request to be filled in and sent by hand.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Sends what was filled in.
    pub async fn send(&self, request: RequestBuilder) -> TestAnswer {
        self.try_send(request).await.expect("the server answers, and its answer is whole")
    }

    /// Sends what was filled in to a server that may fail meanwhile.
    ///
    /// # Errors
    /// When no whole answer arrives.
    pub async fn try_send(&self, request: RequestBuilder) -> reqwest::Result<TestAnswer> {
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await?;
        let body = if text.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        };
        Ok(TestAnswer { status, headers, body })
    }

    /// GET.
    pub async fn get(&self, path: &str) -> TestAnswer {
        self.send(self.request(Method::GET, path)).await
    }

    /// POST with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> TestAnswer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// PUT with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> TestAnswer {
        self.send(self.request(Method::PUT, path).json(body)).await
    }

    /// PATCH with a JSON body.
    pub async fn patch(&self, path: &str, body: &Value) -> TestAnswer {
        self.send(self.request(Method::PATCH, path).json(body)).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> TestAnswer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Makes a session.
    pub async fn session_create(&self) -> SessionId {
        let answer = self.post("/api/sessions", &json!({})).await.expect(StatusCode::CREATED);
        answer["sessionId"].as_str().and_then(|id| id.parse().ok()).expect("a session's id")
    }

    /// Sends a message; gives its run and the entry that announced it.
    pub async fn message_send(&self, session: SessionId, text: &str) -> (RunId, Seq) {
        let path = format!("/api/sessions/{session}/messages");
        let answer = self.post(&path, &json!({ "content": text })).await.expect(StatusCode::ACCEPTED);
        let run = answer["runId"].as_str().and_then(|id| id.parse().ok()).expect("a run's id");
        (run, Seq(answer["seq"].as_u64().expect("a number")))
    }

    /// Sends a message and waits for the end of its run. Gives the entries from its announcement to its end.
    pub async fn run(&self, session: SessionId, text: &str) -> Vec<TestEvent> {
        let (run, seq) = self.message_send(session, text).await;
        let mut events = self.events(session, Seq(seq.0 - 1)).await;
        events.until(|event| event.ends_run(run)).await
    }

    /// The whole log, read page by page.
    pub async fn log(&self, session: SessionId) -> Vec<TestEvent> {
        let mut log = Vec::new();
        loop {
            let after = log.last().map_or(0, |event: &TestEvent| event.seq.0);
            let path = format!("/api/sessions/{session}/events?after={after}");
            let page = self.get(&path).await.expect(StatusCode::OK);
            let events = page["events"].as_array().expect("events").clone();
            if events.is_empty() {
                return log;
            }
            log.extend(events.into_iter().map(TestEvent::of));
        }
    }

    /// Follows the log from `after` on.
    pub async fn events(&self, session: SessionId, after: Seq) -> TestEvents {
        let path = format!("/api/sessions/{session}/events");
        let request = self
            .request(Method::GET, &path)
            .header("Accept", "text/event-stream")
            .header("Last-Event-ID", after.to_string());
        let response = request.send().await.expect("the server answers");
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        TestEvents::new(response)
    }
}

impl TestAnswer {
    /// The body, if the status is this one; else the test fails and shows the body.
    #[track_caller]
    pub fn expect(self, status: StatusCode) -> Value {
        assert_eq!(self.status, status, "{:#}", self.body);
        self.body
    }

    /// The status and the code of a refusal.
    #[must_use]
    pub fn refusal(&self) -> (u16, &str) {
        (self.status.as_u16(), self.body["code"].as_str().unwrap_or_default())
    }
}
