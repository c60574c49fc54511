//! Rules of [`Approvals`](crate::Approvals).

use warren_domain::{ApprovalResolution, Resolution, Seq};

use super::{created, samples};
use crate::{ApprovalQuery, ApprovalRecord, Change, Page, Pending, Store};

async fn put(store: &Store, approval: &ApprovalRecord) {
    let changes = vec![Change::PutApproval(Box::new(approval.clone()))];
    let commit = samples::change(approval.session_id, Seq(1), changes);
    store.log.commit(commit).await.expect("the approval is put");
}

fn answered(approval: &ApprovalRecord) -> ApprovalRecord {
    let expired = ApprovalResolution::expired(approval.request.approval_id, "ü");
    let resolution = ApprovalResolution {
        decision: Resolution::Deny,
        message: Some("not \"now\"".to_owned()),
        answers: Some([("a?".to_owned(), serde_json::json!(["b", "c"]))].into_iter().collect()),
        ..expired
    };
    ApprovalRecord { resolution: Some((resolution, samples::time(9))), ..approval.clone() }
}

async fn listed(store: &Store, query: &ApprovalQuery) -> Page<ApprovalRecord> {
    store.approvals.approvals(query).await.expect("they are listed")
}

/// Every field, before and after the answer.
pub async fn an_approval_is_read_back_whole(store: &Store) {
    let session = created(store).await.session_id;
    let approval = samples::approval(session, samples::time(100));
    let id = approval.request.approval_id;
    assert_eq!(store.approvals.approval(id).await.expect("it is read"), None);
    for approval in [approval.clone(), answered(&approval)] {
        put(store, &approval).await;
        assert_eq!(store.approvals.approval(id).await.expect("it is read"), Some(approval));
    }
}

/// Newest first, in pages, of one partition, project or session.
pub async fn approvals_are_listed_newest_first(store: &Store) {
    let record = created(store).await;
    let mut all: Vec<_> = (0..3).map(|_| samples::approval(record.session_id, samples::time(100))).collect();
    for approval in &all {
        put(store, approval).await;
    }
    let stranger = samples::approval(created(store).await.session_id, samples::time(100));
    put(store, &stranger).await;
    all.reverse();
    let everywhere = ApprovalQuery { limit: 2, ..ApprovalQuery::default() };
    for query in [
        ApprovalQuery { partition: Some(record.partition.clone()), ..everywhere.clone() },
        ApprovalQuery { project: Some(record.project_id), ..everywhere.clone() },
        ApprovalQuery { session: Some(record.session_id), ..everywhere.clone() },
    ] {
        assert_eq!(listed(store, &query).await, Page { items: all[..2].to_vec(), more: true });
        let rest = ApprovalQuery { before: Some(all[1].request.approval_id), ..query };
        assert_eq!(listed(store, &rest).await, Page { items: all[2..].to_vec(), more: false });
    }
}

/// One that was answered, or whose time is up, is not pending.
pub async fn only_what_waits_is_pending(store: &Store) {
    let session = created(store).await.session_id;
    let waits = samples::approval(session, samples::time(100));
    let late = samples::approval(session, samples::time(50));
    let done = answered(&samples::approval(session, samples::time(100)));
    for approval in [&waits, &late, &done] {
        put(store, approval).await;
    }
    let query = |pending| ApprovalQuery {
        session: Some(session),
        pending: Some((pending, samples::time(50))),
        limit: 9,
        ..ApprovalQuery::default()
    };
    assert_eq!(listed(store, &query(Pending::Yes)).await.items, [waits]);
    assert_eq!(listed(store, &query(Pending::No)).await.items, [done, late]);
}
