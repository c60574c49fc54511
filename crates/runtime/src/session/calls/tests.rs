use bytes::Bytes;
use tokio::sync::mpsc;
use warren_domain::{BlobHash, ModelCallId, ModelCallStarted, ModelCalled, RunId, Usage};
use warren_models::{
    Budget, BudgetLimits, Caller as _, Charge, Ending, Exchange, NotRecorded, Quote, Settlement, Starting,
    Unaffordable,
};

use super::{Calls, Signal};

fn run(n: u128) -> RunId {
    RunId(uuid::Uuid::from_u128(n))
}

fn tokens(tokens: u64) -> Charge {
    Charge { cost_usd: 0.0, tokens }
}

/// A call that reads 1 token and may write 9.
fn quote() -> Quote {
    Quote { model: "m".to_owned(), input: tokens(1), most: tokens(10), priced: true }
}

fn budget(limit: u64) -> Option<Budget> {
    Some(Budget::new(BudgetLimits { cost_usd: None, tokens: Some(limit) }, Charge::default()))
}

fn ended(run: RunId, settlement: Settlement) -> Exchange {
    let called = ModelCalled {
        call_id: None,
        model: "m".to_owned(),
        request_hash: BlobHash(String::new()),
        status: 200,
        ms: 1,
        attempt: 1,
        usage: Usage::default(),
        cost_usd: 0.0,
        recording: None,
        recording_bytes: None,
    };
    Exchange {
        run,
        called,
        ending: Ending::Complete,
        refusal: None,
        settlement: Some(settlement),
        path: "/v1/messages".to_owned(),
        request: Bytes::new(),
        content_type: None,
        response: Bytes::new(),
        response_omitted: 0,
        conversation: None,
    }
}

#[tokio::test]
async fn late_call_of_an_earlier_run_does_not_release_what_the_next_run_reserved() {
    // Nobody reads the signals; there is room for all.
    let (sender, _signals) = mpsc::channel(8);
    let calls = Calls::new(sender);
    let (first, second) = (run(1), run(2));
    calls.limit_to(first, budget(100));
    let reserved = calls.reserve(first, &quote()).expect("it fits").expect("a budget");

    calls.limit_to(second, budget(14));
    let own = calls.reserve(second, &quote()).expect("it fits").expect("a budget");
    calls.ended(ended(first, Settlement { reserved, used: tokens(3) })).await;
    // 10 are reserved and 3 spent of 14: a second call of 10 does not fit beside the first.
    assert_eq!(calls.reserve(second, &quote()), Err(Unaffordable::Held));

    calls.ended(ended(second, Settlement { reserved: own, used: tokens(4) })).await;
    let left = calls.reserve(second, &quote()).expect("the last call gets what is left");
    assert_eq!(left, Some(tokens(14 - 3 - 4)));
}

#[tokio::test]
async fn call_of_an_ended_run_reserves_nothing_of_the_next_budget() {
    let (sender, _signals) = mpsc::channel(8);
    let calls = Calls::new(sender);
    assert_eq!(calls.reserve(run(1), &quote()), Ok(None));
    calls.limit_to(run(2), budget(100));
    assert_eq!(calls.reserve(run(1), &quote()), Err(Unaffordable::RunEnded));
    assert_eq!(calls.reserve(run(2), &quote()), Ok(Some(tokens(10))));
}

fn starting() -> Starting {
    let started = ModelCallStarted {
        call_id: ModelCallId(uuid::Uuid::from_u128(1)),
        model: "m".to_owned(),
        request_hash: BlobHash(String::new()),
        attempt: 1,
        max_tokens: 10,
        max_cost_usd: 0.0,
    };
    Starting { run: run(1), conversation: None, started }
}

#[tokio::test]
async fn call_goes_out_only_once_the_session_has_recorded_its_start() {
    let (sender, mut signals) = mpsc::channel(8);
    let calls = Calls::new(sender);
    let session = async {
        let Some(Signal::Calling(found, recorded)) = signals.recv().await else { panic!("another signal") };
        assert_eq!(*found, starting());
        recorded.send(()).expect("the call waits");
        // The next one comes when its run is over, and the last one when the session is gone.
        drop(signals.recv().await);
        drop(signals);
    };
    let call = async {
        let (first, second) = (calls.starting(starting()).await, calls.starting(starting()).await);
        [first, second, calls.starting(starting()).await]
    };
    let (outcomes, ()) = tokio::join!(call, session);
    assert_eq!(outcomes, [Ok(()), Err(NotRecorded), Err(NotRecorded)]);
}
