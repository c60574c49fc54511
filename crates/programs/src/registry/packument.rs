//! All versions of a package, in the short form that installers are given.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Bin, Dist, PackageId, Registry, collect};
use crate::{InstallError, integrity::Integrity};

/// The longest description of all versions of a package that is read.
const MAX_PACKUMENT: usize = 64 * 1024 * 1024;
/// The short form of a description, or another if the registry has none.
const SHORT: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";

/// What the registry says about a package in all its versions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packument {
    /// Versions by tag, such as `latest`.
    pub(crate) tags: BTreeMap<String, String>,
    /// By version.
    pub(crate) releases: BTreeMap<String, Release>,
}

/// A version of a package, and what it needs.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    pub(crate) id: PackageId,
    pub(crate) integrity: Integrity,
    pub(crate) bin: BTreeMap<String, String>,
    /// By name; those that its user must bring along too.
    pub(crate) dependencies: BTreeMap<String, String>,
    pub(crate) optional: BTreeMap<String, String>,
    /// What comes inside of it.
    pub(crate) bundled: Vec<String>,
    pub(crate) os: Vec<String>,
    pub(crate) cpu: Vec<String>,
    pub(crate) libc: Vec<String>,
}

#[derive(Deserialize)]
struct PackumentDocument {
    #[serde(default, rename = "dist-tags")]
    tags: BTreeMap<String, String>,
    /// Each is read by itself: an old one that makes no sense is in nobody's way.
    versions: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReleaseDocument {
    dist: Dist,
    #[serde(default)]
    bin: Bin,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    #[serde(default)]
    optional_dependencies: BTreeMap<String, String>,
    #[serde(default)]
    peer_dependencies: BTreeMap<String, String>,
    #[serde(default)]
    peer_dependencies_meta: BTreeMap<String, PeerMeta>,
    /// A list, or a word for all or none.
    #[serde(default)]
    bundle_dependencies: serde_json::Value,
    /// The same, by another name.
    #[serde(default)]
    bundled_dependencies: serde_json::Value,
    #[serde(default)]
    os: Words,
    #[serde(default)]
    cpu: Words,
    #[serde(default)]
    libc: Words,
}

#[derive(Deserialize)]
struct PeerMeta {
    #[serde(default)]
    optional: bool,
}

/// One word or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Several(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Words::Several(Vec::new())
    }
}

impl Words {
    fn into_list(self) -> Vec<String> {
        match self {
            Words::One(word) => vec![word],
            Words::Several(words) => words,
        }
    }
}

impl ReleaseDocument {
    /// `None` for a version without a strong hash: it cannot be installed, and so it is not chosen.
    fn into_release(self, name: &str, version: &str) -> Option<Release> {
        let is_optional = |name: &String| self.peer_dependencies_meta.get(name).is_some_and(|it| it.optional);
        let peers = self.peer_dependencies.iter().filter(|(name, _)| !is_optional(name));
        let mut dependencies = self.dependencies.clone();
        for (name, range) in peers {
            dependencies.entry(name.clone()).or_insert_with(|| range.clone());
        }
        let bundled = match [&self.bundle_dependencies, &self.bundled_dependencies]
            .into_iter()
            .find(|it| !it.is_null())
            .unwrap_or(&serde_json::Value::Null)
        {
            serde_json::Value::Bool(true) => dependencies.keys().cloned().collect(),
            serde_json::Value::Array(names) => {
                names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        };
        Some(Release {
            id: PackageId { name: name.to_owned(), version: version.to_owned() },
            integrity: Integrity::parse(self.dist.integrity.as_deref()?)?,
            bin: self.bin.by_name(name),
            dependencies,
            optional: self.optional_dependencies,
            bundled,
            os: self.os.into_list(),
            cpu: self.cpu.into_list(),
            libc: self.libc.into_list(),
        })
    }
}

impl Registry {
    /// Reads what the registry says about all versions of a package, in the short form that installers are given.
    pub(crate) async fn packument(&self, name: &str) -> Result<Packument, InstallError> {
        let id = PackageId { name: name.to_owned(), version: "*".to_owned() };
        let failed = |source| InstallError::Registry { package: name.to_owned(), source };
        let problem = "it is not a package's description";
        let broken = || InstallError::Document { package: name.to_owned(), problem };
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@/-._~".contains(&byte));
        if !is_name || name.is_empty() || name.contains("..") {
            return Err(InstallError::NotFound { package: name.to_owned() });
        }
        let url = format!("{}/{}", self.base, name.replace('/', "%2f"));
        let not_found = |error| match error {
            InstallError::NotFound { .. } => InstallError::NotFound { package: name.to_owned() },
            other => other,
        };
        let response = self.get(&url, &id, SHORT).await.map_err(not_found)?;
        let document = collect(response, MAX_PACKUMENT).await.map_err(failed)?;
        let document: PackumentDocument = serde_json::from_slice(&document).map_err(|_| broken())?;
        let releases = document.versions.into_iter().filter_map(|(version, release)| {
            let release: ReleaseDocument = serde_json::from_value(release).ok()?;
            Some((version.clone(), release.into_release(name, &version)?))
        });
        Ok(Packument { tags: document.tags, releases: releases.collect() })
    }
}
