//! Takes out of a recording what nobody needs to see: keys, names of the machine, and the long prompts of agents' makers.

use serde_json::Value;

/// A text that is longer is a prompt of the agent's maker, or a list of tools. What people and models say here is shorter.
const MAX_TEXT: usize = 4_000;

/// How much of such a text stays, so that it can be told what it was.
const SHOWN: usize = 80;

/// Fields that hold what agents are told before anybody says anything.
const PROMPTS: &[&str] =
    &["system", "systemPrompt", "base_instructions", "baseInstructions", "instructions", "tools"];

/// The same for JSON, a line or as a whole, and for text of any other form.
pub(super) fn redacted(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(mut whole) = serde_json::from_str::<Value>(&text)
        && whole.is_object()
        && text.trim().contains('\n')
    {
        clean(&mut whole);
        return format!("{whole:#}\n").into_bytes();
    }
    let lines = text.split('\n').map(line).collect::<Vec<_>>();
    lines.join("\n").into_bytes()
}

fn line(line: &str) -> String {
    let (prefix, json) = match line.strip_prefix("data: ") {
        Some(json) => ("data: ", json),
        None => ("", line),
    };
    match serde_json::from_str::<Value>(json) {
        Ok(mut value) => {
            clean(&mut value);
            format!("{prefix}{value}")
        }
        Err(_) => line.to_owned(),
    }
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => {
            if text.len() > MAX_TEXT {
                *text = shortened(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                match name.as_str() {
                    "hostname" | "machineId" | "deviceId" | "installationId" => *field = "removed".into(),
                    prompt if PROMPTS.contains(&prompt) && field.to_string().len() > SHOWN => {
                        *field = shortened(&field.to_string()).into();
                    }
                    _ => clean(field),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    format!("{shown} [{} more bytes were removed]", text.len() - shown.len())
}

#[cfg(test)]
mod tests {
    use super::{MAX_TEXT, redacted};

    fn text(input: &str) -> String {
        String::from_utf8(redacted(input.as_bytes())).unwrap()
    }

    #[test]
    fn prompts_and_names_of_the_machine_go_and_the_rest_stays_as_it_is() {
        let long = "x".repeat(MAX_TEXT + 1);
        let lines = format!(
            "{{\"system\":\"{long}\",\"a\":1}}\nnot JSON\ndata: {{\"b\":\"{long}\"}}\n{{\"hostname\":\"h\"}}\n"
        );
        let clean = text(&lines);
        assert!(clean.len() < 500, "{clean}");
        assert!(clean.contains("\"a\":1") && clean.contains("\nnot JSON\ndata: {\"b\":\"xxx"), "{clean}");
        assert!(clean.ends_with("{\"hostname\":\"removed\"}\n"), "{clean}");
    }

    #[test]
    fn a_document_stays_one() {
        let clean = text("{\n \"messages\": [1],\n \"tools\": \"short\"\n}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&clean).unwrap()["tools"], "short");
    }
}
