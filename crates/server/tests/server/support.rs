//! A server to call, and clients to call it with.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request, Response, StatusCode, header},
};
use futures::StreamExt;
use serde_json::Value;
use tower::ServiceExt;
use warren_domain::{AgentProfile, Partition, ProfileId, ProjectId, SessionId, Timestamp, TokenId};
use warren_env::{Env, ManualClock, Tasks};
use warren_gateway::{Gateway, Identity, NewToken, Records};
use warren_server::{Deps, Options, router};
use warren_store::{Database, Live, ProjectRecord, Store, open};
use warren_wire::Route;

use crate::fake::FakeRuntime;

pub(crate) struct TestServer {
    pub(crate) router: Router,
    pub(crate) runtime: Arc<FakeRuntime>,
    pub(crate) gateway: Gateway,
    pub(crate) tasks: Tasks,
    pub(crate) owner: String,
    store: Store,
    env: Env,
    _dir: tempfile::TempDir,
}

/// What came back, read whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::listening_on("127.0.0.1:7777").await
    }

    pub(crate) async fn listening_on(address: &str) -> Self {
        Self::on(address, Env::system()).await
    }

    /// A server whose clock is set by hand.
    pub(crate) async fn on_clock(clock: Arc<ManualClock>) -> Self {
        Self::on("127.0.0.1:7777", Env::with_clock(clock)).await
    }

    /// A server that pages of these origins may call.
    pub(crate) async fn allowing(origins: &[&str]) -> Self {
        let options = Options {
            allowed_origins: origins.iter().map(ToString::to_string).collect(),
            ..options("127.0.0.1:7777")
        };
        Self::with_options(options, Env::system()).await
    }

    async fn on(address: &str, env: Env) -> Self {
        Self::with_options(options(address), env).await
    }

    async fn with_options(behaviour: Options, env: Env) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let tasks = Tasks::new();
        let database = Database::Sqlite(dir.path().join("db"));
        let options = warren_store::Options { database, blobs_dir: dir.path().join("blobs") };
        let store = open(options, env.clone(), &Tasks::new()).await.expect("a store");
        let gateway = Gateway::new(Records::from(&store), env.clone());
        let owner = gateway.bootstrap(None, None).await.expect("bootstrap").secret.expose().to_owned();
        let live = Live::new(&store, &Tasks::new());
        let runtime = Arc::new(FakeRuntime::new(store.clone(), live, env.clone()));
        let deps = Deps {
            runtime: runtime.clone(),
            gateway: gateway.clone(),
            env: env.clone(),
            tasks: tasks.clone(),
            metrics: Arc::new(|| "warren_up 1\n".to_owned()),
            options: behaviour,
        };
        Self { router: router(deps), runtime, gateway, tasks, owner, store, env, _dir: dir }
    }

    pub(crate) async fn owner_identity(&self) -> Identity {
        self.gateway.authenticate(&self.owner).await.expect("the owner")
    }

    /// A project in a partition.
    pub(crate) async fn project(&self, partition: &str, name: &str) -> ProjectId {
        let wanted = ProjectRecord {
            project_id: ProjectId(self.env.uuid()),
            partition: Partition::from(partition),
            name: name.to_owned(),
            options: serde_json::json!({}),
            created_at: self.env.now(),
        };
        self.store.projects.put_project(&wanted).await.expect("a project").project_id
    }

    /// A token's secret.
    pub(crate) async fn token(&self, partition: &str, scope: &str) -> String {
        let identity = Identity {
            token_id: TokenId(self.env.uuid()),
            name: "test".to_owned(),
            partition: Partition::from(partition),
            scope: "admin".parse().expect("a scope"),
            owner: "test".to_owned(),
            plan: None,
            expires_at: None,
        };
        let new = NewToken {
            name: scope.to_owned(),
            scope: scope.parse().expect("a scope"),
            expires_at: None::<Timestamp>,
            owner: None,
            plan: None,
        };
        let (secret, _) = self.gateway.token_create(&identity, new).await.expect("a token");
        secret.expose().to_owned()
    }

    /// A profile as it is kept.
    pub(crate) async fn stored_profile(&self, partition: &str, id: &str) -> AgentProfile {
        self.stored_profile_of(partition, None, id).await.expect("it is there")
    }

    /// A profile of this owner as it is kept.
    pub(crate) async fn stored_profile_of(
        &self,
        partition: &str,
        project: Option<ProjectId>,
        id: &str,
    ) -> Option<AgentProfile> {
        let (partition, id) = (Partition::from(partition), ProfileId::from(id));
        self.store.profiles.profile(&partition, project, &id).await.expect("it is read")
    }

    /// The profile that a session was created with: the project whose it is, and its name.
    pub(crate) async fn bound_profile(&self, session: SessionId) -> (Option<ProjectId>, String) {
        let record = self.store.sessions.session(session).await.expect("it is read").expect("it is there");
        (record.profile.owner.project(record.project_id), record.profile.id.to_string())
    }

    /// A session of the owner's, in the default project.
    pub(crate) async fn session(&self) -> SessionId {
        let reply = self.post(&self.owner, "/api/sessions", "{}").await;
        assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
        reply.json()["sessionId"].as_str().expect("an id").parse().expect("an id")
    }

    pub(crate) async fn call(&self, request: Request<Body>) -> Reply {
        let response = self.open(request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body").to_vec();
        Reply { status, headers, body }
    }

    /// The answer, with its body still to be read.
    pub(crate) async fn open(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.expect("the router answers")
    }

    pub(crate) async fn get(&self, secret: &str, path: &str) -> Reply {
        self.call(request(Method::GET, path, Some(secret)).body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn post(&self, secret: &str, path: &str, body: &str) -> Reply {
        self.send(Method::POST, secret, path, body).await
    }

    pub(crate) async fn send(&self, method: Method, secret: &str, path: &str, body: &str) -> Reply {
        let request = request(method, path, Some(secret)).header(header::CONTENT_TYPE, "application/json");
        self.call(request.body(Body::from(body.to_owned())).expect("a request")).await
    }

    /// Opens a stream of events.
    pub(crate) async fn stream(&self, path: &str, headers: &[(&str, &str)]) -> Stream {
        self.stream_with(&self.owner, path, headers).await
    }

    /// Opens one with this token.
    pub(crate) async fn stream_with(&self, secret: &str, path: &str, headers: &[(&str, &str)]) -> Stream {
        let mut request =
            request(Method::GET, path, Some(secret)).header(header::ACCEPT, "text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Stream::new(self.open(request.body(Body::empty()).expect("a request")).await)
    }
}

fn options(address: &str) -> Options {
    Options { body_limit: 4096, ..Options::new(address.parse().expect("an address")) }
}

/// A request to this server, as a program makes it.
pub(crate) fn request(method: Method, path: &str, secret: Option<&str>) -> axum::http::request::Builder {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:7777");
    if let Some(secret) = secret {
        request = request.header(header::AUTHORIZATION, format!("Bearer {secret}"));
    }
    request
}

/// A request for a row of the table, with a session in its path and a body where one is taken.
pub(crate) fn row(route: &Route, session: SessionId) -> axum::http::request::Builder {
    let path = route
        .path
        .replace("{id}", &session.to_string())
        .replace("{runId}", &session.to_string())
        .replace("{tokenId}", &session.to_string())
        .replace("{approvalId}", &session.to_string())
        .replace("{artifactId}", &session.to_string())
        .replace("{projectId}", "default")
        .replace("{agent}", "nobody")
        .replace("{profileId}", "default")
        .replace("{blockId}", "msg-1")
        .replace("{code}", "NOT_FOUND")
        .replace("{hash}", &"0".repeat(64));
    let method = Method::from_bytes(route.method.as_str().as_bytes()).expect("a method");
    request(method, &path, None).header(header::CONTENT_TYPE, "application/json")
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Checks that this is a whole problem document, and gives its code.
    #[track_caller]
    pub(crate) fn problem(&self) -> String {
        assert_eq!(
            self.headers.get(header::CONTENT_TYPE).map(|value| value.to_str().expect("text")),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem: warren_wire::Problem = serde_json::from_slice(&self.body).expect("a problem document");
        assert_eq!(problem.status, self.status.as_u16());
        assert_eq!(problem.kind, format!("/errors/{}", problem.code));
        assert_eq!(self.headers["x-request-id"], problem.request_id.as_str());
        problem.code.to_string()
    }
}

/// A stream of events, read as a client reads it.
pub(crate) struct Stream {
    pub(crate) status: StatusCode,
    body: axum::body::BodyDataStream,
    text: String,
}

impl Stream {
    pub(crate) fn new(response: Response<Body>) -> Self {
        Self { status: response.status(), body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The next message: its id and its data. `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<(Option<u64>, Value)> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let message = self.text.drain(..end + 2).collect::<String>();
                if let Some(message) = parse(&message) {
                    return Some(message);
                }
            }
            let chunk = self.body.next().await?.expect("no error in the middle");
            self.text.push_str(std::str::from_utf8(&chunk).expect("UTF-8, cut where characters end"));
        }
    }

    /// The ids of the next `n` messages.
    pub(crate) async fn ids(&mut self, n: usize) -> Vec<u64> {
        let mut ids = Vec::new();
        while ids.len() < n {
            ids.push(self.next().await.expect("a message").0.expect("an id"));
        }
        ids
    }
}

fn parse(message: &str) -> Option<(Option<u64>, Value)> {
    let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name));
    // The last of a stream whose token ended has a name; browsers' `onmessage` must see all others.
    assert!(matches!(field("event: "), None | Some("problem")), "{message}");
    let data = serde_json::from_str(field("data: ")?).expect("JSON");
    Some((field("id: ").map(|id| id.parse().expect("a number")), data))
}
