//! The npm registry, as far as an installation needs it.

mod packument;

use std::{collections::BTreeMap, fmt, net::IpAddr, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use reqwest::{Client, Response, StatusCode, Url, header, redirect};
use serde::Deserialize;

pub(crate) use packument::{Packument, Release};

use crate::{InstallError, error::BoxError, integrity::Integrity, lock::Pinned};

/// The longest description of a package that is read.
const MAX_DOCUMENT: usize = 4 * 1024 * 1024;
/// What is asked for: anything.
const ANY: &str = "*/*";
/// Where descriptions say that tarballs are, whatever registry they were copied to.
const PUBLIC: &str = "https://registry.npmjs.org";

const PLAIN_HTTP: &str = "it uses plain HTTP, which anyone on the network can modify";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Between two pieces of an answer.
const SILENCE: Duration = Duration::from_secs(60);

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 10;

/// Where plain HTTP is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// On this machine alone.
    LoopbackOnly,
    /// Everywhere: the operator trusts the network to the registry.
    Anywhere,
}

impl Plain {
    fn accepts(self, url: &Url) -> bool {
        let is_loopback = || match url.host_str() {
            Some("localhost") => true,
            Some(host) => host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|it| it.is_loopback()),
            None => false,
        };
        match url.scheme() {
            "https" => true,
            "http" => self == Plain::Anywhere || is_loopback(),
            _ => false,
        }
    }
}

/// A registry.
#[derive(Clone)]
pub(crate) struct Registry {
    base: String,
    plain: Plain,
    client: Client,
}

/// A package in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageId {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// A package that can be downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) id: PackageId,
    pub(crate) tarball: String,
    /// The hash that it must have.
    pub(crate) integrity: Integrity,
}

/// What the registry says about a package in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) id: PackageId,
    pub(crate) tarball: String,
    pub(crate) integrity: Integrity,
    /// Packages that it may come with, by the name under which it knows them.
    pub(crate) optional: BTreeMap<String, String>,
    /// Its programs, by name.
    pub(crate) bin: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Document {
    version: String,
    dist: Dist,
    #[serde(default)]
    bin: Bin,
    #[serde(default, rename = "optionalDependencies")]
    optional: BTreeMap<String, String>,
}

/// A package's programs: one with the package's name, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bin {
    One(String),
    Several(BTreeMap<String, String>),
}

impl Bin {
    /// A program without a name of its own has that of its package, without the scope.
    fn by_name(self, package: &str) -> BTreeMap<String, String> {
        match self {
            Bin::One(file) => {
                BTreeMap::from([(package.rsplit('/').next().unwrap_or_default().to_owned(), file)])
            }
            Bin::Several(bin) => bin,
        }
    }
}

impl Default for Bin {
    fn default() -> Self {
        Bin::Several(BTreeMap::new())
    }
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
    pub(crate) fn new(base: &str, plain: Plain) -> Result<Self, InstallError> {
        let refused = |problem: &'static str| InstallError::Address { address: shown(base), problem };
        let url = Url::parse(base).map_err(|_| refused("it is not a URL"))?;
        if !plain.accepts(&url) {
            return Err(refused(PLAIN_HTTP));
        }
        // A registry that is asked by TLS must not send us on to one that is not.
        let follow = redirect::Policy::custom(move |attempt| {
            if attempt.previous().len() > MAX_REDIRECTS {
                attempt.error("too many redirects")
            } else if plain.accepts(attempt.url()) {
                attempt.follow()
            } else {
                attempt.error(PLAIN_HTTP)
            }
        });
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(SILENCE)
            .redirect(follow)
            .user_agent(concat!("warren/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|source| InstallError::Registry { package: shown(base), source: source.into() })?;
        Ok(Self { base: base.trim_end_matches('/').to_owned(), plain, client })
    }

    /// Asks where a pinned package is. What the registry says about its content counts for nothing but an early no.
    pub(crate) async fn locate(&self, pinned: &Pinned) -> Result<Package, InstallError> {
        let described = self.describe(&pinned.id).await?;
        if described.integrity != pinned.integrity {
            return Err(InstallError::integrity(&pinned.id, pinned.integrity, Some(described.integrity)));
        }
        Ok(Package { id: pinned.id.clone(), tarball: described.tarball, integrity: pinned.integrity })
    }

    /// Reads what the registry says about a package.
    pub(crate) async fn describe(&self, id: &PackageId) -> Result<Description, InstallError> {
        // The slash of a scope is part of the name, not of the path.
        let url = format!("{}/{}/{}", self.base, id.name.replace('/', "%2f"), id.version);
        let failed = |source| InstallError::Registry { package: id.to_string(), source };
        let response = self.get(&url, id, ANY).await?;
        let document = collect(response, MAX_DOCUMENT).await.map_err(failed)?;
        let broken = |problem| InstallError::Document { package: id.to_string(), problem };
        let document: Document =
            serde_json::from_slice(&document).map_err(|_| broken("it is not a package's description"))?;
        let integrity = document.dist.integrity.as_deref().and_then(Integrity::parse);
        let integrity = integrity.ok_or_else(|| broken("it has no SHA-512"))?;
        // A tag, such as `latest`, stands for one version.
        let found = PackageId::of_dependency(&id.name, &document.version);
        let found = found.ok_or_else(|| broken("it names no exact version of its own"))?;
        Ok(Description {
            bin: document.bin.by_name(&id.name),
            id: found,
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
        let response = self.get(&package.tarball, &package.id, ANY).await?;
        let length = response.content_length();
        Ok((length, response.bytes_stream().map(|piece| piece.map_err(BoxError::from))))
    }

    async fn get(&self, url: &str, id: &PackageId, accept: &str) -> Result<Response, InstallError> {
        let failed = |source: reqwest::Error| InstallError::Registry {
            package: id.to_string(),
            // Without the address: it may hold a password.
            source: source.without_url().into(),
        };
        let url = Url::parse(url).map_err(|_| InstallError::Document {
            package: id.to_string(),
            problem: "the address of its tarball is not a URL",
        })?;
        if !self.plain.accepts(&url) {
            return Err(InstallError::Address { address: shown(url.as_str()), problem: PLAIN_HTTP });
        }
        let response = self.client.get(url).header(header::ACCEPT, accept).send().await.map_err(failed)?;
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

/// An address without the password that may be in it.
fn shown(address: &str) -> String {
    match Url::parse(address) {
        Ok(url) => url.origin().ascii_serialization(),
        Err(_) => "agents.registry".to_owned(),
    }
}

async fn collect(response: Response, max_length: usize) -> Result<Vec<u8>, BoxError> {
    let mut pieces = response.bytes_stream();
    let mut document = Vec::new();
    while let Some(piece) = pieces.next().await {
        document.extend_from_slice(&piece.map_err(reqwest::Error::without_url)?);
        if document.len() > max_length {
            return Err("the description is too long".into());
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::{PackageId, Plain, Registry};

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
        let registry = Registry::new("http://127.0.0.1:4873/npm/", Plain::LoopbackOnly).expect("a client");
        let url = |tarball: &str| registry.tarball_url(tarball.to_owned());
        assert_eq!(url("https://registry.npmjs.org/a/-/a-1.tgz"), "http://127.0.0.1:4873/npm/a/-/a-1.tgz");
        assert_eq!(url("https://cdn.example.org/a-1.tgz"), "https://cdn.example.org/a-1.tgz");
    }

    #[test]
    fn plain_http_is_accepted_from_loopback_or_if_the_operator_says_so() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        for url in
            ["https://npm.example.org", "http://localhost:1", "http://127.3.2.1", "http://[::1]:4873/npm"]
        {
            assert!(Registry::new(url, Plain::LoopbackOnly).is_ok(), "{url}");
        }
        let plain =
            ["http://npm.example.org", "http://10.0.0.1", "http://localhost.example.org", "http://0.0.0.0"];
        for url in plain {
            assert!(Registry::new(url, Plain::LoopbackOnly).is_err(), "{url}");
            assert!(Registry::new(url, Plain::Anywhere).is_ok(), "{url}");
        }
        for url in ["ftp://127.0.0.1", "file:///x", "npm.example.org", ""] {
            assert!(Registry::new(url, Plain::Anywhere).is_err(), "{url}");
        }
        let error =
            Registry::new("http://me:hidden@npm.example.org/x", Plain::LoopbackOnly).err().expect("refused");
        assert_eq!(
            error.to_string(),
            "the registry `http://npm.example.org` is refused: it uses plain HTTP, which anyone on the network can modify"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("agents.allow_http_registry")), "{error:?}");
    }
}
