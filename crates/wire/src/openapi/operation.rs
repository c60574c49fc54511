//! One row of the table as an OpenAPI operation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use warren_domain::ErrorCode;

use crate::routes::Body;
use crate::{Access, Answer, BodyForm, Media, Query, QueryKind, ROUTES, Route, Subject};

pub(super) fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": route.name.as_str(),
        "tags": [tag(route)],
        "summary": route.summary,
        "description": description(route.access),
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Some(body) = &route.body {
        operation["requestBody"] = json!({
            "required": body.required,
            "content": body_content(body),
        });
    }
    match route.access {
        Access::Public => operation["security"] = json!([]),
        Access::AdminReadOrLocal => operation["security"] = json!([{}, {"token": []}]),
        Access::Read | Access::Write | Access::AdminRead | Access::Admin | Access::Operator => {}
    }
    operation
}

fn body_content(body: &Body) -> Value {
    match body.form {
        BodyForm::Json => json!({"application/json": {"schema": reference(body.schema)}}),
        BodyForm::Bytes => {
            json!({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}})
        }
        BodyForm::Multipart => json!({"multipart/form-data": {"schema": {
            "type": "object",
            "properties": {"file": {"type": "array", "items": {"type": "string", "format": "binary"}}},
        }}}),
    }
}

/// Groups of routes, as documentation shows them.
pub(super) fn tags() -> Vec<Value> {
    ROUTES.iter().map(tag).collect::<BTreeSet<_>>().into_iter().map(|tag| json!({"name": tag})).collect()
}

/// The failures any route may answer with, by status.
pub(super) fn shared_responses() -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in ErrorCode::ALL {
        by_status.entry(code.status()).or_default().push(code.as_str());
    }
    by_status.into_iter().map(|(status, codes)| (problem_name(status), problem(&codes))).collect()
}

fn tag(route: &Route) -> &'static str {
    route.name.as_str().split('_').next().unwrap_or("server")
}

fn description(access: Access) -> &'static str {
    match access {
        Access::Public => "Public.",
        Access::Read => "Needs a token that may read.",
        Access::Write => "Needs a token that may write.",
        Access::AdminRead => "Needs an administrator's token, read-only or not.",
        Access::Admin => "Needs an administrator's token.",
        Access::Operator => "Needs an operator's token: an administrator's of the server's own partition.",
        Access::AdminReadOrLocal => {
            "Needs an administrator's token, unless the server listens on loopback only."
        }
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = route
        .path_parameters()
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": path_schema(name)}));
    let in_query = route.query.iter().map(|query| {
        json!({
            "name": query.name, "in": "query", "required": false,
            "description": query.summary, "schema": query_schema(query),
        })
    });
    let resume = (route.name == crate::RouteName::EventRead).then(|| {
        json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "For streams: the last number already seen; takes precedence over `after`",
            "schema": {"type": "integer", "minimum": 0},
        })
    });
    in_path.chain(in_query).chain(resume).collect()
}

fn path_schema(name: &str) -> Value {
    match name {
        "id" | "runId" | "tokenId" | "artifactId" => json!({"type": "string", "format": "uuid"}),
        "hash" => json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        "code" => reference("ErrorCode"),
        _ => json!({"type": "string"}),
    }
}

fn query_schema(query: &Query) -> Value {
    match query.kind {
        QueryKind::Text => json!({"type": "string"}),
        QueryKind::Id => json!({"type": "string", "format": "uuid"}),
        QueryKind::Time => json!({"type": "string", "format": "date-time"}),
        QueryKind::Number(least, u64::MAX) => json!({"type": "integer", "minimum": least}),
        QueryKind::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        QueryKind::OneOf(words) => json!({"type": "string", "enum": words}),
    }
}

fn responses(route: &Route) -> Map<String, Value> {
    let mut responses = Map::new();
    for answer in route.answers {
        let response = responses
            .entry(answer.status.to_string())
            .or_insert_with(|| json!({"description": route.summary}));
        if let Some(media) = answer.media.essence() {
            response["content"][media] = content(answer);
        }
    }
    for status in failures(route) {
        let reference = json!({"$ref": format!("#/components/responses/{}", problem_name(status))});
        responses.insert(status.to_string(), reference);
    }
    responses
}

fn content(answer: &Answer) -> Value {
    match (answer.media, answer.schema) {
        (Media::EventStream, Some(schema)) => json!({
            "schema": {
                "type": "string", "contentMediaType": "text/event-stream",
                "description": format!("Lines of server-sent events; each `data:` is one {schema} as JSON."),
            },
            "x-event-schema": reference(schema),
        }),
        (Media::Json, Some(schema)) => json!({"schema": reference(schema)}),
        (Media::Json, None) => json!({"schema": {"type": "object"}}),
        (Media::Bytes | Media::Archive | Media::File, _) => {
            json!({"schema": {"type": "string", "format": "binary"}})
        }
        _ => json!({"schema": {"type": "string"}}),
    }
}

/// The statuses a route may fail with: its own codes, and those that follow from its shape.
fn failures(route: &Route) -> BTreeSet<u16> {
    let mut codes: Vec<ErrorCode> = route.errors.to_vec();
    codes.extend([ErrorCode::BadRequest, ErrorCode::Misdirected, ErrorCode::Internal]);
    codes.extend([ErrorCode::NotAcceptable]);
    if route.access != Access::Public {
        codes.extend([ErrorCode::Unauthorized, ErrorCode::Forbidden]);
    }
    if matches!(route.subject, Subject::Session | Subject::Approval) {
        codes.extend([ErrorCode::NotFound, ErrorCode::SessionElsewhere]);
    }
    if route.subject == Subject::Project {
        codes.push(ErrorCode::NotFound);
    }
    if route.body.is_some() {
        codes.extend([ErrorCode::TooLarge, ErrorCode::UnsupportedMediaType]);
    }
    codes.into_iter().map(ErrorCode::status).collect()
}

fn problem_name(status: u16) -> String {
    format!("Problem{status}")
}

fn problem(codes: &[&str]) -> Value {
    json!({
        "description": format!("A problem document with one of these codes: {}", codes.join(", ")),
        "content": {"application/problem+json": {"schema": reference("Problem")}},
    })
}

fn reference(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}
