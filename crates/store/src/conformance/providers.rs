//! Rules of [`Providers`](crate::Providers).

use uuid::Uuid;
use warren_domain::Timestamp;

use crate::{ProviderRecord, Store};

/// One with a name that no other rule uses.
fn sample() -> ProviderRecord {
    ProviderRecord {
        provider: format!("provider-{}", Uuid::now_v7()),
        base_url: Some("https://models.example.com/v1".to_owned()),
        sealed_key: Some("1:c2VhbGVk".to_owned()),
        updated_at: Timestamp::from_millis(1_700_000_000_123),
    }
}

async fn put(store: &Store, record: &ProviderRecord) {
    store.providers.put_provider(record).await.expect("it is put");
}

async fn read(store: &Store, provider: &str) -> Option<ProviderRecord> {
    let all = store.providers.providers().await.expect("they are read");
    all.into_iter().find(|record| record.provider == provider)
}

/// Every field, and those that are absent.
pub async fn a_provider_is_read_back_whole_and_replaced_whole(store: &Store) {
    let mut record = sample();
    assert_eq!(read(store, &record.provider).await, None);
    put(store, &record).await;
    assert_eq!(read(store, &record.provider).await.as_ref(), Some(&record));
    (record.base_url, record.updated_at) = (None, Timestamp::from_millis(1_700_000_000_456));
    put(store, &record).await;
    assert_eq!(read(store, &record.provider).await.as_ref(), Some(&record));
    (record.base_url, record.sealed_key) = (Some("http://127.0.0.1:1".to_owned()), None);
    put(store, &record).await;
    assert_eq!(read(store, &record.provider).await.as_ref(), Some(&record));
}

/// And only once.
pub async fn a_removed_provider_is_gone_and_others_stay(store: &Store) {
    let (one, other) = (sample(), sample());
    put(store, &one).await;
    put(store, &other).await;
    let remove = async || store.providers.remove_provider(&one.provider).await.expect("it is removed");
    assert_eq!((remove().await, remove().await), (true, false));
    assert_eq!((read(store, &one.provider).await, read(store, &other.provider).await), (None, Some(other)));
}

/// Whatever the order in which they were put.
pub async fn providers_are_listed_by_name(store: &Store) {
    let records = [sample(), sample()];
    for record in records.iter().rev() {
        put(store, record).await;
    }
    let all = store.providers.providers().await.expect("they are read");
    let listed: Vec<_> = all.into_iter().filter(|record| records.contains(record)).collect();
    assert_eq!(listed, records);
}
