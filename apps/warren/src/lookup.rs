//! Finds the session that a person means: by name, ID, or the start of either.

use anyhow::{Result, bail};
use reqwest::Url;
use uuid::Uuid;
use warren_domain::{SessionId, Timestamp};
use warren_env::Env;
use warren_wire::{SessionListItem, SessionPage};

use crate::{client::Client, render::clean, report::Advised, times::relative};

/// Sessions per request.
const PAGE: u32 = 500;
/// Candidates that are listed for an ambiguous name.
const N_LISTED: usize = 10;
/// Shorter parts of an ID are taken for names only.
const MIN_ID_PART: usize = 4;

/// The session of this name or ID; `last` is the newest.
pub(crate) async fn find(client: &Client, named: &str) -> Result<SessionId> {
    let named = named.trim();
    if named == "last" {
        return match client.session_newest().await? {
            Some(session) => Ok(session.session_id),
            None => bail!(Advised::new("there are no sessions yet", "start one with `warren chat`")),
        };
    }
    if let Some(id) = whole_id(named) {
        return Ok(id);
    }
    let found = search(client, named).await?;
    match choose(named, &found).as_slice() {
        [one] => Ok(one.session_id),
        [] => bail!(Advised::new(
            format!("no session with the name or ID `{named}`"),
            "`warren sessions list` lists sessions; `last` is the newest",
        )),
        several => bail!(Advised::new(ambiguous(named, several), "type more of the name or ID")),
    }
}

/// Only IDs in their usual form: other spellings of a UUID could be names.
fn whole_id(named: &str) -> Option<SessionId> {
    let id: Uuid = named.parse().ok()?;
    (id.to_string() == named.to_lowercase()).then_some(SessionId(id))
}

/// All sessions with this text in their name or ID.
async fn search(client: &Client, text: &str) -> Result<Vec<SessionListItem>> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page: SessionPage = client.get(&list_path(PAGE, Some(text), cursor.as_deref())).await?;
        found.extend(page.sessions);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

/// The route of a list of sessions.
pub(crate) fn list_path(limit: u32, q: Option<&str>, cursor: Option<&str>) -> String {
    let mut query = format!("limit={limit}");
    for (name, value) in [("q", q), ("cursor", cursor)] {
        // Only the part after the `?` is used: the URL is the library's way to encode a query.
        if let (Some(value), Ok(mut url)) = (value, Url::parse("http://localhost/")) {
            url.query_pairs_mut().append_pair(name, value);
            query = format!("{query}&{}", url.query().unwrap_or_default());
        }
    }
    format!("/api/sessions?{query}")
}

/// The sessions that are meant, by the strongest kind of match that any of them has.
fn choose<'a>(named: &str, found: &'a [SessionListItem]) -> Vec<&'a SessionListItem> {
    let folded = named.to_lowercase();
    let is_name = |item: &SessionListItem| item.name.as_deref().is_some_and(|name| name.trim() == named);
    let is_folded_name = |item: &SessionListItem| {
        item.name.as_deref().is_some_and(|name| name.trim().to_lowercase() == folded)
    };
    // The page calls a session without a name by the end of its ID.
    let is_id = |item: &SessionListItem| {
        let id = item.session_id.to_string();
        folded.len() >= MIN_ID_PART
            && (id.starts_with(&folded) || (folded.len() >= 6 && id.ends_with(&folded)))
    };
    let begins_name = |item: &SessionListItem| {
        item.name.as_deref().is_some_and(|name| name.trim_start().to_lowercase().starts_with(&folded))
    };
    let kinds: [&dyn Fn(&SessionListItem) -> bool; 4] = [&is_name, &is_folded_name, &is_id, &begins_name];
    let matches = kinds.into_iter().map(|kind| found.iter().filter(|item| kind(item)).collect::<Vec<_>>());
    matches.into_iter().find(|chosen| !chosen.is_empty()).unwrap_or_default()
}

fn ambiguous(named: &str, several: &[&SessionListItem]) -> String {
    let now = Env::system().now();
    let mut text = format!("`{named}` matches {} sessions:", several.len());
    for session in several.iter().take(N_LISTED) {
        let name = clean(session.name.as_deref().unwrap_or("(no name)"));
        let at = relative(Timestamp::from_millis(session.last_activity), now);
        text.push_str(&format!("\n  {}  {name}  ({at})", session.session_id));
    }
    if several.len() > N_LISTED {
        text.push_str(&format!("\n  … and {} more", several.len() - N_LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warren_wire::SessionListItem;

    use super::{ambiguous, choose, list_path, whole_id};

    fn session(id: &str, name: Option<&str>) -> SessionListItem {
        let mut item = json!({
            "sessionId": id, "type": "builtin", "agentProfileReference": "default", "createdAt": 0, "lastActivity": 0,
            "options": {}, "projectId": id, "workspaceId": id, "version": 0, "lastSeq": 0, "runtime": {"isLoaded": false},
        });
        if let Some(name) = name {
            item["name"] = name.into();
        }
        serde_json::from_value(item).expect("a session")
    }

    #[test]
    fn strongest_kind_of_match_decides() {
        let all = [
            session("0199aaaa-0000-7000-8000-000000000001", Some("Sales")),
            session("0199aaaa-0000-7000-8000-000000000002", Some("sales")),
            session("0199bbbb-0000-7000-8000-0000000abcde", Some("Sales of May")),
            session("0199cccc-0000-7000-8000-000000000004", Some("0199b")),
            session("0199dddd-0000-7000-8000-0000000482ba", None),
        ];
        let chosen = |named: &str| {
            let position = |item: &SessionListItem| {
                all.iter().position(|one| std::ptr::eq(one, item)).expect("one of them")
            };
            choose(named, &all).into_iter().map(position).collect::<Vec<_>>()
        };
        assert_eq!(chosen("Sales"), [0], "an exact name before other spellings");
        assert_eq!(chosen("SALES"), [0, 1], "ambiguous");
        assert_eq!(chosen("sales o"), [2], "the start of a name");
        assert_eq!(chosen("0199b"), [3], "a name before an ID");
        assert_eq!(chosen("0199bb"), [2], "the start of an ID");
        assert_eq!(chosen("0199AAAA"), [0, 1]);
        assert_eq!(chosen("0482ba"), [4], "the end of an ID, as the page shows it");
        assert_eq!(chosen("ales"), Vec::<usize>::new(), "not the middle of a name");
        assert_eq!(chosen("019"), [3], "too short for an ID, and the start of a name");
        let several: Vec<_> = choose("SALES", &all);
        let text = ambiguous("SALES", &several);
        assert!(
            text.starts_with("`SALES` matches 2 sessions:\n  0199aaaa-0000-7000-8000-000000000001  Sales  ("),
            "{text}"
        );
    }

    #[test]
    fn only_the_usual_form_of_an_id_is_one() {
        let id = "0199aaaa-0000-7000-8000-000000000001";
        assert_eq!(whole_id(id).map(|id| id.to_string()).as_deref(), Some(id));
        assert!(whole_id(&id.to_uppercase()).is_some());
        assert_eq!([whole_id(&id.replace('-', "")), whole_id("last")], [None, None]);
    }

    #[test]
    fn search_text_and_cursor_are_encoded() {
        assert_eq!(list_path(3, None, None), "/api/sessions?limit=3");
        assert_eq!(
            list_path(3, Some("a&b=é"), Some("c d")),
            "/api/sessions?limit=3&q=a%26b%3D%C3%A9&cursor=c+d"
        );
    }
}
