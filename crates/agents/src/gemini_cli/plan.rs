//! Where Gemini keeps its chats.

use warren_domain::SessionId;

use super::chat::Chat;
use crate::{Growth, TranscriptFile, TranscriptName, TranscriptPlan};

/// Beneath the home. Below it, a directory for each project, named after the project's own.
pub(super) const ROOT: &str = ".gemini/tmp";

/// The directory of the project that every sandbox works in.
const PROJECT: &str = "workspace";

/// The chats of one session.
pub(super) struct ChatPlan {
    pub(super) session: SessionId,
}

/// Which chat a file beneath the root holds: `PROJECT/chats/session-TIME-ID.jsonl`, or `PROJECT/chats/PARENT/ID.jsonl`
/// for a subagent's. Older versions wrote `.json`.
pub(super) fn chat_of(path: &str) -> Option<TranscriptName> {
    let (_, path) = path.split_once("/chats/")?;
    let stem = path.strip_suffix(".jsonl").or_else(|| path.strip_suffix(".json"))?;
    match stem.split_once('/') {
        None => stem.starts_with("session-").then_some(TranscriptName::Main),
        Some((_, id)) if !id.is_empty() && !id.contains('/') => Some(TranscriptName::Subagent(id.to_owned())),
        Some(_) => None,
    }
}

impl TranscriptPlan for ChatPlan {
    fn root(&self) -> String {
        ROOT.to_owned()
    }

    /// Resuming leaves a short file with the session's name beside the long one; the longer counts.
    fn file(&self, path: &str) -> Option<TranscriptFile> {
        let growth = if path.ends_with(".jsonl") { Growth::Appended } else { Growth::Rewritten };
        chat_of(path).map(|name| TranscriptFile { name, growth })
    }

    fn path(&self, name: &TranscriptName, content: &[u8]) -> Option<String> {
        match name {
            TranscriptName::Main => Some(format!("{PROJECT}/chats/{}", main_name(content))),
            TranscriptName::Subagent(id) if !id.contains('/') => {
                Some(format!("{PROJECT}/chats/{}/{id}.jsonl", self.session))
            }
            TranscriptName::Subagent(_) | TranscriptName::Other(_) => None,
        }
    }

    fn is_resumable(&self, main: &[u8]) -> bool {
        let mut chat = Chat::new();
        super::parse::read_into(&mut chat, main, &mut crate::transcripts::Unread::default());
        chat.is_resumable()
    }
}

/// The file's name as Gemini would have made it. Another minute would do: it looks into the files.
fn main_name(content: &[u8]) -> String {
    let text = head(content);
    let field = |name: &str| field(&text, name);
    let safe = |text: &str, n: usize| -> String {
        let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        text.chars().take(n).map(keep).collect()
    };
    let minute = safe(field("startTime").unwrap_or("1970-01-01T00-00"), 16);
    let id = safe(field("sessionId").unwrap_or("00000000"), 8);
    let suffix = if super::parse::is_document(content) { "json" } else { "jsonl" };
    format!("session-{minute}-{id}.{suffix}")
}

/// The session's own name, if it can stand in a path: its subagents' chats lie in a directory of that name.
pub(super) fn session_of(content: &[u8]) -> Option<String> {
    let text = head(content);
    let id = field(&text, "sessionId")?;
    let is_plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_plain.then(|| id.to_owned())
}

/// As much of a chat as surely holds its header.
fn head(content: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&content[..content.len().min(4096)])
}

/// The first text of this name.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("\"{name}\""))?;
    rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use warren_domain::SessionId;

    use super::{ChatPlan, chat_of};
    use crate::{TranscriptName, TranscriptPlan};

    #[test]
    fn a_chat_is_known_by_its_path() {
        let cases = [
            ("workspace/chats/session-2026-11-15T19-14-36837be8.jsonl", Some(TranscriptName::Main)),
            ("0123abcd/chats/session-2025-01-01T00-00-36837be8.json", Some(TranscriptName::Main)),
            ("workspace/chats/p-1/a-2.jsonl", Some(TranscriptName::Subagent("a-2".to_owned()))),
            ("workspace/chats/other.jsonl", None),
            ("workspace/chats/session-1.jsonl.tmp-12", None),
            ("workspace/chats/a/b/c.jsonl", None),
            ("workspace/logs.json", None),
        ];
        for (path, name) in cases {
            assert_eq!(chat_of(path), name, "{path}");
        }
    }

    #[test]
    fn a_saved_chat_goes_where_gemini_looks_for_it() {
        let plan = ChatPlan { session: SessionId(uuid::Uuid::nil()) };
        let line =
            br#"{"sessionId":"ab/../cdefgh","projectHash":"x","startTime":"2026-11-15T19:14:20.174Z"}"#;
        assert_eq!(
            plan.path(&TranscriptName::Main, line).as_deref(),
            Some("workspace/chats/session-2026-11-15T19-14-ab----cd.jsonl")
        );
        let document = b"{\n  \"sessionId\": \"abcdefgh-1\",\n  \"messages\": []\n}";
        assert_eq!(
            plan.path(&TranscriptName::Main, document).as_deref(),
            Some("workspace/chats/session-1970-01-01T00-00-abcdefgh.json")
        );
        let path = plan.path(&TranscriptName::Subagent("a-1".to_owned()), b"").expect("a path");
        assert_eq!(plan.file(&path).map(|file| file.name), Some(TranscriptName::Subagent("a-1".to_owned())));
        assert_eq!(plan.path(&TranscriptName::Subagent("../x".to_owned()), b""), None);
    }

    #[test]
    fn only_a_chat_with_something_in_it_can_go_on() {
        let plan = ChatPlan { session: SessionId(uuid::Uuid::nil()) };
        let header = "{\"sessionId\":\"a\",\"projectHash\":\"b\"}\n";
        let prompt = "{\"id\":\"1\",\"type\":\"user\",\"content\":[{\"text\":\"hi\"}]}\n";
        let taken_back = "{\"$set\":{\"messages\":[]}}\n";
        assert!(!plan.is_resumable(header.as_bytes()));
        assert!(plan.is_resumable(format!("{header}{prompt}").as_bytes()));
        assert!(!plan.is_resumable(format!("{header}{prompt}{taken_back}").as_bytes()));
    }
}
