//! The npm registry, as far as an installation needs it.

use std::{collections::BTreeMap, fmt, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;

use crate::{InstallError, error::BoxError, integrity::Integrity};

/// The longest description of a package that is read.
const MAX_DOCUMENT: usize = 4 * 1024 * 1024;
/// Where descriptions say that tarballs are, whatever registry they were copied to.
const PUBLIC: &str = "https://registry.npmjs.org";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Between two pieces of an answer.
const SILENCE: Duration = Duration::from_secs(60);

/// A registry.
#[derive(Clone)]
pub(crate) struct Registry {
    base: String,
    client: Client,
}

/// A package in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageId {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// What the registry says about a package in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) id: PackageId,
    pub(crate) tarball: String,
    pub(crate) integrity: Integrity,
    /// Packages that it may come with, by the name under which it knows them.
    pub(crate) optional: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Document {
    dist: Dist,
    #[serde(default, rename = "optionalDependencies")]
    optional: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Dist {
    tarball: String,
    integrity: Option<String>,
}

impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

impl PackageId {
    /// Reads a dependency as a package names it: an exact version, or `npm:other-name@version`.
    pub(crate) fn of_dependency(name: &str, wanted: &str) -> Option<PackageId> {
        let (name, version) = match wanted.strip_prefix("npm:") {
            Some(alias) => alias.rsplit_once('@')?,
            None => (name, wanted),
        };
        // Ranges are not pinned, so nothing that is installed here may have one.
        let is_exact = version.starts_with(|first: char| first.is_ascii_digit())
            && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte));
        (is_exact && !name.is_empty())
            .then(|| PackageId { name: name.to_owned(), version: version.to_owned() })
    }
}

impl Registry {
    pub(crate) fn new(base: &str) -> Result<Self, BoxError> {
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(SILENCE)
            .user_agent(concat!("warren/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { base: base.trim_end_matches('/').to_owned(), client })
    }

    /// Reads what the registry says about a package.
    pub(crate) async fn describe(&self, id: &PackageId) -> Result<Package, InstallError> {
        // The slash of a scope is part of the name, not of the path.
        let url = format!("{}/{}/{}", self.base, id.name.replace('/', "%2f"), id.version);
        let failed = |source| InstallError::Registry { package: id.to_string(), source };
        let response = self.get(&url, id).await?;
        let document = collect(response).await.map_err(failed)?;
        let broken = |problem| InstallError::Document { package: id.to_string(), problem };
        let document: Document =
            serde_json::from_slice(&document).map_err(|_| broken("it is not a package's description"))?;
        let integrity = document.dist.integrity.as_deref().and_then(Integrity::parse);
        let integrity = integrity.ok_or_else(|| broken("it has no SHA-512"))?;
        Ok(Package {
            id: id.clone(),
            tarball: self.tarball_url(document.dist.tarball),
            integrity,
            optional: document.optional,
        })
    }

    /// Starts to get a package: its length, if the registry says so, and its bytes as they come.
    pub(crate) async fn download(
        &self,
        package: &Package,
    ) -> Result<(Option<u64>, impl Stream<Item = Result<Bytes, BoxError>> + use<>), InstallError> {
        let response = self.get(&package.tarball, &package.id).await?;
        let length = response.content_length();
        Ok((length, response.bytes_stream().map(|piece| piece.map_err(BoxError::from))))
    }

    async fn get(&self, url: &str, id: &PackageId) -> Result<Response, InstallError> {
        let failed = |source: reqwest::Error| InstallError::Registry {
            package: id.to_string(),
            // Without the address: it may hold a password.
            source: source.without_url().into(),
        };
        let response = self.client.get(url).send().await.map_err(failed)?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(InstallError::NotFound { package: id.to_string() });
        }
        response.error_for_status().map_err(failed)
    }

    /// Registries that copy the public one often leave its address in the descriptions; npm replaces it too.
    fn tarball_url(&self, tarball: String) -> String {
        match tarball.strip_prefix(PUBLIC) {
            Some(path) if path.starts_with('/') => format!("{}{path}", self.base),
            _ => tarball,
        }
    }
}

async fn collect(response: Response) -> Result<Vec<u8>, BoxError> {
    let mut pieces = response.bytes_stream();
    let mut document = Vec::new();
    while let Some(piece) = pieces.next().await {
        document.extend_from_slice(&piece.map_err(reqwest::Error::without_url)?);
        if document.len() > MAX_DOCUMENT {
            return Err("the description is too long".into());
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::{PackageId, Registry};

    #[test]
    fn a_dependency_is_an_exact_version_maybe_of_a_package_with_another_name() {
        let of = |wanted| PackageId::of_dependency("@a/b-linux-x64", wanted).map(|id| id.to_string());
        assert_eq!(of("1.2.3").as_deref(), Some("@a/b-linux-x64@1.2.3"));
        assert_eq!(of("npm:@a/b@1.2.3-linux-x64").as_deref(), Some("@a/b@1.2.3-linux-x64"));
        for range in ["^1.2.3", "*", "latest", ">=1", "", "1 || 2", "npm:@1.0.0", "1.0.0/../x", "file:x"] {
            assert_eq!(of(range), None, "{range}");
        }
    }

    #[test]
    fn a_copy_of_the_public_registry_is_asked_for_what_it_copied() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let registry = Registry::new("http://127.0.0.1:4873/npm/").expect("a client");
        let url = |tarball: &str| registry.tarball_url(tarball.to_owned());
        assert_eq!(url("https://registry.npmjs.org/a/-/a-1.tgz"), "http://127.0.0.1:4873/npm/a/-/a-1.tgz");
        assert_eq!(url("https://cdn.example.org/a-1.tgz"), "https://cdn.example.org/a-1.tgz");
    }
}
