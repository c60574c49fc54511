//! The list of artifacts in `outputs/manifest.json`, where nobody has said anything there.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Artifact, ArtifactKind};

/// Where artifacts are, as a manifest sees it.
const OUTPUTS: &str = "outputs/";

/// Hash of the list, written by the server. A list that does not match it was edited, and is left alone.
const GENERATED: &str = "generated";

const ARTIFACTS: &str = "artifacts";

#[derive(Serialize)]
struct Entry<'a> {
    #[serde(rename = "type")]
    kind: ArtifactKind,
    name: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
}

/// Whether a text is a manifest that nobody but the server wrote: a list as the server wrote it, or an empty one.
#[must_use]
pub fn is_generated_manifest(text: &[u8]) -> bool {
    let Ok(Value::Object(manifest)) = serde_json::from_slice::<Value>(text) else { return false };
    let Some(list) = manifest.get(ARTIFACTS).filter(|list| list.is_array()) else { return false };
    let is_known = |key: &String| key == ARTIFACTS || key == GENERATED;
    let is_as_written = match manifest.get(GENERATED) {
        Some(hash) => *hash == hash_of(list),
        None => *list == json!([]),
    };
    is_as_written && manifest.keys().all(is_known)
}

/// The manifest that has these artifacts, unless `text`, one of the server's own, has them already. What is not in `outputs/`, such
/// as an app of which only the port is known, is left out.
#[must_use]
pub fn manifest_of<'a>(artifacts: impl Iterator<Item = &'a Artifact>, text: &[u8]) -> Option<Vec<u8>> {
    let entry = |artifact: &'a Artifact| {
        let path = artifact.path.strip_prefix(OUTPUTS)?;
        let command = artifact.command.as_deref();
        Some(Entry { kind: artifact.kind, name: &artifact.name, path, command })
    };
    let mut entries: Vec<_> = artifacts.filter_map(entry).collect();
    entries.sort_by_key(|entry| entry.path);
    let list = serde_json::to_value(entries).unwrap_or_default();
    let before: Option<Map<String, Value>> = serde_json::from_slice(text).ok();
    if before.is_some_and(|before| before.get(ARTIFACTS) == Some(&list)) {
        return None;
    }
    let hash = hash_of(&list);
    let mut bytes = serde_json::to_vec_pretty(&json!({ ARTIFACTS: list, GENERATED: hash })).ok()?;
    bytes.push(b'\n');
    Some(bytes)
}

fn hash_of(list: &Value) -> String {
    blake3::hash(list.to_string().as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_generated_manifest, manifest_of};
    use crate::{Artifact, Manifest, OutputFile, Outputs, SessionId, find};

    fn artifacts(paths: &[&str]) -> Vec<Artifact> {
        let file = OutputFile { size_bytes: 1, hash: None };
        let files = paths.iter().map(|path| ((*path).to_owned(), file.clone())).collect();
        find(SessionId(uuid::Uuid::nil()), &Outputs { files, ..Outputs::default() })
    }

    #[test]
    fn a_list_is_written_when_it_changed_and_is_never_taken_for_an_agents_words() {
        let found = artifacts(&["outputs/b.md", "outputs/a.pptx", "outputs/data.bin"]);
        let empty = br#"{"artifacts": []}"#;
        let text = manifest_of(found.iter(), empty).expect("it changed");
        let told: Value = serde_json::from_slice(&text).expect("JSON");
        let list = json!([
            {"type": "pptx", "name": "a.pptx", "path": "a.pptx"},
            {"type": "markdown", "name": "b.md", "path": "b.md"},
        ]);
        assert_eq!(told["artifacts"], list);
        assert!(is_generated_manifest(&text));
        assert_eq!(manifest_of(found.iter(), &text), None, "it is so already");
        assert_eq!(Manifest::parse(&text).expect("a manifest"), Manifest::default());
        let none = manifest_of([].iter(), &text).expect("it changed");
        assert!(is_generated_manifest(&none));
        assert_eq!(manifest_of([].iter(), empty), None);
    }

    #[test]
    fn what_somebody_wrote_is_theirs() {
        let found = artifacts(&["outputs/a.md"]);
        let text = manifest_of(found.iter(), b"{}").expect("it changed");
        let ours: Value = serde_json::from_slice(&text).expect("JSON");
        let mut renamed = ours.clone();
        renamed["artifacts"][0]["name"] = "Report".into();
        let mut more = ours;
        more["note"] = "mine".into();
        let others =
            [renamed, more, json!({}), json!([]), json!({"artifacts": {}}), json!({"artifacts": [1]})];
        for manifest in others {
            assert!(!is_generated_manifest(manifest.to_string().as_bytes()), "{manifest}");
        }
        assert!(!is_generated_manifest(b"{"));
        assert!(is_generated_manifest(br#"{"artifacts":[]}"#), "an empty list says nothing");
    }
}
