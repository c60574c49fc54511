//! What happens when a budget comes to its end.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Method;
use tokio::sync::Semaphore;
use warren_domain::Usage;
use warren_models::{
    Budget, BudgetLimits, Charge, Ending, Format, Options, PriceTable, RefusalKind, Settlement,
};

use crate::support::{Bench, Provider, options, options_for, request};

const JSON: &str = include_str!("../../fixtures/anthropic/message.json");
/// What the fixture used, cache and all.
const USED: u64 = 472 + 89 + 1200 + 300;

fn tokens(limit: u64) -> Budget {
    Budget::new(BudgetLimits { cost_usd: None, tokens: Some(limit) }, Charge::default())
}

fn dollars(limit: f64, spent: f64) -> Budget {
    let limits = BudgetLimits { cost_usd: Some(limit), tokens: None };
    Budget::new(limits, Charge { cost_usd: spent, tokens: 0 })
}

/// The most that [`request`] can use: a token for every three bytes, and the 64 that it lets the model write.
fn most() -> u64 {
    (request().len() as u64).div_ceil(3) + 64
}

#[tokio::test]
async fn parallel_calls_cannot_use_more_than_there_is() {
    let provider = Provider::start().await;
    // Room for two calls in flight, and something left over.
    let mut bench = Bench::with_provider(&provider).with_budget(tokens(2 * most() + 30));
    let mut clients = [bench.connect().await, bench.connect().await, bench.connect().await];
    let [first, second, third] = &mut clients;
    let body = || Bytes::from_static(request().as_bytes());
    let (begin_first, mut at_provider) =
        tokio::join!(first.begin(Method::POST, "/v1/messages", &[], body()), async {
            let mut received = provider.receive().await;
            received.begin_events().await;
            received
        });
    let (begin_second, mut also_at_provider) =
        tokio::join!(second.begin(Method::POST, "/v1/messages", &[], body()), async {
            let mut received = provider.receive().await;
            received.begin_events().await;
            received
        });
    assert_eq!(bench.budget().reserved().tokens, 2 * most());

    let held = third.post("/v1/messages", request()).await;
    assert_eq!(held.status, 429, "{}", held.body);
    assert!(held.body.contains("rate_limit_error") && held.body.contains("calls in flight"), "{}", held.body);
    let ended = bench.ended().await;
    assert_eq!((ended.refusal, ended.settlement), (Some(RefusalKind::BudgetHeld), None));

    // Both end without a word of usage: they are charged by what was sent and seen.
    at_provider.end_events().await;
    also_at_provider.end_events().await;
    assert_eq!(begin_first.whole().await.expect("an answer").status, 200);
    assert_eq!(begin_second.whole().await.expect("an answer").status, 200);
    bench.ended().await;
    bench.ended().await;
    let input = most() - 64;
    let budget = bench.budget().clone();
    assert_eq!((budget.reserved().tokens, budget.spent().tokens), (0, 2 * input));
}

#[tokio::test]
async fn many_calls_at_once_exceed_a_budget_by_at_most_one_answer() {
    let provider = Provider::start().await;
    // Room for three calls that use the most they can, and for the input of a fourth.
    let input = most() - 64;
    let limit = 3 * most() + input;
    let mut bench = Bench::with_provider(&provider).with_budget(tokens(limit));
    let json =
        format!(r#"{{"model":"claude-opus-4-5","usage":{{"input_tokens":{input},"output_tokens":64}}}}"#);
    let serve = async {
        loop {
            let headers = "content-type: application/json\r\nconnection: close\r\n";
            provider.receive().await.answer("200 OK", headers, &json).await;
        }
    };
    let calls = async {
        let mut statuses = Vec::new();
        // Each wave has at least one call that goes out, as long as there is budget for one.
        for _ in 0..5 {
            let mut clients = Vec::new();
            for _ in 0..6 {
                clients.push(bench.connect().await);
            }
            let posts = clients.iter_mut().map(|client| client.post("/v1/messages", request()));
            let answers = futures::future::join_all(posts).await;
            statuses.extend(answers.into_iter().map(|answer| answer.status));
            for _ in 0..6 {
                bench.ended().await;
            }
        }
        statuses
    };
    let statuses = tokio::select! {
        statuses = calls => statuses,
        () = serve => unreachable!("it serves for ever"),
    };
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 4, "{statuses:?}");
    assert!(statuses[24..].iter().all(|status| *status == 402), "{statuses:?}");
    let budget = bench.budget().clone();
    assert_eq!((budget.spent().tokens, budget.reserved()), (limit + 64, Charge::default()));
}

#[tokio::test]
async fn a_spent_budget_is_refused_in_each_formats_own_words() {
    let spent =
        "the budget for model calls is spent: 1.0000 of 1.0000 dollars are used and this call needs about ";
    for (format, path, body, begin, end) in [
        (
            Format::Anthropic,
            "/v1/messages",
            request(),
            r#"{"error":{"message":""#,
            r#""type":"billing_error"},"type":"error"}"#,
        ),
        (
            Format::Gemini,
            "/v1beta/models/gemini-2.5-pro:generateContent",
            "{}",
            r#"{"error":{"code":402,"message":""#,
            r#""status":"FAILED_PRECONDITION"}}"#,
        ),
        (
            Format::OpenAiChat,
            "/v1/chat/completions",
            r#"{"model":"gpt-5"}"#,
            r#"{"error":{"code":"budget_exceeded","message":""#,
            r#""param":null,"type":"insufficient_quota"}}"#,
        ),
        (
            Format::OpenAiResponses,
            "/v1/responses",
            r#"{"model":"gpt-5"}"#,
            r#"{"error":{"code":"budget_exceeded","message":""#,
            r#""param":null,"type":"insufficient_quota"}}"#,
        ),
    ] {
        let provider = Provider::start().await;
        let bench = Bench::new(options_for(format, provider.base_url())).speaking(format);
        let mut bench = bench.with_budget(dollars(1.0, 1.0));
        let answer = bench.connect().await.post(path, body).await;
        assert_eq!(answer.status, 402);
        let hint = r"\nhint: raise the budget or start a new session";
        assert!(answer.body.starts_with(&format!("{begin}{spent}")), "{}", answer.body);
        assert!(answer.body.contains(hint) && answer.body.ends_with(end), "{}", answer.body);
        let ended = bench.ended().await;
        assert_eq!(
            (ended.refusal, ended.called.status, ended.ending, ended.settlement),
            (Some(RefusalKind::BudgetSpent), 402, Ending::Complete, None)
        );
    }
}

#[tokio::test]
async fn a_model_without_a_price_is_refused_under_a_budget_in_dollars() {
    let provider = Provider::start().await;
    let options = Options { prices: PriceTable::empty(), ..options(provider.base_url()) };
    let mut bench = Bench::new(options).with_budget(dollars(1.0, 0.0));
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    assert_eq!(answer.status, 402);
    assert!(answer.body.contains("the price of the model `claude-opus-4-5` is not known"), "{}", answer.body);
    assert!(answer.body.contains("`models.prices`"), "{}", answer.body);
    assert_eq!(bench.ended().await.refusal, Some(RefusalKind::NoPrice));
}

#[tokio::test]
async fn counting_tokens_needs_no_budget() {
    let bench = Bench::with_demo().with_budget(dollars(1.0, 1.0));
    let answer = bench.connect().await.post("/v1/messages/count_tokens", request()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// The settlement of one call of [`request`] under a generous budget, whose sandbox or provider does something odd.
async fn settled(serve: impl AsyncFn(&Provider), streamed: bool) -> Settlement {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider).with_budget(tokens(1_000_000));
    let mut client = bench.connect().await;
    let body = if streamed { request().to_owned() } else { request().replace("true", "false") };
    let call = async { client.begin(Method::POST, "/v1/messages", &[], body.into()).await.whole().await };
    // That it breaks off is seen in the settlement.
    let _ = tokio::join!(call, serve(&provider));
    let ended = bench.ended().await;
    let settlement = ended.settlement.expect("something was set aside");
    assert_eq!(bench.budget().spent(), settlement.used);
    let Usage { cost_usd, total_tokens, .. } = ended.called.usage;
    assert_eq!(
        Charge { cost_usd, tokens: total_tokens },
        settlement.used,
        "the log says what the budget does"
    );
    assert_eq!(bench.budget().reserved(), Charge::default());
    settlement
}

#[tokio::test]
async fn a_call_is_charged_with_what_its_answer_tells() {
    let settlement = settled(
        async |provider: &Provider| {
            provider.receive().await.answer("200 OK", "content-type: application/json\r\n", JSON).await;
        },
        false,
    )
    .await;
    assert_eq!(settlement.used.tokens, USED);
}

#[tokio::test]
async fn an_error_is_not_charged() {
    let settlement = settled(
        async |provider: &Provider| {
            provider.receive().await.answer("529 No", "content-type: application/json\r\n", "{}").await;
        },
        true,
    )
    .await;
    assert_eq!(settlement.used, Charge::default());
    assert_eq!(settlement.reserved.tokens, most());
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_charged_by_what_was_seen_of_it() {
    let piece = [b'x'; 40];
    let settlement = settled(
        async |provider: &Provider| {
            let mut received = provider.receive().await;
            received.begin_events().await;
            received.chunk(&piece).await;
        },
        true,
    )
    .await;
    assert_eq!(settlement.used.tokens, most() - 64 + 10);
}

#[tokio::test]
async fn whoever_leaves_before_an_answer_that_is_not_streamed_pays_for_all_of_it() {
    for (streamed, expected) in [("true", most() - 64), ("false", most())] {
        let provider = Provider::start().await;
        let mut bench = Bench::with_provider(&provider).with_budget(tokens(1_000_000));
        let mut client = bench.connect().await;
        let body = request().replace("true", streamed);
        {
            let call = client.begin(Method::POST, "/v1/messages", &[], body.clone().into());
            tokio::select! {
                _ = call => unreachable!("the provider does not answer"),
                _ = provider.receive() => {}
            }
        }
        drop(client);
        let settlement = bench.ended().await.settlement.expect("something was set aside");
        let longer = (body.len() as u64).div_ceil(3) - (request().len() as u64).div_ceil(3);
        assert_eq!(settlement.used.tokens, expected + longer, "{streamed}");
    }
}

#[tokio::test]
async fn call_that_breaks_off_reports_an_estimate_also_without_a_budget() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let call = async {
        let body = Bytes::from_static(request().as_bytes());
        client.begin(Method::POST, "/v1/messages", &[], body).await.whole().await
    };
    let serve = async {
        let mut received = provider.receive().await;
        received.begin_events().await;
        received.chunk(&[b'x'; 40]).await;
    };
    // That it breaks off is seen in the report.
    let _ = tokio::join!(call, serve);
    let ended = bench.ended().await;
    let usage = &ended.called.usage;
    let estimated = most() - 64 + 10;
    assert_eq!((usage.estimated_tokens, usage.total_tokens, usage.input_tokens), (estimated, estimated, 0));
    assert!(usage.cost_usd > 0.0 && ended.called.cost_usd == usage.cost_usd, "{usage:?}");
    assert_eq!(ended.settlement, None);
}

#[tokio::test]
async fn request_is_sent_only_once_its_start_is_recorded() {
    let provider = Provider::start().await;
    let permits = Arc::new(Semaphore::new(0));
    let mut bench = Bench::with_provider(&provider).recording_with(&permits);
    let mut client = bench.connect().await;
    let call = client.post("/v1/messages", request());
    let serve = async {
        let started = bench.starting().await.started;
        assert!(provider.received_nothing().await, "nothing goes out before");
        permits.add_permits(1);
        provider.receive().await.answer("200 OK", "content-type: application/json\r\n", JSON).await;
        started
    };
    let (answer, started) = tokio::join!(call, serve);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!((started.max_tokens, started.attempt), (most(), 1));
    assert!(started.max_cost_usd > 0.0, "{started:?}");
    let called = bench.ended_with_id().await.called;
    assert_eq!((called.call_id, &called.request_hash), (Some(started.call_id), &started.request_hash));
    assert_eq!((called.usage.total_tokens, called.usage.estimated_tokens), (USED, 0));
}

#[tokio::test]
async fn call_whose_start_cannot_be_recorded_is_refused_and_not_sent() {
    let provider = Provider::start().await;
    let permits = Arc::new(Semaphore::new(0));
    permits.close();
    let bench = Bench::with_provider(&provider).with_budget(tokens(1_000_000));
    let mut bench = bench.recording_with(&permits);
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    assert!(answer.body.contains("its log cannot be written"), "{}", answer.body);
    assert!(provider.received_nothing().await);
    let ended = bench.ended().await;
    assert_eq!((ended.refusal, ended.called.usage.total_tokens), (Some(RefusalKind::NoRun), 0));
    let budget = bench.budget().clone();
    assert_eq!((budget.spent(), budget.reserved()), (Charge::default(), Charge::default()));
}

#[tokio::test]
async fn call_given_up_while_its_start_is_recorded_is_not_sent_and_costs_nothing() {
    let provider = Provider::start().await;
    let permits = Arc::new(Semaphore::new(0));
    let mut bench = Bench::with_provider(&provider).recording_with(&permits);
    let mut client = bench.connect().await;
    let started = {
        let call = client.post("/v1/messages", request());
        tokio::select! {
            _ = call => unreachable!("nothing is recorded"),
            starting = bench.starting() => starting.started,
        }
    };
    drop(client);
    let called = bench.ended_with_id().await.called;
    // It ends the call that may be recorded as started by now.
    assert_eq!((called.call_id, called.status), (Some(started.call_id), 499));
    assert_eq!(called.usage.total_tokens, 0);
    assert!(provider.received_nothing().await);
}
