use std::sync::Arc;

use warren_domain::Timestamp;
use warren_env::{Env, ManualClock};

use super::{LINK_LIFETIME_MILLIS, MOST_OPEN_LINKS, SIGN_IN_LIFETIME_MILLIS};
use crate::{
    AuthenticateError, Gateway, Identity, NewToken, RequestError, Rights, Scope, Secret, memory::memory,
};

#[tokio::test]
async fn a_link_signs_in_once() {
    let gateway = Gateway::new(memory(), Env::system());
    let link = gateway.sign_in_link().expect("a link");
    let signed_in = gateway.sign_in(&link.code).await.expect("signed in");
    let identity = gateway.authenticate(signed_in.secret.expose()).await.expect("a token like any other");
    assert_eq!((identity.name.as_str(), identity.scope.to_string().as_str()), ("browser", "admin"));
    assert!(gateway.csrf_matches(signed_in.secret.expose(), &signed_in.csrf));
    assert!(matches!(gateway.sign_in(&link.code).await, Err(RequestError::SignInCode)));
}

#[tokio::test]
async fn a_link_and_a_sign_in_end_by_themselves() {
    let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
    let gateway = Gateway::new(memory(), Env::with_clock(clock.clone()));
    let late = gateway.sign_in_link().expect("a link");
    clock.advance_millis(LINK_LIFETIME_MILLIS);
    assert!(matches!(gateway.sign_in(&late.code).await, Err(RequestError::SignInCode)));

    let signed_in = gateway.sign_in(&gateway.sign_in_link().expect("a link").code).await.expect("signed in");
    clock.advance_millis(SIGN_IN_LIFETIME_MILLIS);
    let refused = gateway.authenticate(signed_in.secret.expose()).await;
    assert!(matches!(refused, Err(AuthenticateError::Expired)));
}

#[tokio::test]
async fn signing_out_ends_this_sign_in_and_no_other() {
    let gateway = Gateway::new(memory(), Env::system());
    let one = gateway.sign_in(&gateway.sign_in_link().expect("a link").code).await.expect("one");
    let two = gateway.sign_in(&gateway.sign_in_link().expect("a link").code).await.expect("two");
    let identity = gateway.authenticate(one.secret.expose()).await.expect("signed in");
    gateway.sign_out(&identity).await.expect("signed out");
    assert!(gateway.authenticate(one.secret.expose()).await.is_err());
    assert!(gateway.authenticate(two.secret.expose()).await.is_ok());
}

#[tokio::test]
async fn too_many_open_links_close_the_oldest() {
    let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
    let gateway = Gateway::new(memory(), Env::with_clock(clock.clone()));
    let mut links = Vec::new();
    for _ in 0..=MOST_OPEN_LINKS {
        links.push(gateway.sign_in_link().expect("a link").code);
        clock.advance_millis(1);
    }
    assert!(matches!(gateway.sign_in(&links[0]).await, Err(RequestError::SignInCode)));
    assert!(gateway.sign_in(&links[1]).await.is_ok());
}

#[tokio::test]
async fn a_token_signs_a_browser_in_as_far_as_the_token_goes_and_no_longer() {
    let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
    let gateway = Gateway::new(memory(), Env::with_clock(clock.clone()));
    let owner = gateway.sign_in(&gateway.sign_in_link().expect("a link").code).await.expect("signed in");
    let owner = gateway.authenticate(owner.secret.expose()).await.expect("the owner");
    let new = NewToken {
        name: "guest".to_owned(),
        scope: Scope::Admin(Rights::ReadOnly),
        expires_at: None,
        owner: None,
        plan: None,
    };
    let (token, _) = gateway.token_create(&owner, new).await.expect("a token");
    let shown = gateway.authenticate(token.expose()).await.expect("the guest");

    let signed_in = gateway.sign_in_as(&shown).await.expect("signed in");
    let browser = gateway.authenticate(signed_in.secret.expose()).await.expect("the browser");
    assert_eq!((browser.name.as_str(), browser.scope), ("guest", Scope::Admin(Rights::ReadOnly)));
    assert_ne!(browser.token_id, shown.token_id);
    gateway.sign_out(&browser).await.expect("signed out");
    assert!(gateway.authenticate(token.expose()).await.is_ok(), "the token goes on");

    let again = gateway.sign_in_as(&shown).await.expect("signed in");
    clock.advance_millis(SIGN_IN_LIFETIME_MILLIS);
    assert!(matches!(gateway.authenticate(again.secret.expose()).await, Err(AuthenticateError::Expired)));
}

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A gateway on a clock that is set by hand, its owner, and an administrator's token that expires then.
async fn with_token(expires_at: Option<i64>) -> (Gateway, Arc<ManualClock>, Identity, Secret) {
    let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
    let gateway = Gateway::new(memory(), Env::with_clock(clock.clone()));
    let owner = gateway.bootstrap(None, None).await.expect("bootstrap").secret;
    let owner = gateway.authenticate(owner.expose()).await.expect("the owner");
    let new = NewToken {
        name: "guest".to_owned(),
        scope: Scope::Admin(Rights::ReadWrite),
        expires_at: expires_at.map(|millis| Timestamp::from_millis(1_000_000 + millis)),
        owner: None,
        plan: None,
    };
    let (token, _) = gateway.token_create(&owner, new).await.expect("a token");
    (gateway, clock, owner, token)
}

async fn exchange(gateway: &Gateway, secret: &Secret) -> Secret {
    let shown = gateway.authenticate(secret.expose()).await.expect("it works");
    gateway.sign_in_as(&shown).await.expect("signed in").secret
}

#[tokio::test]
async fn a_sign_in_expires_with_its_token_if_that_is_sooner() {
    let (gateway, clock, _, token) = with_token(Some(4_000)).await;
    let browser = exchange(&gateway, &token).await;
    let shown = gateway.authenticate(token.expose()).await.expect("it works");
    let link = gateway.sign_in_link_for(&shown).expect("a link");
    let linked = gateway.sign_in(&link.code).await.expect("signed in").secret;
    clock.advance_millis(3_999);
    for secret in [&token, &browser, &linked] {
        gateway.authenticate(secret.expose()).await.expect("it works to the last");
    }
    clock.advance_millis(1);
    for secret in [&token, &browser, &linked] {
        let refused = gateway.authenticate(secret.expose()).await;
        assert!(matches!(refused, Err(AuthenticateError::Expired)));
    }
}

#[tokio::test]
async fn a_sign_in_that_is_exchanged_again_and_again_lives_no_longer() {
    let (gateway, clock, _, token) = with_token(None).await;
    let mut browser = exchange(&gateway, &token).await;
    for _ in 0..29 {
        clock.advance_millis(DAY);
        browser = exchange(&gateway, &browser).await;
    }
    gateway.authenticate(browser.expose()).await.expect("the thirtieth day");
    clock.advance_millis(DAY);
    let refused = gateway.authenticate(browser.expose()).await;
    assert!(matches!(refused, Err(AuthenticateError::Expired)));
    gateway.authenticate(token.expose()).await.expect("the token goes on");
}

#[tokio::test]
async fn revoking_a_token_ends_what_was_made_from_it_at_any_depth() {
    let (gateway, _, owner, token) = with_token(None).await;
    let shown = gateway.authenticate(token.expose()).await.expect("it works");
    let first = exchange(&gateway, &token).await;
    let second = exchange(&gateway, &first).await;
    let linked = gateway.sign_in_link_for(&shown).expect("a link");
    let linked = gateway.sign_in(&linked.code).await.expect("signed in").secret;
    let unused = gateway.sign_in_link_for(&shown).expect("a link");
    for secret in [&first, &second, &linked] {
        gateway.authenticate(secret.expose()).await.expect("it works, and is in the cache now");
    }
    let listed = gateway.token_list(&owner).await.expect("tokens");
    assert_eq!(listed.iter().filter(|one| one.parent == Some(shown.token_id)).count(), 2);

    gateway.token_delete(&owner, shown.token_id).await.expect("revoked");
    for secret in [&token, &first, &second, &linked] {
        let refused = gateway.authenticate(secret.expose()).await;
        assert!(matches!(refused, Err(AuthenticateError::Unknown)));
    }
    assert!(matches!(gateway.sign_in(&unused.code).await, Err(RequestError::SignInCode)));
    // A request that was let in before cannot make a sign-in after.
    assert!(matches!(gateway.sign_in_as(&shown).await, Err(RequestError::Revoked)));
}
