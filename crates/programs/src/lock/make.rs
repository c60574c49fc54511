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
    lock_of_version(agent, agent.version, &Platform::ALL, &registry).await
}

/// Makes the lock file of any version of an agent, for these kinds of machines.
pub(crate) async fn lock_of_version(
    agent: &Agent,
    version: &str,
    platforms: &[Platform],
    registry: &Registry,
) -> Result<Lock, InstallError> {
    let id = PackageId { name: agent.package.to_owned(), version: version.to_owned() };
    let main = registry.describe(&id).await?;
    let id = main.id.clone();
    let mut is_script = matches!(agent.program, Program::Node { .. });
    // By the name under which the agent knows them.
    let mut ids: BTreeMap<String, PackageId> = BTreeMap::new();
    for platform in platforms {
        let parts = match wanted(agent, platform, |name| main.optional.contains_key(name)) {
            // Some versions have no native program: their package is one for node, or brings all platforms along.
            Err(InstallError::Platform { .. }) if !main.bin.is_empty() => {
                is_script = true;
                Vec::new()
            }
            parts => parts?,
        };
        for (name, _) in parts {
            let version = main.optional.get(&name).map(String::as_str).unwrap_or_default();
            let problem = "it names no exact version of an optional dependency";
            let dependency = PackageId::of_dependency(&name, version)
                .ok_or_else(|| InstallError::Document { package: main.id.to_string(), problem })?;
            ids.insert(name, dependency);
        }
        ids.extend(companions(agent, platform).map(|id| (id.name.clone(), id)));
    }
    if is_script {
        ids.insert(id.name.clone(), id.clone());
    }
    let root = Locked { dependencies: BTreeMap::from([(id.name, id.version)]), ..Locked::default() };
    let mut packages = BTreeMap::from([(String::new(), root)]);
    for (known_as, id) in ids {
        let locked = locked(&known_as, id, registry).await?;
        packages.insert(format!("{NODE_MODULES}{known_as}"), locked);
    }
    Ok(Lock { name: agent.name.to_owned(), format: 3, packages })
}

async fn locked(known_as: &str, id: PackageId, registry: &Registry) -> Result<Locked, InstallError> {
    let (integrity, bin) = match registry.describe(&id).await {
        Ok(described) => (Some(described.integrity.to_string()), described.bin),
        // A platform that the agent's authors have not published. It stays without a hash: nothing is installed there.
        Err(InstallError::NotFound { .. }) => (None, BTreeMap::new()),
        Err(error) => return Err(error),
    };
    Ok(Locked {
        name: Some(id.name).filter(|name| *name != known_as),
        version: Some(id.version),
        integrity,
        bin,
        ..Locked::default()
    })
}
