//! Rules of [`Projects`](crate::Projects).

use std::collections::BTreeSet;

use futures::future::join_all;
use warren_domain::Partition;
use warren_env::Env;

use super::samples;
use crate::{ProjectRecord, Store, WorkspaceRecord, ensure_defaults};

fn partition() -> Partition {
    samples::session().partition
}

async fn project(store: &Store) -> ProjectRecord {
    let project = samples::project(&partition(), "a project");
    store.projects.put_project(&project).await.expect("the project is made")
}

async fn workspace(store: &Store, project: &ProjectRecord, first_uid: u32) -> WorkspaceRecord {
    let wanted = samples::workspace(project);
    let kept = store.projects.make_workspace(&wanted, first_uid).await.expect("the workspace is made");
    assert_eq!(kept, WorkspaceRecord { uid: kept.uid, ..wanted });
    kept
}

/// Every field, of projects and workspaces.
pub async fn a_project_is_read_back_whole(store: &Store) {
    let project = project(store).await;
    assert_eq!(store.projects.project(project.project_id).await.expect("it is read"), Some(project.clone()));
    let none = samples::project(&project.partition, "none").project_id;
    assert_eq!(store.projects.project(none).await.expect("it is read"), None);
    let workspace = workspace(store, &project, 50_000_000).await;
    let found = store.projects.workspace(workspace.workspace_id).await.expect("it is read");
    assert_eq!(found, Some(workspace.clone()));
    assert_eq!(store.projects.workspaces(project.project_id).await.expect("they are listed"), [workspace]);
}

/// Making one of a name that is there returns that one, unchanged.
pub async fn a_name_is_used_once_in_a_partition(store: &Store) {
    let first = project(store).await;
    let second =
        ProjectRecord { options: serde_json::json!(1), ..samples::project(&first.partition, &first.name) };
    assert_eq!(store.projects.put_project(&second).await.expect("there is one"), first);
    assert_eq!(store.projects.put_project(&first).await.expect("there is one"), first);
    assert_eq!(store.projects.project(second.project_id).await.expect("it is read"), None);
    let elsewhere = samples::project(&partition(), &first.name);
    assert_eq!(store.projects.put_project(&elsewhere).await.expect("it is made"), elsewhere);
}

/// Of one partition, or of all.
pub async fn projects_are_listed_oldest_first(store: &Store) {
    let here = partition();
    let at =
        |millis, name| ProjectRecord { created_at: samples::time(millis), ..samples::project(&here, name) };
    let (young, old) = (at(9, "young"), at(8, "old"));
    let foreign = ProjectRecord { created_at: samples::time(7), ..samples::project(&partition(), "old") };
    for project in [&young, &old, &foreign] {
        store.projects.put_project(project).await.expect("the project is made");
    }
    let listed = store.projects.projects(Some(&here)).await.expect("they are listed");
    assert_eq!(listed, [old.clone(), young.clone()]);
    let ours = [foreign, old, young];
    let mut listed = store.projects.projects(None).await.expect("they are listed");
    listed.retain(|project| ours.contains(project));
    assert_eq!(listed, ours);
}

/// At or above the first one; a removed workspace's is free again.
pub async fn a_workspace_gets_the_lowest_free_uid(store: &Store) {
    const FIRST: u32 = 60_000_000;
    let project = project(store).await;
    let mut made = Vec::new();
    for expected in FIRST..FIRST + 4 {
        let workspace = workspace(store, &project, FIRST).await;
        assert_eq!(workspace.uid, expected);
        made.push(workspace);
    }
    for gone in [1, 2] {
        assert!(store.projects.remove_workspace(made[gone].workspace_id).await.expect("it is removed"));
    }
    assert!(!store.projects.remove_workspace(made[1].workspace_id).await.expect("it is gone already"));
    assert_eq!(workspace(store, &project, FIRST + 3).await.uid, FIRST + 4);
    let foreign = self::project(store).await;
    assert_eq!(workspace(store, &foreign, FIRST).await.uid, FIRST + 1);
    assert_eq!(workspace(store, &project, FIRST).await.uid, FIRST + 2);
    assert_eq!(workspace(store, &project, FIRST).await.uid, FIRST + 5);
}

/// Not even when many are made at the same moment.
pub async fn a_uid_is_never_given_twice(store: &Store) {
    const FIRST: u32 = 70_000_000;
    let project = project(store).await;
    let made = join_all((0..8).map(|_| workspace(store, &project, FIRST))).await;
    let uids: BTreeSet<u32> = made.iter().map(|workspace| workspace.uid).collect();
    assert_eq!(uids, (FIRST..FIRST + 8).collect());
}

/// Making it again returns it as it is.
pub async fn a_workspace_is_made_once(store: &Store) {
    let project = project(store).await;
    let first = workspace(store, &project, 80_000_000).await;
    let again = WorkspaceRecord { created_at: samples::time(1_000), ..first.clone() };
    assert_eq!(store.projects.make_workspace(&again, 90_000_000).await.expect("there is one"), first);
    assert_eq!(store.projects.workspaces(project.project_id).await.expect("they are listed"), [first]);
}

/// With the same ids each time.
pub async fn defaults_are_made_once(store: &Store) {
    let first = ensure_defaults(store, &Env::system(), 100_000).await.expect("they are made");
    let second = ensure_defaults(store, &Env::system(), 200_000).await.expect("they are there");
    assert_eq!(first, second);
    let (project, workspace) = first;
    assert_eq!((project.name.as_str(), workspace.project_id), ("default", project.project_id));
    assert_eq!(project.project_id.to_string(), "4b2a4089-884d-5356-a978-45b14ebe510d");
    assert_eq!(workspace.workspace_id.to_string(), "5199c593-866b-58db-9f53-4c82735e3d36");
}
