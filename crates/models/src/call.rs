//! The life of one call: from its admission to the report of its end.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::Stream;
use tokio::sync::mpsc::OwnedPermit;
use warren_domain::{BlobHash, ModelCallId, ModelCallStarted, ModelCalled, RunId, Timestamp, Usage};
use warren_env::Env;

use crate::{
    Charge, Ending, Exchange, Format, PriceTable, RefusalKind, Settlement, Starting,
    attempts::Attempts,
    estimate::Estimate,
    http::{Answer, Pieces, StreamError},
    memory::{Buffer, Hold},
    meter::{Meter, Progress},
};

/// What every call is timed and priced by.
#[derive(Clone)]
pub(crate) struct Books {
    pub(crate) env: Env,
    pub(crate) prices: Arc<PriceTable>,
    pub(crate) attempts: Attempts,
}

/// A call that was admitted. Its end is reported exactly once; a call that is dropped was given up by its caller.
pub(crate) struct Call {
    /// Room among the connection's reports, taken beforehand so that the end can be reported even from `drop`.
    /// `None` once it was.
    report: Option<OwnedPermit<Exchange>>,
    books: Books,
    began_at: Timestamp,
    /// The report as far as it is known.
    exchange: Exchange,
    /// Keeps the request counted among the gateway's memory.
    request_hold: Hold,
    recording: Buffer,
    /// Who really answers, if the answer does not say.
    answerer: Option<String>,
    meter: Option<Meter>,
    /// What it may use; `None` if it uses nothing that is charged.
    estimate: Option<Estimate>,
    /// What was set aside for it, if there is a budget.
    reserved: Option<Charge>,
    /// Whether the request went to the provider, which may charge for it from then on.
    sent: bool,
}

/// Passes an answer on, piece by piece, while the call looks at it.
struct Tee {
    pieces: Pieces,
    call: Call,
}

/// What a log shows for a call whose caller did not wait; HTTP has no number for it.
const CALLER_LEFT: u16 = 499;
const BROKEN: u16 = 502;

impl Call {
    pub(crate) fn begin(
        report: OwnedPermit<Exchange>,
        books: Books,
        run: RunId,
        path: String,
        recording: Buffer,
    ) -> Self {
        let called = ModelCalled {
            call_id: None,
            model: String::new(),
            request_hash: hash(&[]),
            status: CALLER_LEFT,
            ms: 0,
            attempt: 1,
            usage: Usage::default(),
            cost_usd: 0.0,
            recording: None,
            recording_bytes: None,
        };
        let exchange = Exchange {
            run,
            called,
            ending: Ending::CallerLeft,
            refusal: None,
            settlement: None,
            path,
            request: Bytes::new(),
            content_type: None,
            response: Bytes::new(),
            response_omitted: 0,
            conversation: None,
        };
        let began_at = books.env.now();
        Self {
            report: Some(report),
            books,
            began_at,
            exchange,
            request_hold: Hold::default(),
            recording,
            answerer: None,
            meter: None,
            estimate: None,
            reserved: None,
            sent: false,
        }
    }

    pub(crate) fn run(&self) -> RunId {
        self.exchange.run
    }

    /// Which attempt at its request it is, from 1.
    pub(crate) fn attempt(&self) -> u32 {
        self.exchange.called.attempt
    }

    /// Notes which thread calls.
    pub(crate) fn called_from(&mut self, conversation: Option<String>) {
        self.exchange.conversation = conversation;
    }

    /// Notes the request, now that it is there.
    pub(crate) fn asked(&mut self, request: Bytes, hold: Hold) {
        let called = &mut self.exchange.called;
        called.request_hash = hash(&request);
        called.attempt = self.books.attempts.next(self.exchange.run, &called.request_hash);
        self.exchange.request = request;
        self.request_hold = hold;
    }

    /// Notes who really answers, whatever the answer says.
    pub(crate) fn answered_by(&mut self, model: impl Into<String>) {
        self.answerer = Some(model.into());
    }

    /// Notes the model that the request names; the answer may name it more exactly.
    pub(crate) fn asked_for(&mut self, model: String) {
        self.exchange.called.model = model;
    }

    /// Notes what it may use, and what was set aside for it.
    pub(crate) fn reserved(&mut self, reserved: Option<Charge>, estimate: Estimate) {
        (self.reserved, self.estimate) = (reserved, Some(estimate));
    }

    /// What is recorded before the request is sent; `None` if the call uses nothing that is charged.
    pub(crate) fn starting(&mut self) -> Option<Starting> {
        let most = self.estimate?.most();
        let call_id = ModelCallId(self.books.env.uuid());
        let Exchange { run, called, conversation, .. } = &mut self.exchange;
        // Set before the start is recorded: a caller that leaves meanwhile ends this call.
        called.call_id = Some(call_id);
        let started = ModelCallStarted {
            call_id,
            model: self.answerer.as_ref().unwrap_or(&called.model).clone(),
            request_hash: called.request_hash.clone(),
            attempt: called.attempt,
            max_tokens: most.tokens,
            max_cost_usd: most.cost_usd,
        };
        Some(Starting { run: *run, conversation: conversation.clone(), started })
    }

    /// Notes that the request goes to the provider from here on.
    pub(crate) fn sending(&mut self) {
        self.sent = true;
    }

    /// Notes that the answer is the gateway's own.
    pub(crate) fn refused(&mut self, kind: RefusalKind) {
        self.exchange.refusal = Some(kind);
    }

    /// The same answer, with this call watching it to its end.
    pub(crate) fn watch(mut self, format: Format, answer: Answer) -> Answer {
        self.exchange.called.status = answer.status.as_u16();
        self.exchange.content_type = answer.content_type().map(str::to_owned);
        self.meter = Some(format.meter(answer.content_type()));
        let Answer { status, headers, pieces } = answer;
        Answer { status, headers, pieces: Box::pin(Tee { pieces, call: self }) }
    }

    fn saw(&mut self, piece: &Bytes) {
        if self.report.is_none() {
            return;
        }
        if let Some(meter) = &mut self.meter {
            meter.saw(piece);
        }
        // Once cut, it stays cut: a recording with a hole would look whole.
        if self.exchange.response_omitted > 0 || self.recording.push(piece).is_err() {
            self.exchange.response_omitted += piece.len() as u64;
        }
        // The sandbox may close the connection as soon as it has this piece, and was answered all the same.
        if self.progress() == Progress::Over {
            self.end(Ending::Complete);
        }
    }

    fn progress(&self) -> Progress {
        self.meter.as_ref().map_or(Progress::Going, Meter::progress)
    }

    fn end(&mut self, ending: Ending) {
        let Some(report) = self.report.take() else { return };
        let mut exchange = self.exchange.clone();
        exchange.ending = ending;
        let called = &mut exchange.called;
        match ending {
            Ending::Complete => {}
            Ending::CallerLeft => called.status = CALLER_LEFT,
            Ending::Broken => called.status = BROKEN,
        }
        let elapsed = self.books.env.now().as_millis() - self.began_at.as_millis();
        called.ms = u64::try_from(elapsed).unwrap_or_default();
        let answered = self.meter.is_some();
        let metered =
            self.meter.take().map(|meter| meter.total(self.recording.as_slice())).unwrap_or_default();
        if let Some(model) = self.answerer.as_deref().or(metered.model.as_deref()) {
            model.clone_into(&mut called.model);
        }
        let told_cost = self.books.prices.cost(&called.model, &metered) + metered.tools_usd;
        called.usage = Usage { cost_usd: told_cost, ..metered.usage };
        called.usage.model = (!called.model.is_empty()).then(|| called.model.clone());
        let untold = self.untold(called, ending, answered);
        called.usage.add_estimate(untold.tokens, untold.cost_usd);
        called.cost_usd = called.usage.cost_usd;
        self.books.attempts.ended(exchange.run, &called.request_hash, called.attempt, called.status >= 400);
        let used = Charge { cost_usd: called.usage.cost_usd, tokens: called.usage.total_tokens };
        exchange.settlement = self.reserved.take().map(|reserved| Settlement { reserved, used });
        exchange.response = self.recording.take();
        report.send(exchange);
    }

    /// An estimate of what the call used and its answer did not tell.
    fn untold(&self, called: &ModelCalled, ending: Ending, answered: bool) -> Charge {
        let Some(estimate) = self.estimate.filter(|_| self.sent) else { return Charge::default() };
        let told = &called.usage;
        let seen = self.recording.as_slice().len() as u64 + self.exchange.response_omitted;
        let is_whole = ending == Ending::Complete;
        match self.exchange.refusal {
            // Nobody answered, so nobody charges.
            Some(_) => Charge::default(),
            None if !answered => estimate.untold(0, false),
            None if told.total_tokens > 0 && is_whole => Charge::default(),
            None if told.total_tokens > 0 => estimate.untold_output(seen, told.output_tokens),
            // Providers do not charge for errors.
            None if self.exchange.called.status >= 400 => Charge::default(),
            // Somebody answered, but no model.
            None if !self.is_models_answer(is_whole) => Charge::default(),
            None => estimate.untold(seen, is_whole),
        }
    }
}

impl Call {
    /// Whether an answer that tells of no tokens can be a model's: a stream of events, or JSON.
    fn is_models_answer(&self, is_whole: bool) -> bool {
        let content_type = self.exchange.content_type.as_deref().unwrap_or_default();
        if content_type.starts_with("text/event-stream") {
            return true;
        }
        let is_readable = serde_json::from_slice::<serde::de::IgnoredAny>(self.recording.as_slice()).is_ok();
        let is_cut = !is_whole || self.exchange.response_omitted > 0;
        is_readable || is_cut && content_type.starts_with("application/json")
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // Who leaves when the answer is finished was answered.
        let finished = self.progress() >= Progress::Finished;
        self.end(if finished { Ending::Complete } else { Ending::CallerLeft });
    }
}

impl Stream for Tee {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.pieces.as_mut().poll_next(cx));
        match &next {
            Some(Ok(piece)) => self.call.saw(piece),
            Some(Err(error)) => {
                tracing::warn!(
                    error = error.as_ref() as &dyn std::error::Error,
                    "a model's answer broke off"
                );
                self.call.end(Ending::Broken);
            }
            None => self.call.end(Ending::Complete),
        }
        Poll::Ready(next)
    }
}

fn hash(bytes: &[u8]) -> BlobHash {
    BlobHash(blake3::hash(bytes).to_hex().to_string())
}
