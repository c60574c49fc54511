//! The gateway itself, and how it begins.

use std::sync::Arc;

use warren_domain::{AgentProfile, Partition, ProfileId};
use warren_env::Env;
use warren_store::{Profiles, Projects, Store, Tokens};

use crate::{
    RequestError,
    cache::Cache,
    plans::Plans,
    scope::{Rights, Scope},
    secret::Secret,
    sign_in::Codes,
    tokens::NewToken,
    validity::Watched,
};

/// The token that the server makes for its owner, of which there is one; of servers that share their records, each has one
/// with its own name behind it.
pub(crate) const OWNER: &str = "owner";

/// What the gateway keeps its records in.
#[derive(Clone)]
#[expect(missing_docs, reason = "each field is the contract of its type")]
pub struct Records {
    pub tokens: Arc<dyn Tokens>,
    pub projects: Arc<dyn Projects>,
    pub profiles: Arc<dyn Profiles>,
}

/// Says who may do what. A cheap clone.
#[derive(Clone)]
pub struct Gateway {
    pub(crate) records: Records,
    pub(crate) env: Env,
    pub(crate) cache: Arc<Cache>,
    pub(crate) codes: Arc<Codes>,
    pub(crate) plans: Plans,
    pub(crate) watched: Arc<Watched>,
}

/// What the owner of the server needs to come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bootstrap {
    /// The administrator's secret.
    pub secret: Secret,
    /// It was made just now: keep it where only the owner can read it, and show it.
    pub is_new: bool,
}

impl From<&Store> for Records {
    fn from(store: &Store) -> Self {
        Self {
            tokens: store.tokens.clone(),
            projects: store.projects.clone(),
            profiles: store.profiles.clone(),
        }
    }
}

impl Gateway {
    /// A gateway on these records.
    #[must_use]
    pub fn new(records: Records, env: Env) -> Self {
        Self {
            records,
            env,
            cache: Arc::default(),
            codes: Arc::default(),
            plans: Plans::default(),
            watched: Arc::default(),
        }
    }

    /// The same with other plans.
    #[must_use]
    pub fn with_plans(self, plans: Plans) -> Self {
        Self { plans, ..self }
    }

    /// Makes what must be there from the first start: the default project and profile, and the owner's token.
    ///
    /// `kept` is the secret the owner kept from an earlier start. If it still works it stays; if it is lost, a new one
    /// takes the place of the old, which stops working. `node` is this server's name among those that share its records, if
    /// any do: what another one's owner kept goes on working.
    ///
    /// # Errors
    /// When the records cannot be read or written, or there is no randomness.
    pub async fn bootstrap(&self, node: Option<&str>, kept: Option<&str>) -> Result<Bootstrap, RequestError> {
        let partition = Partition::default_partition();
        self.project_default(&partition).await?;
        self.profile_default(&partition).await?;
        self.tokens_sweep(&partition).await?;
        if let Some(secret) = kept.and_then(Secret::parse)
            && self.is_admin(&secret).await
        {
            return Ok(Bootstrap { secret, is_new: false });
        }
        let name = node.map_or_else(|| OWNER.to_owned(), |node| format!("{OWNER}@{node}"));
        self.tokens_revoke_named(&partition, &name).await?;
        let scope = Scope::Admin(Rights::ReadWrite);
        let owner = Some(OWNER.to_owned());
        let new = NewToken { name, scope, expires_at: None, owner, plan: None };
        let (secret, _) = self.token_mint(&partition, new, None).await?;
        Ok(Bootstrap { secret, is_new: true })
    }

    async fn is_admin(&self, secret: &Secret) -> bool {
        let identity = self.authenticate(secret.expose()).await;
        identity.is_ok_and(|identity| identity.scope == Scope::Admin(Rights::ReadWrite))
    }

    async fn profile_default(&self, partition: &Partition) -> Result<(), RequestError> {
        let id = ProfileId::from("default");
        let found =
            self.records.profiles.profile(partition, None, &id).await.map_err(RequestError::Backend)?;
        if found.is_none() {
            let profile = AgentProfile { name: Some("Default".to_owned()), ..AgentProfile::empty(id) };
            self.records.profiles.put_profile(partition, &profile).await.map_err(RequestError::Backend)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{AuthenticateError, Gateway, memory::memory};
    use warren_env::Env;

    #[tokio::test]
    async fn the_first_start_makes_the_one_owner_token_and_later_starts_keep_it() {
        let records = memory();
        let first = Gateway::new(records.clone(), Env::system()).bootstrap(None, None).await.expect("first");
        assert!(first.is_new);
        let second = Gateway::new(records.clone(), Env::system());
        let kept = second.bootstrap(None, Some(first.secret.expose())).await.expect("second");
        assert_eq!((kept.is_new, &kept.secret), (false, &first.secret));
        assert_eq!(records.tokens.tokens(None).await.expect("tokens").len(), 1);
    }

    #[tokio::test]
    async fn a_lost_owner_token_is_replaced_and_stops_working() {
        let gateway = Gateway::new(memory(), Env::system());
        let lost = gateway.bootstrap(None, None).await.expect("first").secret;
        gateway.authenticate(lost.expose()).await.expect("it works, and is in the cache now");
        let found = gateway.bootstrap(None, Some("wrn_nonsense")).await.expect("second");
        assert!(found.is_new);
        let refused = gateway.authenticate(lost.expose()).await;
        assert!(matches!(refused, Err(AuthenticateError::Unknown)));
    }
    #[tokio::test]
    async fn servers_that_share_their_records_each_have_an_owner_token() {
        let records = memory();
        let first = Gateway::new(records.clone(), Env::system());
        let second = Gateway::new(records.clone(), Env::system());
        let kept = first.bootstrap(Some("one"), None).await.expect("first").secret;
        let other = second.bootstrap(Some("two"), None).await.expect("second").secret;
        first.authenticate(kept.expose()).await.expect("it still works");
        let again = second.bootstrap(Some("two"), None).await.expect("second").secret;
        for (secret, works) in [(&kept, true), (&other, false), (&again, true)] {
            let fresh = Gateway::new(records.clone(), Env::system());
            assert_eq!(fresh.authenticate(secret.expose()).await.is_ok(), works);
        }
    }
}
