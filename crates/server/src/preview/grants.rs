//! Ways into previews: a grant that works once becomes a cookie of one host. A link works for a while, and each visit of
//! it becomes such a grant.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::http::{HeaderMap, header};
use warren_domain::{ArtifactId, SessionId, Timestamp};
use warren_env::Env;
use warren_gateway::Secret;
use warren_runtime::api::PreviewHost;

use crate::failure::Failure;

/// The cookie that lets a browser see a preview.
pub(crate) const PREVIEW_COOKIE: &str = "warren_preview";

/// Lifetimes of a grant and of the cookie it is redeemed for.
const GRANT_MILLIS: i64 = 60_000;
const PASS_MILLIS: i64 = 12 * 3600 * 1000;

/// A link is the same for this long, and then works for as long again: a list that is read often names the same address,
/// and no address that was just read is about to expire.
const LINK_MILLIS: i64 = 30 * 60 * 1000;

/// More than this are somebody's mistake: the oldest stop working.
const MAX_GRANTS: usize = 4096;
const MAX_LINKS: usize = 16 * 1024;

/// Grants and passes of this server. In memory only: a restart ends them, and a page asks for a new one.
#[derive(Default)]
pub(crate) struct Grants(Mutex<Table>);

#[derive(Default)]
struct Table {
    offered: HashMap<String, Held>,
    passes: HashMap<String, Held>,
    links: HashMap<String, Link>,
}

/// The target of a link.
#[derive(Clone)]
pub(crate) struct Link {
    session: SessionId,
    pub(crate) artifact: ArtifactId,
    /// Its holder, checked again at every visit.
    pub(crate) secret: Secret,
    expires_at: Timestamp,
}

trait Expires {
    fn expires_at(&self) -> Timestamp;
}

impl Expires for Held {
    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

impl Expires for Link {
    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

#[derive(Clone)]
struct Held {
    host: PreviewHost,
    /// Its holder. Checked again at every request, so that a revoked token ends it.
    secret: Secret,
    path: String,
    expires_at: Timestamp,
}

impl Grants {
    /// Makes a grant for a host.
    pub(crate) fn offer(
        &self,
        env: &Env,
        now: Timestamp,
        host: PreviewHost,
        secret: Secret,
        path: &str,
    ) -> Result<(String, Timestamp), Failure> {
        let code = random(env)?;
        let expires_at = now.plus_millis(GRANT_MILLIS);
        let held = Held { host, secret, path: path.to_owned(), expires_at };
        keep(&mut self.table().offered, MAX_GRANTS, code.clone(), held, now);
        Ok((code, expires_at))
    }

    /// Uses a grant up. Gives the value of the cookie and where to go.
    pub(crate) fn redeem(
        &self,
        env: &Env,
        now: Timestamp,
        host: PreviewHost,
        code: &str,
    ) -> Result<Option<(String, String)>, Failure> {
        let offered = self.table().offered.remove(code);
        let Some(held) = offered.filter(|held| held.host == host && held.expires_at > now) else {
            return Ok(None);
        };
        let (pass, path) = (random(env)?, held.path.clone());
        let held = Held { expires_at: now.plus_millis(PASS_MILLIS), ..held };
        keep(&mut self.table().passes, MAX_GRANTS, pass.clone(), held, now);
        Ok(Some((pass, path)))
    }

    /// The grant for this host and cookie.
    pub(crate) fn admitted(&self, now: Timestamp, host: PreviewHost, pass: &str) -> Option<Secret> {
        let table = self.table();
        let held = table.passes.get(pass)?;
        (held.host == host && held.expires_at > now).then(|| held.secret.clone())
    }

    /// The code of a link to an artifact, for whoever shows this secret. The same for a while.
    pub(crate) fn link(
        &self,
        now: Timestamp,
        session: SessionId,
        artifact: ArtifactId,
        secret: &Secret,
    ) -> String {
        let period = now.as_millis().div_euclid(LINK_MILLIS);
        let said = format!("{session}/{artifact}/{period}/{}", secret.expose());
        // Made from a secret of 256 random bits: nobody else can make it, and it does not give the secret away.
        let code = blake3::derive_key("warren 2026-11 link to a preview", said.as_bytes());
        let code = blake3::Hash::from_bytes(code).to_hex().to_string();
        let mut table = self.table();
        if !table.links.contains_key(&code) {
            let expires_at = Timestamp::from_millis((period + 2) * LINK_MILLIS);
            let link = Link { session, artifact, secret: secret.clone(), expires_at };
            keep(&mut table.links, MAX_LINKS, code.clone(), link, now);
        }
        code
    }

    /// The target of a link of this session.
    pub(crate) fn linked(&self, now: Timestamp, session: SessionId, code: &str) -> Option<Link> {
        let table = self.table();
        table.links.get(code).filter(|link| link.session == session && link.expires_at > now).cloned()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep<T: Expires>(table: &mut HashMap<String, T>, max: usize, name: String, held: T, now: Timestamp) {
    table.retain(|_, held| held.expires_at() > now);
    if table.len() >= max {
        let oldest = table.iter().min_by_key(|(_, held)| held.expires_at()).map(|(name, _)| name.clone());
        oldest.map(|name| table.remove(&name));
    }
    table.insert(name, held);
}

fn random(env: &Env) -> Result<String, Failure> {
    let bytes: [u8; 32] = env.random().map_err(Failure::internal)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The cookie's value, if the browser has it.
pub(crate) fn cookie_of(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies =
        values.flat_map(|value| value.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(name, _)| *name == PREVIEW_COOKIE).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::{Grants, LINK_MILLIS};
    use warren_domain::{ArtifactId, SessionId, Timestamp};
    use warren_env::Env;
    use warren_gateway::Secret;
    use warren_runtime::api::{Behind, PreviewHost};

    #[test]
    fn a_grant_works_once_in_time_and_on_its_own_host() {
        let (env, grants, now) = (Env::system(), Grants::default(), Timestamp::from_millis(1_000));
        let session = SessionId(uuid::Uuid::nil());
        let host = PreviewHost { session, behind: Behind::Port(3000) };
        let other = PreviewHost { session, behind: Behind::Port(3001) };
        let secret = || Secret::generate(&env).expect("random");
        let offer = || grants.offer(&env, now, host, secret(), "a/b").expect("a grant").0;

        let code = offer();
        let (pass, path) = grants.redeem(&env, now, host, &code).expect("random").expect("it is good");
        assert_eq!(path, "a/b");
        assert!(grants.redeem(&env, now, host, &code).expect("random").is_none(), "a second time");
        assert!(grants.redeem(&env, now, other, &offer()).expect("random").is_none(), "on another host");
        let late = now.plus_millis(60_001);
        assert!(grants.redeem(&env, late, host, &offer()).expect("random").is_none(), "too late");

        assert!(grants.admitted(now, host, &pass).is_some());
        assert!(grants.admitted(now, other, &pass).is_none());
        assert!(grants.admitted(now.plus_millis(13 * 3600 * 1000), host, &pass).is_none());
        assert!(grants.admitted(now, host, "").is_none());
    }

    #[test]
    fn link_stays_the_same_for_a_while_and_works_only_in_its_session() {
        let (env, grants) = (Env::system(), Grants::default());
        let (session, other) = (SessionId(uuid::Uuid::nil()), SessionId(uuid::Uuid::from_u128(1)));
        let (app, page) = (ArtifactId::of(session, "outputs/web"), ArtifactId::of(session, "outputs/a.html"));
        let secret = Secret::generate(&env).expect("random");
        let now = Timestamp::from_millis(10 * LINK_MILLIS + 5);
        let code = grants.link(now, session, app, &secret);
        assert_eq!(code, grants.link(now.plus_millis(LINK_MILLIS / 2), session, app, &secret));
        assert_ne!(code, grants.link(now, session, page, &secret));
        assert_ne!(code, grants.link(now, session, app, &Secret::generate(&env).expect("random")));
        assert_ne!(code, grants.link(now.plus_millis(LINK_MILLIS), session, app, &secret));
        assert!(!code.contains(secret.expose()));

        let found = |at: Timestamp, session| grants.linked(at, session, &code).map(|link| link.artifact);
        assert_eq!(found(now, session), Some(app));
        assert_eq!(found(now.plus_millis(LINK_MILLIS), session), Some(app), "a visit does not use it up");
        assert_eq!(found(now, other), None);
        assert_eq!(found(now.plus_millis(2 * LINK_MILLIS), session), None, "too late");
        assert!(grants.linked(now, session, "").is_none());
    }
}
