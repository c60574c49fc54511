//! Makes an agent's lock file from what the registry says today. Done by a developer, when a pinned version changes.

use std::collections::BTreeMap;

use super::{Lock, Locked, NODE_MODULES};
use crate::{
    Agent, InstallError, Program,
    error::BoxError,
    plan::{Platform, companions, wanted},
    registry::{PackageId, Plain, Registry},
};

/// Why a lock file was not made.
#[derive(Debug, thiserror::Error)]
#[error("failed to make the lock file of `{agent}`")]
pub struct LockError {
    agent: &'static str,
    #[source]
    source: BoxError,
}

/// A lock file that was made.
pub struct LockFile {
    /// Its text: every package of the agent's pinned version, for every platform.
    pub text: String,
    /// Packages that the registry does not have. They have no hash, so they cannot be installed.
    pub missing: Vec<String>,
}

/// Makes an agent's lock file.
///
/// # Errors
/// When the registry cannot be asked, does not have the agent, or names no SHA-512 of a package.
pub async fn lock_file(agent: &Agent, registry: &str) -> Result<LockFile, LockError> {
    let failed = |source: BoxError| LockError { agent: agent.name, source };
    let lock = lock(agent, registry).await.map_err(|error| failed(error.into()))?;
    let mut text = serde_json::to_string_pretty(&lock).map_err(|error| failed(error.into()))?;
    text.push('\n');
    Ok(LockFile { text, missing: lock.without_hash() })
}

async fn lock(agent: &Agent, registry: &str) -> Result<Lock, InstallError> {
    let registry = Registry::new(registry, Plain::LoopbackOnly)?;
    let id = PackageId { name: agent.package.to_owned(), version: agent.version.to_owned() };
    let main = registry.describe(&id).await?;
    // By the name under which the agent knows them.
    let mut ids: BTreeMap<String, PackageId> = BTreeMap::new();
    for platform in Platform::ALL {
        for (name, _) in wanted(agent, &platform, |name| main.optional.contains_key(name))? {
            let version = main.optional.get(&name).map(String::as_str).unwrap_or_default();
            let problem = "it names no exact version of an optional dependency";
            let dependency = PackageId::of_dependency(&name, version)
                .ok_or_else(|| InstallError::Document { package: main.id.to_string(), problem })?;
            ids.insert(name, dependency);
        }
        ids.extend(companions(agent, &platform).map(|id| (id.name.clone(), id)));
    }
    if matches!(agent.program, Program::Node { .. }) {
        ids.insert(id.name.clone(), id.clone());
    }
    let root = Locked { dependencies: BTreeMap::from([(id.name, id.version)]), ..Locked::default() };
    let mut packages = BTreeMap::from([(String::new(), root)]);
    for (known_as, id) in ids {
        let integrity = match registry.describe(&id).await {
            Ok(described) => Some(described.integrity.to_string()),
            // A platform that the agent's authors have not published. It stays without a hash: nothing is installed there.
            Err(InstallError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let locked = Locked {
            name: Some(id.name).filter(|name| *name != known_as),
            version: Some(id.version),
            integrity,
            ..Locked::default()
        };
        packages.insert(format!("{NODE_MODULES}{known_as}"), locked);
    }
    Ok(Lock { name: agent.name.to_owned(), format: 3, packages })
}
