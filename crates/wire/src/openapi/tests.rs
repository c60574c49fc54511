use std::collections::BTreeSet;

use serde_json::{Value, json};
use warren_domain::{Block, EventBody};

use super::openapi;
use crate::ROUTES;

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get("$ref") {
                found.insert(target.clone());
            }
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    let document = openapi("1.2.3");
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.contains("#/components/schemas/Event"), "the walk finds references");
    for target in found {
        let pointer = target.strip_prefix('#').expect("references stay inside the document");
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
}

#[test]
fn every_schema_is_used_by_some_route() {
    let document = openapi("1.2.3");
    let mut reached = BTreeSet::new();
    references(&document["paths"], &mut reached);
    references(&document["components"]["responses"], &mut reached);
    loop {
        let before = reached.len();
        for target in reached.clone() {
            let pointer = target.strip_prefix('#').expect("references stay inside the document");
            references(document.pointer(pointer).expect("it leads somewhere"), &mut reached);
        }
        if reached.len() == before {
            break;
        }
    }
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let unused: Vec<_> =
        schemas.keys().filter(|name| !reached.contains(&format!("#/components/schemas/{name}"))).collect();
    assert_eq!(unused, Vec::<&String>::new());
}

#[test]
fn every_row_is_an_operation_with_its_parameters_and_its_failures() {
    let document = openapi("1.2.3");
    for route in ROUTES {
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        assert_eq!(operation["operationId"], route.name.as_str());
        let parameters: Vec<_> =
            operation["parameters"].as_array().expect("a list").iter().map(|p| &p["name"]).collect();
        for name in route.path_parameters().chain(route.query.iter().map(|query| query.name)) {
            assert!(parameters.contains(&&Value::from(name)), "{} {name}", route.name);
        }
        let responses = operation["responses"].as_object().expect("responses");
        assert!(responses.contains_key("500"), "{}", route.name);
        for code in route.errors {
            assert!(responses.contains_key(&code.status().to_string()), "{} {code}", route.name);
        }
    }
}

#[test]
fn an_event_stream_is_told_apart_from_json() {
    let document = openapi("1.2.3");
    let content = &document["paths"]["/api/sessions/{id}/events"]["get"]["responses"]["200"]["content"];
    let media: Vec<_> = content.as_object().expect("content").keys().collect();
    assert_eq!(media, ["application/json", "text/event-stream"]);
}

#[test]
fn requests_refuse_unknown_fields_in_the_document_too() {
    let document = openapi("1.2.3");
    let bodies = ROUTES.iter().filter_map(|route| route.body);
    for route in bodies.filter(|body| body.form == crate::BodyForm::Json) {
        let schema = &document["components"]["schemas"][route.schema];
        assert_eq!(schema["additionalProperties"], false, "{}", route.schema);
    }
}

#[test]
fn the_document_names_the_fields_of_events_and_blocks_as_they_are_sent() {
    let document = openapi("1.2.3");
    let schemas = &document["components"]["schemas"];
    for sent in [
        json!({"type":"session_created","agentType":"builtin","profile":"default","forkedFrom":null}),
        json!({"type":"run_started","input":"x","baseVersion":1}),
        json!({"type":"text_delta","blockId":"b","delta":"x"}),
        json!({"type":"metadata_update","usage":{},"costUSD":0.5,"contextTokens":3}),
        json!({"type":"file_changed","path":"a","change":"created","sizeBytes":1}),
    ] {
        serde_json::from_value::<EventBody>(sent.clone()).expect("it is an event");
        assert_eq!(unknown_fields(&schemas["EventBody"], &sent), Vec::<&String>::new());
    }
    let block = json!({"type":"tool_result","id":"r","timestamp":"2026-01-01T00:00:00.000Z","toolUseId":"u","output":"","isError":false,"durationMs":1,"renderOutputAsMarkdown":true});
    serde_json::from_value::<Block>(block.clone()).expect("it is a block");
    assert_eq!(unknown_fields(&schemas["Block"], &block), Vec::<&String>::new());
    assert_eq!(schemas["ErrorCode"]["enum"][0], "BAD_REQUEST");
}

/// Fields of `sent` that the schema's variant of its type does not know.
fn unknown_fields<'a>(schema: &Value, sent: &'a Value) -> Vec<&'a String> {
    let variants = schema["oneOf"].as_array().expect("variants");
    let known = |variant: &Value, key: &String| {
        let inside = variant["allOf"].as_array().map_or(std::slice::from_ref(variant), Vec::as_slice);
        inside.iter().any(|part| part["properties"].get(key).is_some())
    };
    let is_it = |variant: &&Value| variant.to_string().contains(&format!("[{}]", sent["type"]));
    let variant = variants.iter().find(is_it).expect("the variant is in the document");
    sent.as_object().expect("an object").keys().filter(|key| !known(variant, key)).collect()
}
