use std::time::Duration;

use warren_domain::Timestamp;
use warren_env::{Env, ManualClock};

use super::Ended;
use crate::{Gateway, Identity, NewToken, Records, Secret, memory::memory};

/// Nothing here takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

async fn started(records: Records, env: Env) -> (Gateway, Identity) {
    let gateway = Gateway::new(records, env);
    let owner = gateway.bootstrap(None, None).await.expect("bootstrap").secret;
    let owner = gateway.authenticate(owner.expose()).await.expect("the owner");
    (gateway, owner)
}

async fn token(gateway: &Gateway, owner: &Identity, expires_at: Option<Timestamp>) -> Identity {
    let scope = "admin".parse().expect("a scope");
    let new = NewToken { name: "ci".to_owned(), scope, expires_at, owner: None, plan: None };
    let (secret, _) = gateway.token_create(owner, new).await.expect("made");
    shown(gateway, &secret).await
}

async fn shown(gateway: &Gateway, secret: &Secret) -> Identity {
    gateway.authenticate(secret.expose()).await.expect("it works")
}

#[tokio::test]
async fn revoking_a_token_ends_what_holds_it_and_what_was_made_from_it_at_once() {
    let (gateway, owner) = started(memory(), Env::system()).await;
    let parent = token(&gateway, &owner, None).await;
    let child = gateway.sign_in_as(&parent).await.expect("signed in").secret;
    let child = shown(&gateway, &child).await;
    let other = token(&gateway, &owner, None).await;
    let [held, second, derived, kept] =
        [&parent, &parent, &child, &other].map(|identity| gateway.validity(identity));
    assert_eq!(held.has_ended(), None);
    gateway.token_delete(&owner, parent.token_id).await.expect("revoked");
    // Nobody watches here: it has happened when the revocation is answered.
    for ended in [held, second, derived] {
        assert_eq!(ended.has_ended(), Some(Ended::Revoked));
        assert_eq!(ended.ended().await, Ended::Revoked);
    }
    assert_eq!(kept.has_ended(), None);
}

#[tokio::test]
async fn a_revocation_on_another_server_ends_what_holds_the_token() {
    let records = memory();
    let (here, owner) = started(records.clone(), Env::system()).await;
    let held = token(&here, &owner, None).await;
    let validity = here.validity(&held);
    let there = Gateway::new(records, Env::system());
    there.token_delete(&owner, held.token_id).await.expect("revoked");
    assert_eq!(validity.has_ended(), None, "the other server told nobody");
    let ended = async { tokio::time::timeout(PATIENCE, validity.ended()).await.expect("it ends") };
    tokio::select! {
        ended = ended => assert_eq!(ended, Ended::Revoked),
        never = here.watch_tokens() => match never {},
    }
}

#[tokio::test]
async fn a_token_that_expires_ends_what_holds_it() {
    let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
    let (gateway, owner) = started(memory(), Env::with_clock(clock.clone())).await;
    let short = token(&gateway, &owner, Some(Timestamp::from_millis(1_002_000))).await;
    let validity = gateway.validity(&short);
    gateway.recheck().await.expect("looked at");
    assert_eq!(validity.has_ended(), None);
    clock.advance_millis(2_000);
    let ended = async { tokio::time::timeout(PATIENCE, validity.ended()).await.expect("it ends") };
    tokio::select! {
        ended = ended => assert_eq!(ended, Ended::Expired),
        never = gateway.watch_tokens() => match never {},
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_silent_for_long_ends_what_it_cannot_vouch_for() {
    let records = memory();
    let (gateway, owner) = started(records, Env::system()).await;
    let held = token(&gateway, &owner, None).await;
    let silent = Gateway { records: crate::memory::silent(), ..gateway };
    let validity = silent.validity(&held);
    let began = tokio::time::Instant::now();
    tokio::select! {
        ended = validity.ended() => assert_eq!(ended, Ended::Unchecked),
        never = silent.watch_tokens() => match never {},
    }
    assert!(began.elapsed() >= super::PATIENCE, "a moment of silence is no reason");
}

#[tokio::test]
async fn what_nobody_holds_is_not_looked_at() {
    let (gateway, owner) = started(memory(), Env::system()).await;
    let first = gateway.validity(&owner);
    assert_eq!(gateway.watched.live().len(), 1);
    drop(first);
    assert_eq!(gateway.watched.live().len(), 0);
}
