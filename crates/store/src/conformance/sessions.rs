//! Rules of [`Sessions`](crate::Sessions).

use serde_json::json;
use warren_domain::{AgentType, ProfileId, ProfileRef, Seq, SessionId};

use super::{created, samples};
use crate::{Change, Page, SessionQuery, SessionRecord, SessionUpdate, Store};

/// Every field, with its bytes.
pub async fn a_session_is_read_back_whole(store: &Store) {
    let whole = created(store).await;
    assert_eq!(store.sessions.session(whole.session_id).await.expect("it is read"), Some(whole));
    let bare = SessionRecord {
        name: None,
        metadata: serde_json::Map::new(),
        options: json!(null),
        forked_from: None,
        profile: ProfileRef::of_partition(ProfileId::from("default")),
        ..samples::session()
    };
    store.log.commit(samples::create(&bare)).await.expect("a session is created");
    assert_eq!(store.sessions.session(bare.session_id).await.expect("it is read"), Some(bare));
}

/// What an update leaves out stays.
pub async fn an_update_changes_only_what_it_names(store: &Store) {
    let mut record = created(store).await;
    let session = record.session_id;
    let updates = [
        SessionUpdate { name: Some("new".to_owned()), ..SessionUpdate::default() },
        SessionUpdate { last_activity: Some(samples::time(77)), ..SessionUpdate::default() },
        SessionUpdate {
            metadata: Some([("only".to_owned(), json!(1))].into_iter().collect()),
            ..SessionUpdate::default()
        },
        SessionUpdate { options: Some(json!({ "model": "other" })), ..SessionUpdate::default() },
        SessionUpdate::default(),
    ];
    for update in updates {
        let SessionUpdate { name, metadata, options, last_activity } = update.clone();
        record.name = name.or(record.name);
        record.metadata = metadata.unwrap_or(record.metadata);
        record.options = options.unwrap_or(record.options);
        record.last_activity = last_activity.unwrap_or(record.last_activity);
        let commit = samples::change(session, Seq(1), vec![Change::UpdateSession(update)]);
        store.log.commit(commit).await.expect("it is updated");
        assert_eq!(store.sessions.session(session).await.expect("it is read"), Some(record.clone()));
    }
}

/// Newest first; the page says whether there is more, and the last one of it is where the next begins.
pub async fn lists_are_newest_first_in_pages(store: &Store) {
    let mut all = family(store, 5).await;
    all.reverse();
    let mut query =
        SessionQuery { partition: Some(all[0].partition.clone()), limit: 2, ..SessionQuery::default() };
    for (items, more) in [(&all[0..2], true), (&all[2..4], true), (&all[4..5], false)] {
        let page = store.sessions.sessions(&query).await.expect("they are listed");
        assert_eq!(page, Page { items: items.to_vec(), more });
        query.before = page.items.last().map(|record| record.session_id);
    }
    assert_eq!(list(store, SessionQuery { limit: 5, before: None, ..query }).await, all);
}

/// Each condition narrows the list, and all of them together do.
pub async fn lists_can_be_narrowed(store: &Store) {
    let all = family(store, 4).await;
    let other = created(store).await;
    let narrowed = async |query: SessionQuery| {
        let query = SessionQuery { partition: Some(all[0].partition.clone()), limit: 100, ..query };
        let place = |found: &SessionRecord| all.iter().position(|one| one == found);
        list(store, query).await.iter().map(|found| place(found).expect("one of them")).collect::<Vec<_>>()
    };
    let any = SessionQuery::default;
    let id = |n: usize| all[n].session_id;
    let foreign = Some(vec![id(0), other.session_id, id(3)]);
    assert_eq!(narrowed(any()).await, [3, 2, 1, 0]);
    assert_eq!(narrowed(SessionQuery { project: Some(all[1].project_id), ..any() }).await, [3, 1]);
    assert_eq!(narrowed(SessionQuery { agent_type: Some(AgentType::from("agent 2")), ..any() }).await, [2]);
    assert_eq!(narrowed(SessionQuery { only: foreign, ..any() }).await, [3, 0]);
    assert_eq!(narrowed(SessionQuery { only: Some(Vec::new()), ..any() }).await, [0_usize; 0]);
    assert_eq!(narrowed(SessionQuery { before: Some(id(2)), ..any() }).await, [1, 0]);
    let both = SessionQuery { project: Some(all[1].project_id), before: Some(id(3)), ..any() };
    assert_eq!(narrowed(both).await, [1]);
    let everywhere = SessionQuery { only: Some(vec![other.session_id, id(0)]), limit: 9, ..any() };
    assert_eq!(list(store, everywhere).await, [other.clone(), all[0].clone()]);
}

/// Part of a name or an id, in any case; signs that mean something in patterns mean themselves.
pub async fn a_search_takes_its_text_literally(store: &Store) {
    let record = created(store).await;
    let nameless = SessionRecord { name: None, partition: record.partition.clone(), ..samples::session() };
    store.log.commit(samples::create(&nameless)).await.expect("a session is created");
    let find = |text: &str| {
        let query = SessionQuery {
            partition: Some(record.partition.clone()),
            text: Some(text.to_owned()),
            limit: 10,
            ..SessionQuery::default()
        };
        async {
            list(store, query).await.into_iter().map(|found| found.session_id).collect::<Vec<SessionId>>()
        }
    };
    let ours = [record.session_id];
    for text in ["überblick", "ÜBER", "50%", "a_b", r"b\c", "of"] {
        assert_eq!(find(text).await, ours, "{text}");
    }
    for text in ["%k", "5_", "aXb", "nothing", "''"] {
        assert_eq!(find(text).await, [], "{text}");
    }
    let id = nameless.session_id.to_string().to_uppercase();
    assert_eq!(find(&id[4..]).await, [nameless.session_id]);
    assert_eq!(find("").await, [nameless.session_id, record.session_id]);
}

/// The last word on each path counts, also within one commit.
pub async fn files_are_known_by_path(store: &Store) {
    let session = created(store).await.session_id;
    let put = |path, size| Change::PutFile(samples::file(path, size));
    let remove = |path: &str| Change::RemoveFile(path.to_owned());
    let steps = [
        (vec![put("b/ü", 1), put("a", 1), put("B", 1)], vec![("B", 1), ("a", 1), ("b/ü", 1)]),
        (vec![put("a", 2), put("a", 3), remove("nothing")], vec![("B", 1), ("a", 3), ("b/ü", 1)]),
        (vec![put("a", 4), remove("a"), remove("B"), put("B", 5)], vec![("B", 5), ("b/ü", 1)]),
    ];
    for (changes, expected) in steps {
        store.log.commit(samples::change(session, Seq(1), changes)).await.expect("it is committed");
        let files = store.sessions.files(session).await.expect("files are listed");
        let expected: Vec<_> = expected.into_iter().map(|(path, size)| samples::file(path, size)).collect();
        assert_eq!(files, expected);
    }
    let other = created(store).await.session_id;
    assert_eq!(store.sessions.files(other).await.expect("files are listed"), Vec::new());
}

async fn list(store: &Store, query: SessionQuery) -> Vec<SessionRecord> {
    store.sessions.sessions(&query).await.expect("they are listed").items
}

/// Some sessions of one partition, oldest first: two projects in turns, an agent each.
async fn family(store: &Store, n: usize) -> Vec<SessionRecord> {
    let first = samples::session();
    let second = samples::session();
    let mut family = Vec::new();
    for idx in 0..n {
        let record = SessionRecord {
            partition: first.partition.clone(),
            project_id: if idx % 2 == 0 { first.project_id } else { second.project_id },
            agent_type: AgentType(format!("agent {idx}")),
            ..samples::session()
        };
        store.log.commit(samples::create(&record)).await.expect("a session is created");
        family.push(record);
    }
    family
}
