//! Rules of [`Profiles`](crate::Profiles).

use warren_domain::{AgentProfile, Partition, ProfileId};

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
    assert_eq!(store.profiles.profile(&partition, &profile.id).await.expect("it is read"), None);
    put(store, &partition, &profile).await;
    assert_eq!(store.profiles.profile(&partition, &profile.id).await.expect("it is read"), Some(profile));
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
    assert!(store.profiles.remove_profile(&partition, &id).await.expect("it is removed"));
    assert!(!store.profiles.remove_profile(&partition, &id).await.expect("it is gone already"));
    assert_eq!(store.profiles.profile(&partition, &id).await.expect("it is read"), None);
}

/// The same id in another partition is another profile.
pub async fn profiles_of_two_partitions_are_apart(store: &Store) {
    let (ours, theirs) = (partition(), partition());
    let profile = samples::profile("mine");
    put(store, &ours, &profile).await;
    assert_eq!(store.profiles.profiles(&theirs).await.expect("they are listed"), []);
    assert_eq!(store.profiles.profile(&theirs, &profile.id).await.expect("it is read"), None);
    assert!(!store.profiles.remove_profile(&theirs, &profile.id).await.expect("there is none"));
    assert_eq!(store.profiles.profiles(&ours).await.expect("they are listed"), [profile]);
}
