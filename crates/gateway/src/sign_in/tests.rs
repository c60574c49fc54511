use warren_domain::Timestamp;
use warren_env::{Env, ManualClock};

use super::{LINK_LIFETIME_MILLIS, MOST_OPEN_LINKS, SIGN_IN_LIFETIME_MILLIS};
use crate::{AuthenticateError, Gateway, NewToken, RequestError, Rights, Scope, memory::memory};

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
