//! A sandbox's side, a provider's side, and the gateway between them.

pub(crate) mod client;
pub(crate) mod provider;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::mpsc;
use uuid::Uuid;
use warren_domain::{BlobHash, ModelCalled, RunId, Timestamp, Usage};
use warren_env::{Env, ManualClock, Tasks};
use warren_models::{
    Caller, Ending, Exchange, Feature, Format, Gateway, Options, Pace, Secret, UpstreamOptions,
};

pub(crate) use client::Client;
pub(crate) use provider::Provider;

/// The key that must never be seen in a sandbox.
pub(crate) const REAL_KEY: &str = "sk-ant-api03-real";
pub(crate) const RUN: RunId = RunId(Uuid::from_u128(7));

/// A gateway with a clock that stands still, and one sandbox that calls it.
pub(crate) struct Bench {
    pub(crate) gateway: Gateway,
    pub(crate) tasks: Tasks,
    caller: Arc<Sandbox>,
    ended: mpsc::Receiver<Exchange>,
}

struct Sandbox {
    run: Option<RunId>,
    granted: Vec<Feature>,
    ended: mpsc::Sender<Exchange>,
}

impl Bench {
    /// In front of a provider.
    pub(crate) fn with_provider(provider: &Provider) -> Self {
        Self::new(options(provider.base_url()))
    }

    pub(crate) fn with_demo() -> Self {
        Self::new(Options { pace: Pace::NONE, ..Options::default() })
    }

    pub(crate) fn new(options: Options) -> Self {
        // The process may have it already, from another test.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let env = Env::with_clock(ManualClock::at(Timestamp::from_millis(0)));
        let gateway = Gateway::new(options, env).expect("a gateway");
        // Larger than the number of calls of any test; when full, calls would wait.
        let (sender, ended) = mpsc::channel(64);
        let caller = Sandbox { run: Some(RUN), granted: Vec::new(), ended: sender };
        Self { gateway, tasks: Tasks::new(), caller: Arc::new(caller), ended }
    }

    /// The same sandbox between two runs.
    pub(crate) fn without_run(mut self) -> Self {
        self.caller = Arc::new(Sandbox { run: None, granted: Vec::new(), ended: self.caller.ended.clone() });
        self
    }

    pub(crate) fn granting(mut self, granted: &[Feature]) -> Self {
        let ended = self.caller.ended.clone();
        self.caller = Arc::new(Sandbox { run: Some(RUN), granted: granted.to_vec(), ended });
        self
    }

    /// A connection from the sandbox.
    pub(crate) async fn connect(&self) -> Client {
        Client::over(self.raw(), &self.tasks).await
    }

    /// The sandbox's end of a connection, as bytes.
    pub(crate) fn raw(&self) -> tokio::io::DuplexStream {
        let (sandbox, host) = tokio::io::duplex(16 * 1024);
        let (gateway, caller) = (self.gateway.clone(), Arc::clone(&self.caller));
        self.tasks.spawn(warren_env::TaskKind::Connection, async move {
            gateway.serve(Format::Anthropic, host, caller).await;
        });
        sandbox
    }

    /// The next call that ended.
    pub(crate) async fn ended(&mut self) -> Exchange {
        self.ended.recv().await.expect("a call ends")
    }

    /// Whether no call ended that was not asked for.
    pub(crate) fn nothing_ended(&mut self) -> bool {
        self.ended.try_recv().is_err()
    }
}

#[async_trait]
impl Caller for Sandbox {
    fn admit(&self) -> Option<RunId> {
        self.run
    }

    fn granted(&self, feature: Feature) -> bool {
        self.granted.contains(&feature)
    }

    async fn ended(&self, exchange: Exchange) {
        self.ended.send(exchange).await.expect("the test listens");
    }
}

pub(crate) fn options(base_url: String) -> Options {
    let api_key = Some(Secret::new(REAL_KEY));
    Options { anthropic: UpstreamOptions::Http { base_url, api_key }, ..Options::default() }
}

/// A small request for a streamed answer.
pub(crate) fn request() -> &'static str {
    r#"{"model":"claude-opus-4-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#
}

/// What is reported of a call of [`request`] that used nothing.
pub(crate) fn exchange(status: u16, ending: Ending, content_type: Option<&str>, response: &str) -> Exchange {
    let model = "claude-opus-4-5".to_owned();
    Exchange {
        run: RUN,
        called: ModelCalled {
            model: model.clone(),
            request_hash: BlobHash(blake3::hash(request().as_bytes()).to_hex().to_string()),
            status,
            ms: 0,
            attempt: 1,
            usage: Usage { model: Some(model), ..Usage::default() },
            cost_usd: 0.0,
            recording: None,
        },
        ending,
        refusal: None,
        settlement: None,
        path: "/v1/messages".to_owned(),
        request: Bytes::from_static(request().as_bytes()),
        content_type: content_type.map(str::to_owned),
        response: Bytes::copy_from_slice(response.as_bytes()),
        response_omitted: 0,
        conversation: None,
    }
}
