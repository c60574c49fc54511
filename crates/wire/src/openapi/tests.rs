use std::collections::BTreeSet;

use serde_json::Value;

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
    for route in ROUTES.iter().filter_map(|route| route.body) {
        let schema = &document["components"]["schemas"][route.schema];
        assert_eq!(schema["additionalProperties"], false, "{}", route.schema);
    }
}
