//! A sandbox's side, a provider's side, and the gateway between them.

pub(crate) mod client;
pub(crate) mod provider;

use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc};
use uuid::Uuid;
use warren_domain::{BlobHash, ModelCalled, RunId, Timestamp, Usage};
use warren_env::{Env, ManualClock, Tasks};
use warren_models::{
    Budget, Caller, Charge, Ending, Exchange, Feature, Format, Gateway, NotRecorded, Options, Pace, Quote,
    Secret, Starting, Unaffordable, UpstreamOptions,
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
    format: Format,
    caller: Arc<Sandbox>,
    starting: mpsc::Receiver<Starting>,
    ended: mpsc::Receiver<Exchange>,
}

#[derive(Clone)]
struct Sandbox {
    run: Option<RunId>,
    granted: Vec<Feature>,
    own_models: Vec<String>,
    chosen: Option<String>,
    budget: Option<Arc<Mutex<Budget>>>,
    starting: mpsc::Sender<Starting>,
    /// Each start takes a permit before it counts as recorded. Closed: nothing can be recorded.
    recording: Arc<Semaphore>,
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
        let (starts, starting) = mpsc::channel(64);
        let caller = Sandbox {
            run: Some(RUN),
            granted: Vec::new(),
            own_models: Vec::new(),
            chosen: None,
            budget: None,
            starting: starts,
            recording: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            ended: sender,
        };
        let (tasks, caller) = (Tasks::new(), Arc::new(caller));
        Self { gateway, tasks, format: Format::Anthropic, caller, starting, ended }
    }

    /// The same sandbox between two runs.
    pub(crate) fn without_run(mut self) -> Self {
        Arc::make_mut(&mut self.caller).run = None;
        self
    }

    pub(crate) fn granting(mut self, granted: &[Feature]) -> Self {
        Arc::make_mut(&mut self.caller).granted = granted.to_vec();
        self
    }

    pub(crate) fn told_to_use(mut self, model: &str) -> Self {
        Arc::make_mut(&mut self.caller).own_models.push(model.to_owned());
        self
    }

    /// Somebody chose this model for the run, by whatever name the agent asks for it.
    pub(crate) fn choosing(mut self, model: &str) -> Self {
        Arc::make_mut(&mut self.caller).chosen = Some(model.to_owned());
        self
    }

    pub(crate) fn speaking(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    pub(crate) fn with_budget(mut self, budget: Budget) -> Self {
        Arc::make_mut(&mut self.caller).budget = Some(Arc::new(Mutex::new(budget)));
        self
    }

    /// The same sandbox, whose calls are recorded only with permits of the test.
    pub(crate) fn recording_with(mut self, permits: &Arc<Semaphore>) -> Self {
        Arc::make_mut(&mut self.caller).recording = Arc::clone(permits);
        self
    }

    pub(crate) fn budget(&self) -> MutexGuard<'_, Budget> {
        self.caller.budget.as_ref().expect("there is one").lock().expect("no panic")
    }

    /// A connection from the sandbox.
    pub(crate) async fn connect(&self) -> Client {
        Client::over(self.raw(), &self.tasks).await
    }

    /// The sandbox's end of a connection, as bytes.
    pub(crate) fn raw(&self) -> tokio::io::DuplexStream {
        let (sandbox, host) = tokio::io::duplex(16 * 1024);
        let (gateway, caller, format) = (self.gateway.clone(), Arc::clone(&self.caller), self.format);
        self.tasks.spawn(warren_env::TaskKind::Connection, async move {
            gateway.serve(format, host, caller).await;
        });
        sandbox
    }

    /// The next call that is about to be sent.
    pub(crate) async fn starting(&mut self) -> Starting {
        self.starting.recv().await.expect("a call starts")
    }

    /// The next call that ended, without its id, which is random.
    pub(crate) async fn ended(&mut self) -> Exchange {
        let mut ended = self.ended_with_id().await;
        ended.called.call_id = None;
        ended
    }

    pub(crate) async fn ended_with_id(&mut self) -> Exchange {
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

    fn own_models(&self) -> Vec<String> {
        self.own_models.clone()
    }

    fn chosen(&self, _format: Format) -> Option<String> {
        self.chosen.clone()
    }

    fn reserve(&self, run: RunId, quote: &Quote) -> Result<Option<Charge>, Unaffordable> {
        assert_eq!(run, RUN);
        let Some(budget) = &self.budget else { return Ok(None) };
        budget.lock().expect("no panic").reserve(quote).map(Some)
    }

    async fn starting(&self, starting: Starting) -> Result<(), NotRecorded> {
        self.starting.send(starting).await.expect("the test listens");
        self.recording.acquire().await.map(|permit| permit.forget()).map_err(|_| NotRecorded)
    }

    async fn ended(&self, exchange: Exchange) {
        if let (Some(budget), Some(settlement)) = (&self.budget, &exchange.settlement) {
            budget.lock().expect("no panic").settle(settlement);
        }
        self.ended.send(exchange).await.expect("the test listens");
    }
}

pub(crate) fn options(base_url: String) -> Options {
    options_for(Format::Anthropic, base_url)
}

/// A provider for one format only.
pub(crate) fn options_for(format: Format, base_url: String) -> Options {
    let http = UpstreamOptions::Http { base_url, api_key: Some(Secret::new(REAL_KEY)) };
    let mut options = Options::default();
    match format {
        Format::Anthropic => options.anthropic = http,
        Format::Gemini => options.gemini = http,
        Format::OpenAiChat => options.openai_chat = http,
        Format::OpenAiResponses => options.openai_responses = http,
    }
    options
}

/// A small request for a streamed answer.
pub(crate) fn request() -> &'static str {
    r#"{"model":"claude-opus-4-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#
}

/// The same call with only what its answer reported of its use. Tests of budgets look at the rest, an estimate.
pub(crate) fn as_reported(mut exchange: Exchange) -> Exchange {
    let called = &mut exchange.called;
    assert!(called.usage.estimated_tokens > 0, "there is an estimate: {:?}", called.usage);
    called.usage.total_tokens -= std::mem::take(&mut called.usage.estimated_tokens);
    assert_eq!(called.usage.total_tokens, 0, "nothing is reported, so nothing of the cost is");
    (called.usage.cost_usd, called.cost_usd) = (0.0, 0.0);
    exchange
}

/// What is reported of a call of [`request`] that used nothing.
pub(crate) fn exchange(status: u16, ending: Ending, content_type: Option<&str>, response: &str) -> Exchange {
    let model = "claude-opus-4-5".to_owned();
    Exchange {
        run: RUN,
        called: ModelCalled {
            call_id: None,
            model: model.clone(),
            request_hash: BlobHash(blake3::hash(request().as_bytes()).to_hex().to_string()),
            status,
            ms: 0,
            attempt: 1,
            usage: Usage { model: Some(model), ..Usage::default() },
            cost_usd: 0.0,
            recording: None,
            recording_bytes: None,
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
