//! Rules of [`Tokens`](crate::Tokens).

use uuid::Uuid;

use super::samples;
use crate::{Store, TokenRecord};

fn token() -> TokenRecord {
    samples::token(&blake3::hash(Uuid::now_v7().as_bytes()).to_hex())
}

async fn put(store: &Store, token: &TokenRecord) {
    store.tokens.put_token(token).await.expect("the token is kept");
}

/// Whole; also one that has expired: whether that matters is for others to say.
pub async fn a_token_is_found_by_its_hash(store: &Store) {
    let token = token();
    assert_eq!(store.tokens.token(&token.hash).await.expect("it is read"), None);
    put(store, &token).await;
    assert_eq!(store.tokens.token(&token.hash).await.expect("it is read"), Some(token.clone()));
    let endless = TokenRecord { expires_at: None, ..self::token() };
    put(store, &endless).await;
    assert_eq!(store.tokens.token(&endless.hash).await.expect("it is read"), Some(endless));
    assert_eq!(store.tokens.token(&token.hash[1..]).await.expect("it is read"), None);
    assert!(
        store.tokens.put_token(&TokenRecord { token_id: self::token().token_id, ..token }).await.is_err()
    );
}

/// Of one partition, or of all.
pub async fn tokens_are_listed_oldest_first(store: &Store) {
    let young = TokenRecord { created_at: samples::time(5), ..token() };
    let old = TokenRecord { created_at: samples::time(4), partition: young.partition.clone(), ..token() };
    let foreign = TokenRecord { created_at: samples::time(3), ..token() };
    for token in [&young, &old, &foreign] {
        put(store, token).await;
    }
    let listed = store.tokens.tokens(Some(&young.partition)).await.expect("they are listed");
    assert_eq!(listed, [old.clone(), young.clone()]);
    let ours = [&foreign, &old, &young].map(Clone::clone);
    let mut listed = store.tokens.tokens(None).await.expect("they are listed");
    listed.retain(|token| ours.contains(token));
    assert_eq!(listed, ours);
}

/// It cannot be used, and is not listed.
pub async fn a_removed_token_is_unknown(store: &Store) {
    let token = token();
    put(store, &token).await;
    assert!(store.tokens.remove_token(token.token_id).await.expect("it is removed"));
    assert!(!store.tokens.remove_token(token.token_id).await.expect("it is gone already"));
    assert_eq!(store.tokens.token(&token.hash).await.expect("it is read"), None);
    assert_eq!(store.tokens.tokens(Some(&token.partition)).await.expect("they are listed"), []);
}

/// Its descendants go with it; its ancestors and its siblings stay.
pub async fn a_token_ends_with_its_parent_at_any_depth(store: &Store) {
    let root = token();
    let child = |of: &TokenRecord| TokenRecord {
        parent: Some(of.token_id),
        partition: root.partition.clone(),
        ..token()
    };
    let (middle, sibling) = (child(&root), child(&root));
    let leaves = [child(&middle), child(&middle)];
    let deepest = child(&leaves[0]);
    for token in [&root, &middle, &sibling, &leaves[0], &leaves[1], &deepest] {
        put(store, token).await;
    }
    assert_eq!(store.tokens.token(&deepest.hash).await.expect("it is read"), Some(deepest.clone()));
    assert!(store.tokens.remove_token(middle.token_id).await.expect("it is removed"));
    for gone in [&middle, &leaves[0], &leaves[1], &deepest] {
        assert_eq!(store.tokens.token(&gone.hash).await.expect("it is read"), None);
    }
    for kept in [&root, &sibling] {
        assert_eq!(store.tokens.token(&kept.hash).await.expect("it is read"), Some(kept.clone()));
    }
}

/// Also when the parent was there a moment ago: nothing is made from a token that was revoked.
pub async fn a_token_of_an_absent_parent_is_refused(store: &Store) {
    let parent = token();
    let child = TokenRecord { parent: Some(parent.token_id), ..token() };
    assert!(store.tokens.put_token(&child).await.is_err(), "the parent was never there");
    put(store, &parent).await;
    store.tokens.remove_token(parent.token_id).await.expect("it is removed");
    assert!(store.tokens.put_token(&child).await.is_err(), "the parent is gone");
    assert_eq!(store.tokens.token(&child.hash).await.expect("it is read"), None);
}

/// Whatever partition they are of.
pub async fn those_of_many_tokens_that_are_there_are_found(store: &Store) {
    let (one, two, removed, never) = (token(), token(), token(), token());
    for token in [&one, &two, &removed] {
        put(store, token).await;
    }
    store.tokens.remove_token(removed.token_id).await.expect("it is removed");
    let asked = [&one, &removed, &two, &never].map(|token| token.token_id);
    let mut found = store.tokens.tokens_present(&asked).await.expect("they are looked for");
    found.sort();
    let mut expected = vec![one.token_id, two.token_id];
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(store.tokens.tokens_present(&[]).await.expect("they are looked for"), []);
}
