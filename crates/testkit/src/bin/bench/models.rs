//! The model gateway, beside the same provider called directly: what it adds until the first byte of an answer.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use reqwest::Client;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use warren_domain::RunId;
use warren_env::{Env, TaskKind, Tasks};
use warren_models::{
    Budget, BudgetLimits, Caller, Charge, Exchange, Format, Gateway, Options, Quote, Secret, Unaffordable,
    UpstreamOptions,
};

use super::{stats::Times, table::Table};

const CALLS: usize = 1_000;
/// As long as what agents send at their start.
const REQUEST_BYTES: usize = 40_000;
const PROMISE: &str = "≤ 1 ms more than directly";

/// Takes the figures: first bytes of streamed answers, direct and through the gateway by turns.
pub(crate) async fn measure(table: &mut Table) {
    // The process may have it already, from another measurement.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let tasks = Tasks::new();
    for (format, path) in [
        (Format::Anthropic, "/v1/messages"),
        (Format::Gemini, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
        (Format::OpenAiChat, "/v1/chat/completions"),
        (Format::OpenAiResponses, "/v1/responses"),
    ] {
        let provider = provider(&tasks).await;
        let gateway = gateway(format, &provider, &tasks).await;
        let client = Client::builder().no_proxy().build().unwrap();
        let body = request();
        let (mut direct, mut through) = (Vec::new(), Vec::new());
        for n in 0..CALLS + CALLS / 10 {
            let times = [
                first_byte(&client, &format!("{provider}{path}"), &body).await,
                first_byte(&client, &format!("{gateway}{path}"), &body).await,
            ];
            // The first ones open connections and warm everything up.
            if n >= CALLS / 10 {
                direct.push(times[0]);
                through.push(times[1]);
            }
        }
        let (direct, through) = (Times::of(direct), Times::of(through));
        for percent in [50, 99] {
            let what = format!("first byte through the model gateway, {}", format.as_str());
            table.compare(&what, percent, &through, &direct, if percent == 50 { PROMISE } else { "" });
        }
    }
    tasks.cancel();
    assert!(tasks.wait(Duration::from_secs(10)).await, "the servers end");
}

async fn first_byte(client: &Client, url: &str, body: &str) -> Duration {
    let begin = Instant::now();
    let request = client.post(url).header("content-type", "application/json").body(body.to_owned());
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.chunk().await.unwrap().unwrap();
    let elapsed = begin.elapsed();
    while answer.chunk().await.unwrap().is_some() {}
    elapsed
}

/// A request that every format takes.
fn request() -> String {
    let text = "some words of a prompt ".repeat(REQUEST_BYTES / 23);
    format!(
        r#"{{"model":"gpt-5","stream":true,"max_tokens":64,"messages":[{{"role":"user","content":"{text}"}}]}}"#
    )
}

/// A provider that answers every request at once with a short stream.
async fn provider(tasks: &Tasks) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let inner = tasks.clone();
    tasks.spawn(TaskKind::Housekeeping, async move {
        while let Ok((stream, _)) = listener.accept().await {
            inner.spawn(TaskKind::Connection, answer(stream));
        }
    });
    address
}

async fn answer(mut stream: TcpStream) {
    const EVENT: &str = "data: {\"usage\":null}\n\n";
    stream.set_nodelay(true).unwrap();
    let mut bytes = Vec::with_capacity(2 * REQUEST_BYTES);
    while stream.read_buf(&mut bytes).await.is_ok_and(|n| n > 0) {
        let Some(head) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if bytes.len() - head - 4 < length.parse::<usize>().unwrap() {
            continue;
        }
        bytes.clear();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
             {:x}\r\n{EVENT}\r\n0\r\n\r\n",
            EVENT.len()
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// The gateway on a listener, as a sandbox's loopback has it, with a budget to reckon with.
async fn gateway(format: Format, provider: &str, tasks: &Tasks) -> String {
    let http = || UpstreamOptions::Http { base_url: provider.to_owned(), api_key: Some(Secret::new("k")) };
    let options = Options {
        anthropic: http(),
        gemini: http(),
        openai_chat: http(),
        openai_responses: http(),
        ..Options::default()
    };
    let env = Env::system();
    let run = env.run_id();
    let gateway = Gateway::new(options, env).unwrap();
    let limits = BudgetLimits { cost_usd: Some(1e9), tokens: None };
    let caller = Arc::new(Payer { run, budget: Mutex::new(Budget::new(limits, Charge::default())) });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let inner = tasks.clone();
    tasks.spawn(TaskKind::Housekeeping, async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let (gateway, caller) = (gateway.clone(), caller.clone());
            inner.spawn(TaskKind::Connection, async move { gateway.serve(format, stream, caller).await });
        }
    });
    address
}

struct Payer {
    run: RunId,
    budget: Mutex<Budget>,
}

#[async_trait]
impl Caller for Payer {
    fn admit(&self) -> Option<RunId> {
        Some(self.run)
    }

    fn reserve(&self, _: RunId, quote: &Quote) -> Result<Option<Charge>, Unaffordable> {
        self.budget.lock().unwrap().reserve(quote).map(Some)
    }

    async fn ended(&self, exchange: Exchange) {
        self.budget.lock().unwrap().settle(&exchange.settlement.unwrap());
    }
}
