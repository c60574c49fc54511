//! JSON-RPC on lines: which message is what, and which answer belongs to which request.
//!
//! Pure: whoever uses it feeds lines and sends what it makes. Lines may also be those of a recording,
//! `{"dir": "client->agent" | "agent->client" | …, "t": …, "msg": …}`, which holds both directions.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::Output;

/// Who said a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The agent: what its process prints, or what was recorded of it.
    Agent,
    /// Its client, in a recording.
    Client,
    /// Neither: an error stream, or a note of whoever recorded.
    Other,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// Something is asked, and answered under `id`.
    Request { id: Value, method: String, params: Value },
    /// Something is told.
    Notification { method: String, params: Value },
    /// An answer.
    Response { id: Value, result: Result<Value, Failure> },
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: i64,
    pub(crate) message: String,
}

/// A line's value, and who said it. `None`: the line is not JSON, or nests deeper than anyone writes.
pub(crate) fn line(bytes: &[u8]) -> Option<(Speaker, Value)> {
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    let speaker = match value.get("dir").and_then(Value::as_str) {
        None => return Some((Speaker::Agent, value)),
        Some(dir) if dir.starts_with("agent") => Speaker::Agent,
        Some(dir) if dir.starts_with("client") => Speaker::Client,
        Some(_) => Speaker::Other,
    };
    Some((speaker, value.get_mut("msg").map(Value::take).unwrap_or_default()))
}

impl Message {
    /// Reads a message. `None`: it is something else.
    pub(crate) fn read(mut value: Value) -> Option<Self> {
        let mut take = |key: &str| value.get_mut(key).map(Value::take);
        let (id, method) = (take("id"), take("method"));
        match (id, method) {
            (Some(id), Some(Value::String(method))) => {
                Some(Message::Request { id, method, params: take("params").unwrap_or_default() })
            }
            (None, Some(Value::String(method))) => {
                Some(Message::Notification { method, params: take("params").unwrap_or_default() })
            }
            (Some(id), _) => {
                let result = match (take("error"), take("result")) {
                    (Some(error), _) if !error.is_null() => Err(Failure::read(&error)),
                    (_, Some(result)) => Ok(result),
                    _ => return None,
                };
                Some(Message::Response { id, result })
            }
            (None, _) => None,
        }
    }
}

impl Failure {
    fn read(error: &Value) -> Self {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
        let detail = error.pointer("/data/details").or_else(|| error.pointer("/data/message"));
        let message = match detail.and_then(Value::as_str) {
            Some(detail) if !message.contains(detail) => format!("{message}: {detail}"),
            _ => message.to_owned(),
        };
        Self { code: error.get("code").and_then(Value::as_i64).unwrap_or_default(), message }
    }
}

/// Requests that wait for their answers. `K` says what each was for.
#[derive(Debug)]
pub(crate) struct Requests<K> {
    next: u64,
    waiting: HashMap<u64, K>,
}

impl<K> Default for Requests<K> {
    fn default() -> Self {
        Self { next: 1, waiting: HashMap::new() }
    }
}

impl<K> Requests<K> {
    /// A request as bytes for the agent.
    pub(crate) fn request(&mut self, purpose: K, method: &str, params: &Value) -> Output {
        let id = self.next;
        self.next += 1;
        self.waiting.insert(id, purpose);
        sent(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    /// What the request with this id was for, the first time it is answered.
    pub(crate) fn answered(&mut self, id: &Value) -> Option<K> {
        self.waiting.remove(&id.as_u64()?)
    }

    /// Notes a request that somebody else made, so that its answer is known.
    pub(crate) fn overheard(&mut self, id: &Value, purpose: K) {
        if let Some(id) = id.as_u64() {
            self.waiting.insert(id, purpose);
        }
    }
}

/// Something the agent is told.
pub(crate) fn notification(method: &str, params: &Value) -> Output {
    sent(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// An answer to what the agent asked.
pub(crate) fn response(id: &Value, result: &Value) -> Output {
    sent(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// The answer to what we have no answer for.
pub(crate) fn refusal(id: &Value, method: &str) -> Output {
    let error = json!({"code": -32601, "message": format!("method not found: {method}")});
    sent(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// A request's id as text, for those who only compare it.
pub(crate) fn key(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn sent(message: &Value) -> Output {
    Output::Send(format!("{message}\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Failure, Message, Requests, Speaker, line};
    use crate::Output;

    #[test]
    fn a_message_is_a_request_a_notification_or_a_response() {
        let read = |value: Value| Message::read(value);
        let (params, method) = (json!({"a": 1}), "m".to_owned());
        assert_eq!(
            read(json!({"id": "x", "method": "m", "params": {"a": 1}})),
            Some(Message::Request { id: json!("x"), method: method.clone(), params: params.clone() })
        );
        assert_eq!(
            read(json!({"method": "m", "params": {"a": 1}})),
            Some(Message::Notification { method, params })
        );
        assert_eq!(
            read(json!({"id": 0, "result": null})),
            Some(Message::Response { id: json!(0), result: Ok(Value::Null) })
        );
        let failure = Failure { code: 3, message: "no: why".to_owned() };
        let error = json!({"id": 0, "error": {"code": 3, "message": "no", "data": {"details": "why"}}});
        assert_eq!(read(error), Some(Message::Response { id: json!(0), result: Err(failure) }));
        assert_eq!([read(json!({"id": 1})), read(json!([])), read(json!("x"))], [None, None, None]);
    }

    #[test]
    fn a_recorded_line_says_who_spoke() {
        let read = |text: &str| line(text.as_bytes());
        assert_eq!(read(r#"{"id":1}"#), Some((Speaker::Agent, json!({"id": 1}))));
        assert_eq!(read(r#"{"dir":"client->agent","msg":1}"#), Some((Speaker::Client, json!(1))));
        assert_eq!(read(r#"{"dir":"stderr","msg":"x"}"#), Some((Speaker::Other, json!("x"))));
        assert_eq!(read("{"), None);
    }

    #[test]
    fn an_answer_finds_its_request_once() {
        let mut requests = Requests::default();
        let expected = "{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{}}\n";
        assert_eq!(requests.request("why", "m", &json!({})), Output::Send(expected.as_bytes().to_vec()));
        assert_eq!([requests.answered(&json!(1)), requests.answered(&json!(1))], [Some("why"), None]);
        assert_eq!(requests.answered(&json!("1")), None);
    }
}
