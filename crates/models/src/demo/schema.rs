//! Values that fit a JSON schema, for agents that want an answer as JSON.

use serde_json::Value;

/// A small value of the schema: the first of its choices, the least of its numbers, and `text` where a text is wanted.
pub(super) fn sample(schema: &Value, text: &str) -> Value {
    let choices = schema["enum"].as_array().or(schema["anyOf"].as_array()).or(schema["oneOf"].as_array());
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(first) = choices.and_then(|choices| choices.first()) {
        return if schema["enum"].is_array() { first.clone() } else { sample(first, text) };
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("object").to_lowercase();
    match kind.as_str() {
        "string" => text.into(),
        "boolean" => false.into(),
        "array" => Value::Array(Vec::new()),
        // Whole numbers are scores from one on; others are shares, of which nothing is the harmless one.
        "integer" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        "number" => schema.get("minimum").cloned().unwrap_or_else(|| 0.into()),
        "null" => Value::Null,
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let mut fields: Vec<(String, Value)> =
                properties.map(|(name, schema)| (name.clone(), sample(schema, text))).collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            fields.into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sample;

    #[test]
    fn a_sample_fits_its_schema() {
        let schema = json!({
            "type": "OBJECT",
            "properties": {
                "reasoning": { "type": "STRING" },
                "next_speaker": { "type": "string", "enum": ["user", "model"] },
                "confidence": { "type": "number", "minimum": 1 },
                "notes": { "type": ["array", "null"] },
                "sure": { "type": "boolean" },
            },
        });
        let expected =
            json!({ "confidence": 1, "next_speaker": "user", "notes": [], "reasoning": "hi", "sure": false });
        assert_eq!(sample(&schema, "hi"), expected);
    }
}
