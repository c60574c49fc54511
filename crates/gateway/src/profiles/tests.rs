use serde_json::json;
use warren_domain::{
    AgentProfile, Partition, ProfileId, ProfileOwner, ProfileRef, ProjectId, Timestamp, WorkspaceTemplateFile,
};
use warren_env::Env;
use warren_store::ProjectRecord;

use crate::{Denied, Gateway, Identity, RequestError, memory::memory};

const OURS: ProjectId = ProjectId(uuid::Uuid::from_u128(1));
const THEIRS: ProjectId = ProjectId(uuid::Uuid::from_u128(2));
const ABSENT: ProjectId = ProjectId(uuid::Uuid::from_u128(3));

async fn started() -> (Gateway, Identity) {
    let records = memory();
    for project_id in [OURS, THEIRS] {
        let record = ProjectRecord {
            project_id,
            partition: Partition::default_partition(),
            name: project_id.to_string(),
            options: json!({}),
            created_at: Timestamp::default(),
        };
        records.projects.put_project(&record).await.expect("a project");
    }
    let gateway = Gateway::new(records, Env::system());
    let owner = gateway.bootstrap(None, None).await.expect("bootstrap").secret;
    let identity = gateway.authenticate(owner.expose()).await.expect("the owner");
    (gateway, identity)
}

fn scoped(admin: &Identity, scope: &str) -> Identity {
    Identity { scope: scope.parse().expect("a scope"), ..admin.clone() }
}

fn of(project: ProjectId, admin: &Identity) -> Identity {
    scoped(admin, &format!("project:{project}"))
}

fn profile(id: &str, project_id: Option<ProjectId>, model: &str) -> AgentProfile {
    AgentProfile { project_id, model: Some(model.to_owned()), ..AgentProfile::empty(ProfileId::from(id)) }
}

#[tokio::test]
async fn a_profile_is_kept_replaced_and_removed_within_its_partition() {
    let (gateway, here) = started().await;
    let there = Identity { partition: "there".into(), ..here.clone() };
    let id = ProfileId::from("writer");
    let one = AgentProfile::empty(id.clone());
    let two = AgentProfile { model: Some("m".to_owned()), ..one.clone() };
    gateway.profile_put(&here, one).await.expect("made");
    gateway.profile_put(&here, two.clone()).await.expect("replaced");
    assert_eq!(gateway.profile_get(&here, None, &id).await.expect("there"), two);
    assert!(matches!(gateway.profile_get(&there, None, &id).await, Err(RequestError::NotFound { .. })));
    assert!(matches!(gateway.profile_delete(&there, None, &id).await, Err(RequestError::NotFound { .. })));
    gateway.profile_delete(&here, None, &id).await.expect("removed");
    assert!(matches!(gateway.profile_delete(&here, None, &id).await, Err(RequestError::NotFound { .. })));
}

#[tokio::test]
async fn names_and_paths_that_lead_elsewhere_are_refused() {
    let (gateway, here) = started().await;
    for id in ["", "..", "a/b", ".hidden", "naïve", &"x".repeat(65)] {
        let refused = gateway.profile_put(&here, AgentProfile::empty(ProfileId::from(id))).await;
        assert!(matches!(refused, Err(RequestError::Invalid { .. })), "{id}");
    }
    for path in ["", "/etc/passwd", "../x", "a/../../x", "./a", "a\0b"] {
        let file = WorkspaceTemplateFile { path: path.to_owned(), content: String::new() };
        let profile =
            AgentProfile { default_workspace_files: vec![file], ..AgentProfile::empty(ProfileId::from("p")) };
        let refused = gateway.profile_put(&here, profile).await;
        assert!(matches!(refused, Err(RequestError::Invalid { .. })), "{path}");
    }
}

#[tokio::test]
async fn the_default_profile_is_there_and_stays() {
    let (gateway, here) = started().await;
    let ids: Vec<_> =
        gateway.profile_list(&here, None).await.expect("profiles").into_iter().map(|p| p.id).collect();
    assert_eq!(ids, [ProfileId::from("default")]);
    assert!(gateway.profile_delete(&here, None, &ids[0]).await.is_err());
    let ours = of(OURS, &here);
    let refused = gateway.profile_delete(&ours, None, &ids[0]).await;
    assert!(matches!(refused, Err(RequestError::Denied(Denied::NotAdmin))), "{refused:?}");
    gateway.profile_put(&ours, AgentProfile::empty(ids[0].clone())).await.expect("a default of its own");
    gateway.profile_delete(&ours, None, &ids[0]).await.expect("removed");
}

#[tokio::test]
async fn a_name_is_resolved_in_the_project_first_and_then_in_the_partition() {
    let (gateway, admin) = started().await;
    gateway.profile_put(&admin, profile("both", None, "wide")).await.expect("put");
    gateway.profile_put(&admin, profile("wide", None, "wide")).await.expect("put");
    gateway.profile_put(&of(OURS, &admin), profile("both", None, "ours")).await.expect("put");
    gateway.profile_put(&admin, profile("theirs", Some(THEIRS), "theirs")).await.expect("put");
    let resolved = async |project, id: Option<&str>| {
        let found = gateway.profile_resolve(&admin, project, id.map(ProfileId::from)).await;
        found.map(|ProfileRef { owner, .. }| owner).map_err(|error| error.to_string())
    };
    assert_eq!(resolved(OURS, Some("both")).await, Ok(ProfileOwner::Project));
    assert_eq!(resolved(THEIRS, Some("both")).await, Ok(ProfileOwner::Partition));
    assert_eq!(resolved(OURS, Some("wide")).await, Ok(ProfileOwner::Partition));
    assert_eq!(resolved(OURS, None).await, Ok(ProfileOwner::Partition));
    assert_eq!(resolved(THEIRS, Some("theirs")).await, Ok(ProfileOwner::Project));
    assert_eq!(resolved(OURS, Some("theirs")).await, Err("there is no profile `theirs`".to_owned()));
    assert_eq!(resolved(OURS, Some("nobodys")).await, Err("there is no profile `nobodys`".to_owned()));
}

#[tokio::test]
async fn a_project_lists_its_own_profiles_and_those_of_the_partition_that_it_does_not_replace() {
    let (gateway, admin) = started().await;
    for one in [
        profile("both", None, "wide"),
        profile("both", Some(OURS), "ours"),
        profile("both", Some(THEIRS), "theirs"),
        profile("hidden", Some(THEIRS), "theirs"),
        profile("wide", None, "wide"),
    ] {
        gateway.profile_put(&admin, one).await.expect("put");
    }
    let listed = async |identity: &Identity, project| {
        let all = gateway.profile_list(identity, project).await.expect("listed");
        let told = |p: AgentProfile| format!("{} {}", p.id, p.model.unwrap_or_default());
        all.into_iter().map(told).collect::<Vec<_>>()
    };
    let ours = ["both ours", "default ", "wide wide"];
    assert_eq!(listed(&of(OURS, &admin), None).await, ours);
    assert_eq!(listed(&of(OURS, &admin), Some(OURS)).await, ours);
    assert_eq!(listed(&admin, Some(OURS)).await, ours);
    assert_eq!(
        listed(&admin, None).await,
        ["both wide", "both ours", "both theirs", "default ", "hidden theirs", "wide wide"]
    );
}

#[tokio::test]
async fn another_projects_profile_is_neither_read_nor_replaced_nor_removed() {
    let (gateway, admin) = started().await;
    let ours = of(OURS, &admin);
    gateway.profile_put(&admin, profile("secret", Some(THEIRS), "theirs")).await.expect("put");
    for id in ["secret", "absent"].map(ProfileId::from) {
        let read = gateway.profile_get(&ours, None, &id).await.expect_err("not there").to_string();
        assert_eq!(read, format!("there is no profile `{id}`"));
        let removed = gateway.profile_delete(&ours, None, &id).await.expect_err("not there").to_string();
        assert_eq!(removed, format!("there is no profile `{id}`"));
    }
    for project in [THEIRS, ABSENT] {
        let expected = format!("there is no project `{project}`");
        let put = gateway.profile_put(&ours, profile("secret", Some(project), "x")).await;
        assert_eq!(put.expect_err("not there").to_string(), expected);
        for id in ["secret", "default"].map(ProfileId::from) {
            let read = gateway.profile_get(&ours, Some(project), &id).await;
            assert_eq!(read.expect_err("not there").to_string(), expected);
            let removed = gateway.profile_delete(&ours, Some(project), &id).await;
            assert_eq!(removed.expect_err("not there").to_string(), expected);
        }
        let listed = gateway.profile_list(&ours, Some(project)).await;
        assert_eq!(listed.expect_err("not there").to_string(), expected);
    }
    gateway
        .profile_put(&ours, profile("secret", None, "ours"))
        .await
        .expect("the name is free in the project");
    let theirs = gateway.profile_get(&of(THEIRS, &admin), None, &"secret".into()).await.expect("still there");
    assert_eq!(theirs, profile("secret", Some(THEIRS), "theirs"));
}

#[tokio::test]
async fn a_projects_copy_does_not_take_over_the_stored_secrets_of_the_partitions_profile() {
    let (gateway, admin) = started().await;
    let with = |value: &str| {
        let text = json!({"id": "shared", "environmentVariables": {"TOKEN": value}});
        serde_json::from_value::<AgentProfile>(text).expect("a profile")
    };
    gateway.profile_put(&admin, with("s3cret")).await.expect("put");
    let ours = of(OURS, &admin);
    let read = gateway.profile_get(&ours, None, &"shared".into()).await.expect("it is the partition's");
    assert_eq!(read, with("***kept***"));
    let refused = gateway.profile_put(&ours, read).await;
    assert!(matches!(refused, Err(RequestError::Invalid { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_read_only_token_writes_no_profile() {
    let (gateway, admin) = started().await;
    for scope in [format!("project:{OURS}:ro"), "admin:ro".to_owned()] {
        let reader = scoped(&admin, &scope);
        let put = gateway.profile_put(&reader, profile("p", None, "m")).await;
        assert!(matches!(put, Err(RequestError::Denied(Denied::ReadOnly))), "{scope}");
        let removed = gateway.profile_delete(&reader, None, &"p".into()).await;
        assert!(matches!(removed, Err(RequestError::Denied(Denied::ReadOnly))), "{scope}");
    }
}

#[tokio::test]
async fn project_token_withdraws_provider_tools_and_never_grants_them() {
    let (gateway, admin) = started().await;
    let token = of(OURS, &admin);
    let with = |provider_tools: bool| AgentProfile { provider_tools, ..profile("writer", Some(OURS), "m") };
    for _ in 0..2 {
        let refused = gateway.profile_put(&token, with(true)).await;
        assert!(matches!(refused, Err(RequestError::Denied(Denied::ProviderTools))), "{refused:?}");
        gateway.profile_put(&admin, with(true)).await.expect("an administrator may");
        gateway.profile_put(&token, with(true)).await.expect("unchanged");
        gateway.profile_put(&token, with(false)).await.expect("withdrawn");
    }
}

#[tokio::test]
async fn project_token_removes_egress_rules_and_never_adds_one() {
    let (gateway, admin) = started().await;
    let token = of(OURS, &admin);
    let with = |rules: &[&str]| AgentProfile {
        egress_allow: rules.iter().map(|&rule| rule.to_owned()).collect(),
        ..profile("writer", Some(OURS), "m")
    };
    let refused = gateway.profile_put(&token, with(&["evil.example"])).await;
    assert!(matches!(refused, Err(RequestError::Denied(Denied::WiderEgress))), "{refused:?}");
    gateway.profile_put(&admin, with(&["a.example", "b.example"])).await.expect("an administrator may");
    gateway.profile_put(&token, with(&["b.example"])).await.expect("fewer rules");
    for rules in [["a.example", "b.example"], ["b.example", "*"]] {
        let refused = gateway.profile_put(&token, with(&rules)).await;
        assert!(matches!(refused, Err(RequestError::Denied(Denied::WiderEgress))), "{refused:?}");
    }
}
