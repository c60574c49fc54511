//! The server itself: is it well, what can it give, what was spent.

use axum::http::StatusCode;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use warren_domain::{ErrorCode, Timestamp, Usage};
use warren_runtime::api::{SessionQuery, UsageGroup, UsageQuery};
use warren_wire::{Doctor, Health, Ready, UsageReport};

use super::sessions::project;
use crate::{
    choke::Call,
    convert,
    deps::Shared,
    error_pages,
    failure::Failure,
    respond::{self, Answer},
};

/// Anyone may ask whether the server is ready, and finding out starts a sandbox: so it is found out this seldom.
const READY_FOR_MILLIS: i64 = 30_000;
/// How long a failed readiness check is cached: an operator is waiting to see it succeed.
const UNREADY_FOR_MILLIS: i64 = 3_000;

/// Cached result of the last check of the sandbox backend, and when it expires.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<(bool, Timestamp)>>);

pub(crate) async fn health(_: Call) -> Answer {
    respond::ok(&Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}

pub(crate) async fn ready(call: Call) -> Answer {
    let unready = |what: &str| Failure::new(ErrorCode::Unavailable, what);
    if call.cancel().is_cancelled() {
        return Err(unready("the server is shutting down"));
    }
    let one = SessionQuery { limit: 1, ..SessionQuery::default() };
    if let Err(error) = call.runtime().sessions().session_list(one, None).await {
        tracing::error!(error = &error as &dyn std::error::Error, "not ready: the store does not answer");
        return Err(unready("the store does not answer"));
    }
    if !call.app().readiness.backend_is_usable(call.app()).await {
        return Err(unready("no sandbox can be started").hint("ask `/api/doctor`, or run `warren doctor`"));
    }
    respond::ok(&Ready { status: "ready".to_owned() })
}

pub(crate) async fn metrics(call: Call) -> Answer {
    let text = (call.app().deps.metrics)();
    Ok(respond::bytes_of(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", Bytes::from(text)))
}

pub(crate) async fn openapi(call: Call) -> Answer {
    Ok(respond::raw_json(call.app().openapi()))
}

pub(crate) async fn error_page(call: Call) -> Answer {
    let text = call.parameter("code");
    let code = ErrorCode::ALL.iter().find(|code| code.as_str() == text);
    let code = code.ok_or_else(|| Failure::not_found("error code", text.escape_debug()))?;
    let page = Bytes::from_static(error_pages::page(*code).as_bytes());
    Ok(respond::bytes_of(StatusCode::OK, "text/markdown; charset=utf-8", page))
}

pub(crate) async fn doctor(call: Call) -> Answer {
    match call.runtime().sandboxes().probe().await {
        Value::Object(mut found) => {
            let mut warnings = match found.remove("warnings") {
                Some(Value::Array(warnings)) => warnings,
                _ => Vec::new(),
            };
            warnings.extend(call.app().deps.options.advice.iter().map(|advice| json!(advice)));
            found.insert("warnings".to_owned(), Value::Array(warnings));
            respond::ok(&Doctor(found))
        }
        other => respond::ok(&other),
    }
}

pub(crate) async fn usage(call: Call) -> Answer {
    let query = UsageQuery {
        partition: Some(call.identity()?.partition.clone()),
        project: project(&call).await?,
        from: call.query().time("from"),
        to: call.query().time("to"),
        group_by: match call.query().text("groupBy") {
            Some("model") => UsageGroup::Model,
            Some("session") => UsageGroup::Session,
            Some("agent") => UsageGroup::Agent,
            Some("project") => UsageGroup::Project,
            _ => UsageGroup::Day,
        },
    };
    let rows = call.runtime().runs().usage(query).await?;
    let mut total = Usage::default();
    rows.iter().for_each(|row| total.add(&row.usage));
    respond::ok(&UsageReport { rows: rows.into_iter().map(convert::usage).collect(), total })
}

impl Readiness {
    /// Whether a sandbox can be started. Many may ask at once; one finds out, the others wait for it.
    async fn backend_is_usable(&self, app: &Shared) -> bool {
        let mut known = self.0.lock().await;
        let now = app.deps.env.now();
        if let Some((usable, _)) = known.filter(|(_, until)| now < *until) {
            return usable;
        }
        let found = app.runtime().sandboxes().probe().await;
        let usable = found.pointer("/isolation/usable").and_then(Value::as_bool).unwrap_or(false);
        let believed = if usable { READY_FOR_MILLIS } else { UNREADY_FOR_MILLIS };
        *known = Some((usable, app.deps.env.now().plus_millis(believed)));
        usable
    }
}
