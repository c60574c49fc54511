use warren_domain::{ProjectId, Timestamp, TokenId};
use warren_env::{Env, ManualClock};

use super::NewToken;
use crate::{AuthenticateError, Gateway, Identity, RequestError, memory::memory};

async fn started(env: Env) -> (Gateway, Identity) {
    let gateway = Gateway::new(memory(), env);
    let owner = gateway.bootstrap(None, None).await.expect("bootstrap").secret;
    let identity = gateway.authenticate(owner.expose()).await.expect("the owner");
    (gateway, identity)
}

fn new(scope: &str) -> NewToken {
    NewToken {
        name: "ci".to_owned(),
        scope: scope.parse().expect(scope),
        expires_at: None,
        owner: None,
        plan: None,
    }
}

#[tokio::test]
async fn a_secret_is_its_token_and_nothing_else_is() {
    let nobodys = format!("wrn_{}", "0".repeat(64));
    let (gateway, owner) = started(Env::system()).await;
    let (secret, token) = gateway.token_create(&owner, new("admin:ro")).await.expect("made");
    let identity = gateway.authenticate(secret.expose()).await.expect("known");
    assert_eq!(
        identity,
        Identity {
            token_id: token.token_id,
            name: "ci".to_owned(),
            partition: owner.partition,
            scope: "admin:ro".parse().expect("a scope"),
            // A token that is nobody's is its own owner.
            owner: token.token_id.to_string(),
            plan: None,
            expires_at: None,
        }
    );
    for wrong in ["", "wrn_", &nobodys, &secret.expose()[1..], &secret.csrf()] {
        let refused = gateway.authenticate(wrong).await;
        assert!(matches!(refused, Err(AuthenticateError::Unknown)), "{wrong}");
    }
}

#[tokio::test]
async fn the_secret_itself_is_not_stored() {
    let records = memory();
    let gateway = Gateway::new(records.clone(), Env::system());
    let secret = gateway.bootstrap(None, None).await.expect("bootstrap").secret;
    let stored = format!("{:?}", records.tokens.tokens(None).await.expect("tokens"));
    assert!(!stored.contains(&secret.expose()[4..]));
}

#[tokio::test]
async fn a_revoked_token_stops_working_at_once() {
    let (gateway, owner) = started(Env::system()).await;
    let (secret, token) = gateway.token_create(&owner, new("admin")).await.expect("made");
    gateway.authenticate(secret.expose()).await.expect("works, and is in the cache now");
    gateway.token_delete(&owner, token.token_id).await.expect("revoked");
    let refused = gateway.authenticate(secret.expose()).await;
    assert!(matches!(refused, Err(AuthenticateError::Unknown)));
}

#[tokio::test]
async fn a_token_expires_although_it_is_in_the_cache() {
    let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
    let (gateway, owner) = started(Env::with_clock(clock.clone())).await;
    let short = NewToken { expires_at: Some(Timestamp::from_millis(1_002_000)), ..new("admin") };
    let (secret, token) = gateway.token_create(&owner, short).await.expect("made");
    gateway.authenticate(secret.expose()).await.expect("works");
    clock.advance_millis(2_000);
    let refused = gateway.authenticate(secret.expose()).await;
    assert!(matches!(refused, Err(AuthenticateError::Expired)));
    let gone = gateway.token_get(&owner, token.token_id).await;
    assert!(matches!(gone, Err(RequestError::NotFound { kind: "token", .. })));
}

#[tokio::test]
async fn nonsense_tokens_are_not_made() {
    let (gateway, owner) = started(Env::system()).await;
    let nameless = NewToken { name: " ".to_owned(), ..new("admin") };
    let past = NewToken { expires_at: Some(Timestamp::from_millis(1)), ..new("admin") };
    let owner_too = NewToken { name: "owner".to_owned(), ..new("admin") };
    for nonsense in [nameless, owner_too, past] {
        let refused = gateway.token_create(&owner, nonsense).await;
        assert!(matches!(refused, Err(RequestError::Invalid { .. })));
    }
    let nowhere = ProjectId(uuid::Uuid::nil());
    let refused = gateway.token_create(&owner, new(&format!("project:{nowhere}"))).await;
    assert!(matches!(refused, Err(RequestError::NotFound { kind: "project", .. })));
}

#[tokio::test]
async fn an_administrator_does_not_see_tokens_of_another_partition() {
    let (gateway, owner) = started(Env::system()).await;
    let stranger = Identity { partition: "elsewhere".into(), ..owner.clone() };
    assert_eq!(gateway.token_list(&stranger).await.expect("a list"), []);
    let refused = gateway.token_delete(&stranger, owner.token_id).await;
    assert!(matches!(refused, Err(RequestError::NotFound { kind: "token", .. })));
    let refused = gateway.token_delete(&owner, TokenId(uuid::Uuid::nil())).await;
    assert!(matches!(refused, Err(RequestError::NotFound { kind: "token", .. })));
}
