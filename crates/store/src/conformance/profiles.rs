//! Rules of [`Profiles`](crate::Profiles).

use uuid::Uuid;
use warren_domain::{AgentProfile, Partition, ProfileId, ProjectId};

use super::samples;
use crate::Store;

fn partition() -> Partition {
    samples::session().partition
}

async fn put(store: &Store, partition: &Partition, profile: &AgentProfile) {
    store.profiles.put_profile(partition, profile).await.expect("the profile is put");
}

/// Every field.
pub async fn a_profile_is_read_back_whole(store: &Store) {
    let partition = partition();
    let profile = samples::profile("mine");
    assert_eq!(store.profiles.profile(&partition, None, &profile.id).await.expect("it is read"), None);
    put(store, &partition, &profile).await;
    assert_eq!(
        store.profiles.profile(&partition, None, &profile.id).await.expect("it is read"),
        Some(profile)
    );
}

/// In the order of their ids' bytes.
pub async fn profiles_are_listed_by_id(store: &Store) {
    let partition = partition();
    assert_eq!(store.profiles.profiles(&partition).await.expect("they are listed"), []);
    for id in ["b", "ü", "a-1", "B", "a"] {
        put(store, &partition, &samples::profile(id)).await;
    }
    let expected = ["B", "a", "a-1", "b", "ü"].map(samples::profile);
    assert_eq!(store.profiles.profiles(&partition).await.expect("they are listed"), expected);
}

/// Putting one again replaces it; removing says whether there was one.
pub async fn a_profile_is_replaced_and_removed(store: &Store) {
    let partition = partition();
    let mut profile = samples::profile("mine");
    put(store, &partition, &profile).await;
    profile.system_prompt = None;
    profile.model = Some("m".to_owned());
    put(store, &partition, &profile).await;
    assert_eq!(store.profiles.profiles(&partition).await.expect("they are listed"), [profile]);
    let id = ProfileId::from("mine");
    assert!(store.profiles.remove_profile(&partition, None, &id).await.expect("it is removed"));
    assert!(!store.profiles.remove_profile(&partition, None, &id).await.expect("it is gone already"));
    assert_eq!(store.profiles.profile(&partition, None, &id).await.expect("it is read"), None);
}

/// The same id in another partition is another profile.
pub async fn profiles_of_two_partitions_are_apart(store: &Store) {
    let (ours, theirs) = (partition(), partition());
    let profile = samples::profile("mine");
    put(store, &ours, &profile).await;
    assert_eq!(store.profiles.profiles(&theirs).await.expect("they are listed"), []);
    assert_eq!(store.profiles.profile(&theirs, None, &profile.id).await.expect("it is read"), None);
    assert!(!store.profiles.remove_profile(&theirs, None, &profile.id).await.expect("there is none"));
    assert_eq!(store.profiles.profiles(&ours).await.expect("they are listed"), [profile]);
}

/// The same id in another project, and in none, is another profile: reading, replacing and removing one leaves the others.
pub async fn profiles_of_two_projects_and_of_the_partition_are_apart(store: &Store) {
    let (partition, id) = (partition(), ProfileId::from("mine"));
    let (ours, theirs) = (ProjectId(Uuid::now_v7()), ProjectId(Uuid::now_v7()));
    let wide = samples::profile("mine");
    let [our, their] = [ours, theirs].map(|project| samples::project_profile("mine", project));
    put(store, &partition, &our).await;
    for owner in [None, Some(theirs)] {
        assert_eq!(store.profiles.profile(&partition, owner, &id).await.expect("it is read"), None);
        assert!(!store.profiles.remove_profile(&partition, owner, &id).await.expect("there is none"));
    }
    assert_eq!(store.profiles.profiles_in(&partition, theirs).await.expect("they are listed"), []);
    put(store, &partition, &wide).await;
    put(store, &partition, &their).await;
    let changed = AgentProfile { model: Some("m".to_owned()), ..our };
    put(store, &partition, &changed).await;
    for (owner, expected) in [(None, &wide), (Some(ours), &changed), (Some(theirs), &their)] {
        let read = store.profiles.profile(&partition, owner, &id).await.expect("it is read");
        assert_eq!(read.as_ref(), Some(expected));
    }
    assert!(store.profiles.remove_profile(&partition, Some(ours), &id).await.expect("it is removed"));
    assert_eq!(store.profiles.profiles(&partition).await.expect("they are listed"), [wide, their]);
}

/// By id; of the same id the partition's own first. A project's list has nothing of other projects.
pub async fn profiles_are_listed_for_one_project_and_for_all(store: &Store) {
    let partition = partition();
    let mut projects = [Uuid::now_v7(), Uuid::now_v7()].map(ProjectId);
    projects.sort_by_key(ToString::to_string);
    let [first, second] = projects;
    let all = [
        samples::project_profile("a", second),
        samples::profile("b"),
        samples::project_profile("b", first),
        samples::project_profile("b", second),
        samples::profile("c"),
    ];
    for profile in all.iter().rev() {
        put(store, &partition, profile).await;
    }
    assert_eq!(store.profiles.profiles(&partition).await.expect("they are listed"), all);
    for project in projects {
        let seen = all.iter().filter(|profile| profile.project_id.is_none_or(|owner| owner == project));
        let listed = store.profiles.profiles_in(&partition, project).await.expect("they are listed");
        assert_eq!(listed, seen.cloned().collect::<Vec<_>>());
    }
}
