use serde_json::json;
use warren_domain::{Partition, ProjectId, Timestamp, TokenId, WorkspaceId};
use warren_env::Env;
use warren_store::{ProjectRecord, WorkspaceRecord};

use super::WorkspaceChoice;
use crate::{Denied, Gateway, Identity, RequestError, memory::memory};

fn id(n: u128) -> ProjectId {
    ProjectId(uuid::Uuid::from_u128(n))
}

fn identity(partition: &str, scope: String) -> Identity {
    Identity {
        token_id: TokenId(uuid::Uuid::nil()),
        name: "t".to_owned(),
        partition: Partition::from(partition),
        scope: scope.parse().expect("a scope"),
        owner: "test".to_owned(),
        plan: None,
        expires_at: None,
    }
}

async fn with_projects(projects: &[(ProjectId, &str)]) -> Gateway {
    let records = memory();
    for (project, partition) in projects {
        let record = ProjectRecord {
            project_id: *project,
            partition: Partition::from(*partition),
            name: project.to_string(),
            options: json!({}),
            created_at: Timestamp::default(),
        };
        records.projects.put_project(&record).await.expect("put");
    }
    Gateway::new(records, Env::system())
}

#[tokio::test]
async fn without_a_wish_a_session_goes_to_the_tokens_project_or_to_the_default_one() {
    let gateway = with_projects(&[(id(1), "here")]).await;
    let confined = identity("here", format!("project:{}", id(1)));
    assert_eq!(gateway.project_resolve(&confined, None).await.expect("its own"), id(1));
    let admin = identity("here", "admin".to_owned());
    let default = gateway.project_resolve(&admin, None).await.expect("default");
    assert_eq!(gateway.project_resolve(&admin, None).await.expect("the same again"), default);
}

#[tokio::test]
async fn a_project_that_is_not_yours_and_one_that_is_not_there_look_the_same() {
    let gateway = with_projects(&[(id(1), "here"), (id(2), "here"), (id(3), "there")]).await;
    for scope in [format!("project:{}", id(1)), format!("project:{}:ro", id(1))] {
        for wanted in [id(2), id(3), id(4)] {
            let refused = gateway.project_resolve(&identity("here", scope.clone()), Some(wanted)).await;
            let Err(refused) = refused else { panic!("{scope} got {wanted}") };
            assert_eq!(refused.to_string(), format!("there is no project `{wanted}`"));
        }
    }
    let admin = identity("here", "admin".to_owned());
    assert_eq!(gateway.project_resolve(&admin, Some(id(2))).await.expect("an administrator's"), id(2));
    assert!(gateway.project_resolve(&admin, Some(id(3))).await.is_err());
}

#[tokio::test]
async fn a_read_only_token_makes_nothing() {
    let gateway = with_projects(&[(id(1), "here")]).await;
    for scope in [format!("project:{}:ro", id(1)), "admin:ro".to_owned()] {
        for wanted in [None, Some(id(1))] {
            let refused = gateway.project_resolve(&identity("here", scope.clone()), wanted).await;
            assert!(matches!(refused, Err(RequestError::Denied(Denied::ReadOnly))), "{scope}");
        }
    }
}

#[tokio::test]
async fn a_workspace_of_another_project_is_not_there() {
    let records = memory();
    let workspace = |n: u128, project| WorkspaceRecord {
        workspace_id: WorkspaceId(uuid::Uuid::from_u128(n)),
        partition: Partition::from("here"),
        project_id: project,
        uid: 0,
        created_at: Timestamp::default(),
    };
    for wanted in [workspace(10, id(1)), workspace(11, id(1)), workspace(20, id(2))] {
        records.projects.make_workspace(&wanted, 1000).await.expect("made");
    }
    let gateway = Gateway::new(records, Env::system());
    let this = |n: u128| WorkspaceChoice::This(WorkspaceId(uuid::Uuid::from_u128(n)));
    let resolve = |choice| gateway.workspace_resolve(id(1), choice);
    assert_eq!(resolve(WorkspaceChoice::Own).await.expect("own"), None);
    let oldest = Some(WorkspaceId(uuid::Uuid::from_u128(10)));
    assert_eq!(resolve(WorkspaceChoice::Oldest).await.expect("oldest"), oldest);
    assert_eq!(resolve(this(10)).await.expect("this"), oldest);
    assert!(matches!(resolve(this(20)).await, Err(RequestError::NotFound { kind: "workspace", .. })));
}
