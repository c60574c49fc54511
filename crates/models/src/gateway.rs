//! The gateway itself: decides about a call, sends it on, and sees it through.

mod answerer;

use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Request, StatusCode, body::Incoming};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use warren_env::Env;

use crate::{
    CONVERSATION_HEADER, Caller, Exchange, Feature, Format, Limits, ModelLists, OfferError, OfferedModel,
    Options, Overrides, Price, SetupError, Timeouts, Unaffordable, UpstreamOptions,
    allowed::{self, AllowedModels},
    attempts::Attempts,
    call::{Books, Call},
    demo,
    estimate::Estimate,
    format::{Inspected, Route, RouteKind},
    http::{self, Answer, BodyError},
    memory::{Full, Memory},
    overrides::Overridden,
    refusal::{Refusal, RefusalKind},
    replay::Playback,
    upstream::Upstream,
};

/// The way to the models. A cheap clone.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
    /// What counts instead of the upstreams that the gateway was made with.
    overridden: Option<Arc<Overridden>>,
    /// Answers instead of the models, if a run is replayed.
    playback: Option<Playback>,
}

struct Inner {
    upstreams: Upstreams,
    /// Answers whoever asks for it by name, whichever keys there are.
    demo: Arc<Upstream>,
    models: ModelLists,
    books: Books,
    timeouts: Timeouts,
    limits: Limits,
    memory: Memory,
}

/// Who answers, for each format.
struct Upstreams {
    anthropic: Arc<Upstream>,
    gemini: Arc<Upstream>,
    openai_chat: Arc<Upstream>,
    openai_responses: Arc<Upstream>,
}

/// Which models there are for one format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// There is no key: the demo model answers where nobody chose a model.
    Demo,
    /// What the provider offers of what sandboxes may ask for.
    Models(Vec<OfferedModel>),
}

/// Who answers calls of one format, in words that may be shown to anyone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamSummary {
    /// The format.
    pub format: Format,
    /// `demo`, or the provider's host.
    pub target: String,
    /// Whether the demo model answers: there is nothing to ask a provider with.
    pub is_demo: bool,
    /// Whether there is a key. The key itself is never shown.
    pub has_key: bool,
}

/// The longest name of a thread that is believed.
const MAX_CONVERSATION: usize = 128;

impl Gateway {
    /// Makes the gateway. Connects to nothing yet.
    ///
    /// # Errors
    /// When a provider's address or key cannot be right, or the program installed no TLS provider.
    pub fn new(options: Options, env: Env) -> Result<Gateway, SetupError> {
        let Options {
            anthropic,
            gemini,
            openai_chat,
            openai_responses,
            models,
            prices,
            timeouts,
            limits,
            pace,
        } = options;
        let upstream = |options: UpstreamOptions| Upstream::new(options, &timeouts, pace, &env).map(Arc::new);
        let upstreams = Upstreams {
            anthropic: upstream(anthropic)?,
            gemini: upstream(gemini)?,
            openai_chat: upstream(openai_chat)?,
            openai_responses: upstream(openai_responses)?,
        };
        let demo = upstream(UpstreamOptions::Demo)?;
        let memory = Memory::new(limits.buffered_bytes);
        let books = Books { env, prices: Arc::new(prices), attempts: Attempts::default() };
        let inner = Arc::new(Inner { upstreams, demo, models, books, timeouts, limits, memory });
        Ok(Gateway { inner, overridden: None, playback: None })
    }

    /// The same gateway, but all calls are answered from recordings: no provider is asked, no budget is, and what may be
    /// asked for was decided when it was recorded.
    #[must_use]
    pub fn replaying(&self, playback: Playback) -> Gateway {
        Gateway { playback: Some(playback), ..self.clone() }
    }

    /// Whether calls are answered from recordings.
    #[must_use]
    pub fn is_replaying(&self) -> bool {
        self.playback.is_some()
    }

    /// The same gateway, but what `overrides` says counts before the options it was made with.
    #[must_use]
    pub fn overridden(&self, overrides: Arc<dyn Overrides>) -> Gateway {
        Gateway { overridden: Some(Arc::new(Overridden::new(overrides))), ..self.clone() }
    }

    /// Who answers now, for each format.
    pub async fn describe(&self) -> Vec<UpstreamSummary> {
        let mut all = Vec::with_capacity(Format::ALL.len());
        for format in Format::ALL {
            let upstream = self.upstream(format).await;
            let (target, is_demo, has_key) = (upstream.target(), upstream.is_demo(), upstream.has_key());
            all.push(UpstreamSummary { format, target, is_demo, has_key });
        }
        all
    }

    /// Which models there are for a format, of those that sandboxes may ask for. What a provider said lately is believed
    /// for a few minutes, unless it is to be `fresh`.
    ///
    /// # Errors
    /// When the provider does not say.
    pub async fn offer(&self, format: Format, fresh: bool) -> Result<Offer, OfferError> {
        let upstream = self.upstream(format).await;
        let Upstream::Http(provider) = &*upstream else { return Ok(Offer::Demo) };
        let mut models = provider.offered(format, &self.inner.books.env, fresh).await?;
        let allowed = self.inner.models.of(format);
        models.retain(|model| allowed.offers(&model.id));
        Ok(Offer::Models(models))
    }

    /// What a model costs; `None` if that is not known.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<Price> {
        self.inner.books.prices.price(model)
    }

    async fn upstream(&self, format: Format) -> Arc<Upstream> {
        let Inner { upstreams, timeouts, books, .. } = &*self.inner;
        let set = match &self.overridden {
            Some(overridden) => overridden.of(format, timeouts, &books.env).await,
            None => None,
        };
        set.unwrap_or_else(|| Arc::clone(upstreams.of(format)))
    }

    /// Serves HTTP/1.1 on one byte stream that came from a sandbox's loopback listener, until it closes and the caller
    /// was told of every call.
    ///
    /// To end it early, close the stream: then the call in flight is dropped and reported. Dropping this future loses
    /// that report.
    pub async fn serve<IO>(&self, format: Format, io: IO, caller: Arc<dyn Caller>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // Calls of one connection come one after the other, so there is one place. When it is taken, the caller still
        // writes down the call before, and the next call waits for that.
        let (reports, mut ended) = mpsc::channel(1);
        let connection = {
            let (gateway, caller) = (self.clone(), Arc::clone(&caller));
            // Owns `reports`: the end of the connection is the end of the reports.
            http::serve(io, move |request| {
                let (gateway, caller, reports) = (gateway.clone(), Arc::clone(&caller), reports.clone());
                async move { gateway.handle(format, request, &*caller, reports).await.into_response() }
            })
        };
        let tell = async {
            while let Some(exchange) = ended.recv().await {
                caller.ended(exchange).await;
            }
        };
        tokio::join!(connection, tell);
    }

    async fn handle(
        &self,
        format: Format,
        request: Request<Incoming>,
        caller: &dyn Caller,
        reports: mpsc::Sender<Exchange>,
    ) -> Answer {
        let Some(route) = format.wire().route(request.method(), request.uri()) else {
            let message = format!("`{} {}` is not available here", request.method(), request.uri().path());
            return refused(format, &Refusal::new(RefusalKind::NoSuchRoute, message));
        };
        if route.kind == RouteKind::Lookup {
            return Answer::json(StatusCode::OK, Bytes::from_static(format.wire().lookup().as_bytes()));
        }
        // Room for the report before the admission: an admitted call is always reported.
        let Ok(report) = reports.reserve_owned().await else {
            return refused(format, &Refusal::new(RefusalKind::Overloaded, "the connection is closing"));
        };
        let Some(run) = caller.admit() else {
            return refused(format, &Refusal::new(RefusalKind::NoRun, "no run is active in this sandbox"));
        };
        let recording = self.inner.memory.buffer(self.inner.limits.recording_bytes);
        let mut call = Call::begin(report, self.inner.books.clone(), run, route.path.clone(), recording);
        match self.carry_out(format, &route, request, caller, &mut call).await {
            Ok(answer) => call.watch(format, answer),
            // Dropping the call reports that the caller left; an answer nobody gets is not its end.
            Err(refusal) if refusal.kind == RefusalKind::BrokenOff => refused(format, &refusal),
            Err(refusal) => {
                let refusal = answerer::given_up(refusal, format, call.attempt());
                call.refused(refusal.kind);
                call.watch(format, refused(format, &refusal))
            }
        }
    }

    /// Reads, checks and sends the request of an admitted call.
    async fn carry_out(
        &self,
        format: Format,
        route: &Route,
        request: Request<Incoming>,
        caller: &dyn Caller,
        call: &mut Call,
    ) -> Result<Answer, Refusal> {
        let Inner { memory, limits, timeouts, .. } = &*self.inner;
        let (head, body) = request.into_parts();
        let thread = conversation(&head.headers);
        call.called_from(thread.clone());
        let buffer = memory.buffer(limits.request_bytes);
        let buffer = http::read_body(body, buffer, timeouts.request)
            .await
            .map_err(|error| unreadable(error, limits.request_bytes))?;
        let (body, hold) = buffer.freeze();
        call.asked(body.clone(), hold);
        if let Some(playback) = &self.playback {
            let played = playback.answer(format, route, thread, body).await?;
            if !played.model.is_empty() {
                call.answered_by(played.model);
            }
            played.refusal.into_iter().for_each(|kind| call.refused(kind));
            return Ok(played.answer);
        }
        let inspected = format.wire().inspect(route, &body)?;
        call.asked_for(allowed::shown(&inspected.model));
        let upstream = match demo::is_named(&inspected.model) {
            true => Arc::clone(&self.inner.demo),
            false => self.upstream(format).await,
        };
        self.check_models(format, &upstream, caller, &inspected)?;
        answerer::check_key(format, &upstream, caller, &inspected)?;
        check_granted(caller, &inspected.features)?;
        if upstream.is_demo() {
            // It answers under the name that was asked for, since agents insist on that.
            call.answered_by(demo::MODEL);
        }
        if route.kind == RouteKind::Generate {
            // Priced as whoever answers, whatever was asked for.
            let priced = if upstream.is_demo() { demo::MODEL } else { &inspected.model };
            self.reserve(caller, call, &body, &inspected, priced)?;
        }
        if let Some(starting) = call.starting() {
            let recorded = caller.starting(starting).await;
            recorded.map_err(|error| Refusal::new(RefusalKind::NoRun, error.to_string()))?;
        }
        call.sending();
        upstream.call(format, route, &head.headers, body).await
    }

    /// Checks every model that a request names. The demo model answers to all names, unless the operator has a list: nothing
    /// leaves the server then.
    fn check_models(
        &self,
        format: Format,
        upstream: &Upstream,
        caller: &dyn Caller,
        inspected: &Inspected,
    ) -> Result<(), Refusal> {
        let models = self.inner.models.of(format);
        if upstream.is_demo() && matches!(models, AllowedModels::Known { .. }) {
            return Ok(());
        }
        let own = caller.own_models();
        let named = std::iter::once(&inspected.model).chain(&inspected.other_models);
        let Some(refused) = named.into_iter().find(|model| !models.allow(model, &own)) else { return Ok(()) };
        let what = match refused.as_str() {
            "" => "the request names no model".to_owned(),
            model => format!("the model `{}` is not allowed here", allowed::shown(model)),
        };
        let option = allowed::option_of(format);
        let message = format!("{what}\nhint: the operator can add a model to `{option}`");
        Err(Refusal::new(RefusalKind::ModelNotAllowed, message))
    }

    /// Asks whoever pays for the most that the call can use.
    fn reserve(
        &self,
        caller: &dyn Caller,
        call: &mut Call,
        body: &[u8],
        inspected: &Inspected,
        model: &str,
    ) -> Result<(), Refusal> {
        let price = self.inner.books.prices.price(model);
        let estimate = Estimate::new(body, inspected, price);
        let reserved = caller.reserve(call.run(), &estimate.quote(model)).map_err(|refused| {
            let kind = match &refused {
                Unaffordable::Spent(_) => RefusalKind::BudgetSpent,
                Unaffordable::Held => RefusalKind::BudgetHeld,
                Unaffordable::NoPrice { .. } => RefusalKind::NoPrice,
                Unaffordable::RunEnded => RefusalKind::NoRun,
            };
            Refusal::new(kind, refused.to_string())
        })?;
        call.reserved(reserved, estimate);
        Ok(())
    }
}

impl Upstreams {
    fn of(&self, format: Format) -> &Arc<Upstream> {
        match format {
            Format::Anthropic => &self.anthropic,
            Format::Gemini => &self.gemini,
            Format::OpenAiChat => &self.openai_chat,
            Format::OpenAiResponses => &self.openai_responses,
        }
    }
}

fn check_granted(caller: &dyn Caller, features: &[Feature]) -> Result<(), Refusal> {
    let Some(missing) = features.iter().find(|feature| !caller.granted(**feature)) else { return Ok(()) };
    let what = match missing {
        Feature::ServerTools => "tools that the provider runs, such as web search or code execution, are",
        Feature::RemoteMcp => "MCP servers that the provider connects to are",
        Feature::Containers => "containers and skills at the provider are",
        Feature::UrlSources => "images and documents that the provider fetches by URL are",
        Feature::StoredFiles => "files stored at the provider are",
        Feature::StoredState => "answers and conversations that the provider stores are",
        Feature::DearerService => {
            "services that cost more than the standard one, such as priority or fast mode, are"
        }
    };
    let hint = match missing {
        Feature::ServerTools => {
            "\nhint: an administrator can grant them with `providerTools` of the profile, or with `models.provider_tools`"
        }
        _ => "",
    };
    Err(Refusal::new(RefusalKind::NotGranted, format!("{what} not granted to this run{hint}")))
}

fn unreadable(error: BodyError, limit: usize) -> Refusal {
    match error {
        BodyError::Full(Full::Limit) => {
            Refusal::new(RefusalKind::TooLarge, format!("the request is longer than {limit} bytes"))
        }
        BodyError::Full(Full::Memory) => {
            Refusal::new(RefusalKind::Overloaded, "too many large calls are in flight; try again later")
        }
        BodyError::TooSlow => Refusal::new(RefusalKind::Slow, "the request did not arrive in time"),
        BodyError::Broken => Refusal::new(RefusalKind::BrokenOff, "the request was interrupted"),
    }
}

fn refused(format: Format, refusal: &Refusal) -> Answer {
    let (status, body) = format.wire().refusal(refusal);
    Answer::json(status, body)
}

/// The thread that the agent says it is; anything odd is no hint at all.
fn conversation(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONVERSATION_HEADER)?.to_str().ok()?;
    (!text.is_empty() && text.len() <= MAX_CONVERSATION).then(|| text.to_owned())
}
