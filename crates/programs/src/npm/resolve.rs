//! Which packages a package needs, in which versions, and where node looks for each.
//!
//! As npm does it: a package goes as high up as no other version of it stands in the way.

use std::{
    collections::{BTreeMap, VecDeque},
    path::Path,
};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use semver::Version;

use super::{NpmWanted, range::Range};
use crate::{
    InstallError,
    lock::{Lock, Resolved},
    plan::Platform,
    registry::{Packument, Registry, Release},
};

/// More are no agent.
const MAX_PACKAGES: usize = 2_000;

/// Requests in flight.
const N_AT_ONCE: usize = 8;

const NODE_MODULES: &str = "node_modules/";

/// The exact version that is meant, and a lock file of all that it needs on this kind of machine.
pub(super) async fn resolve(
    wanted: &NpmWanted,
    platform: &Platform,
    registry: &Registry,
) -> Result<(String, Lock), InstallError> {
    let mut tree = Tree { platform: *platform, known: BTreeMap::new(), placed: BTreeMap::new() };
    tree.learn(registry, std::iter::once(wanted.package.as_str())).await?;
    let id = || format!("{}@{}", wanted.package, wanted.version);
    let main = tree.pick(&wanted.package, &wanted.version);
    let main = main.ok_or_else(|| InstallError::NotFound { package: id() })?.clone();
    let version = main.id.version.clone();
    let place = format!("{NODE_MODULES}{}", wanted.package);
    tree.placed.insert(place.clone(), main);
    let mut waiting = VecDeque::from([place]);
    while !waiting.is_empty() {
        // All packages of a round are asked for at once.
        let round: Vec<(String, Edge)> = waiting
            .drain(..)
            .flat_map(|place| tree.edges(&place).into_iter().map(move |edge| (place.clone(), edge)))
            .collect();
        tree.learn(registry, round.iter().filter_map(|(_, edge)| edge.package())).await?;
        for (place, edge) in round {
            waiting.extend(tree.settle(&place, &edge)?);
        }
        if tree.placed.len() > MAX_PACKAGES {
            let problem = format!("it needs more than {MAX_PACKAGES} packages");
            return Err(InstallError::Package { package: id(), problem });
        }
        if waiting.is_empty() {
            // What was put in later may stand before what others had found.
            waiting.extend(tree.misled());
        }
    }
    let resolved = tree.placed.into_iter().map(|(place, release)| {
        let known_as = place.rsplit(NODE_MODULES).next().unwrap_or_default();
        let name = Some(release.id.name.clone()).filter(|name| name != known_as);
        let locked =
            Resolved { name, version: release.id.version, integrity: release.integrity, bin: release.bin };
        (place, locked)
    });
    Ok((version.clone(), Lock::of_tree(&wanted.id, (&wanted.package, &version), resolved)))
}

/// Packages and their places.
struct Tree {
    platform: Platform,
    /// What the registry says.
    known: BTreeMap<String, Packument>,
    placed: BTreeMap<String, Release>,
}

/// What one package needs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edge {
    /// The name under which it is known.
    name: String,
    /// The range, or another package and a range of that.
    wanted: String,
    is_optional: bool,
}

impl Edge {
    /// The package in the registry, and the range.
    fn target(&self) -> (&str, &str) {
        match self.wanted.strip_prefix("npm:") {
            Some(alias) => match alias.rsplit_once('@') {
                Some((name, range)) if !name.is_empty() => (name, range),
                _ => (alias, "*"),
            },
            None => (&self.name, &self.wanted),
        }
    }

    /// The package to ask for. What comes from elsewhere than the registry is told when it is needed.
    fn package(&self) -> Option<&str> {
        let (package, range) = self.target();
        (!range.contains(':') && !range.contains('/')).then_some(package)
    }
}

impl Tree {
    /// Asks the registry about packages. One that it does not have is known to be absent.
    async fn learn<'a>(
        &mut self,
        registry: &Registry,
        packages: impl Iterator<Item = &'a str>,
    ) -> Result<(), InstallError> {
        let mut new: Vec<String> =
            packages.filter(|package| !self.known.contains_key(*package)).map(str::to_owned).collect();
        new.sort_unstable();
        new.dedup();
        let asked = new.into_iter().map(|package| async move {
            match registry.packument(&package).await {
                Err(InstallError::NotFound { .. }) => Ok((package, Packument::default())),
                found => found.map(|found| (package, found)),
            }
        });
        let found: Vec<_> = stream::iter(asked).buffer_unordered(N_AT_ONCE).try_collect().await?;
        self.known.extend(found);
        Ok(())
    }

    /// The release that a range or tag stands for: the latest if it may be, else the highest.
    fn pick(&self, package: &str, wanted: &str) -> Option<&Release> {
        let known = self.known.get(package)?;
        let release = |version: &str| known.releases.get(version);
        if let Some(tagged) = known.tags.get(wanted.trim()) {
            return release(tagged);
        }
        let range = Range::parse(wanted)?;
        let accepts = |version: &str| Version::parse(version).is_ok_and(|version| range.accepts(&version));
        if let Some(latest) = known.tags.get("latest").filter(|latest| accepts(latest)) {
            return release(latest);
        }
        let accepted = known.releases.iter().filter(|(version, _)| accepts(version));
        accepted.max_by_key(|(version, _)| Version::parse(version).ok()).map(|(_, release)| release)
    }

    fn edges(&self, place: &str) -> Vec<Edge> {
        let Some(release) = self.placed.get(place) else { return Vec::new() };
        let is_bundled = |name: &String| release.bundled.contains(name);
        let edge = |(name, wanted): (&String, &String), is_optional| Edge {
            name: name.clone(),
            wanted: wanted.clone(),
            is_optional,
        };
        let needed = release.dependencies.iter().filter(|(name, _)| !release.optional.contains_key(*name));
        let needed = needed.map(|it| edge(it, false));
        let optional = release.optional.iter().map(|it| edge(it, true));
        needed.chain(optional).filter(|edge| !is_bundled(&edge.name)).collect()
    }

    /// Puts what is needed into its place, unless it is found already. Returns the place of what is new.
    fn settle(&mut self, place: &str, edge: &Edge) -> Result<Option<String>, InstallError> {
        let (package, range) = edge.target();
        let (found, free) = self.look(place, edge);
        if found {
            return Ok(None);
        }
        let of = || self.placed.get(place).map(|it| it.id.to_string()).unwrap_or_default();
        let Some(release) = edge.package().and_then(|_| self.pick(package, range)).cloned() else {
            if edge.is_optional {
                return Ok(None);
            }
            let needs = format!("{}@{}", edge.name, edge.wanted);
            return Err(InstallError::Dependency { package: of(), needs });
        };
        if !fits(&release, &self.platform) {
            if edge.is_optional {
                return Ok(None);
            }
            let platform = self.platform.name.to_owned();
            return Err(InstallError::Platform { package: release.id.to_string(), platform });
        }
        self.placed.insert(free.clone(), release);
        Ok(Some(free))
    }

    /// Whether node finds something fitting from a place; and the highest place where nothing stands in the way.
    fn look(&self, place: &str, edge: &Edge) -> (bool, String) {
        let mut above = place;
        let mut free = format!("{place}/{NODE_MODULES}{}", edge.name);
        loop {
            let candidate = if above.is_empty() {
                format!("{NODE_MODULES}{}", edge.name)
            } else {
                format!("{above}/{NODE_MODULES}{}", edge.name)
            };
            match self.placed.get(&candidate) {
                Some(found) => return (is_met(found, edge, self.known.get(edge.target().0)), free),
                None => free = candidate,
            }
            if above.is_empty() {
                return (false, free);
            }
            above = above.rfind(NODE_MODULES).map_or("", |at| above[..at].trim_end_matches('/'));
        }
    }

    /// Packages that find something else than they need.
    fn misled(&self) -> Vec<String> {
        let is_misled = |place: &&String| {
            self.edges(place).iter().any(|edge| {
                let (found, _) = self.look(place, edge);
                let (package, range) = edge.target();
                // What is left out for this machine is no mistake.
                !found && self.pick(package, range).is_some_and(|it| fits(it, &self.platform))
            })
        };
        self.placed.keys().filter(is_misled).cloned().collect()
    }
}

/// Whether a package is what another one needs.
fn is_met(found: &Release, edge: &Edge, known: Option<&Packument>) -> bool {
    let (package, range) = edge.target();
    if found.id.name != package {
        return false;
    }
    if let Some(tagged) = known.and_then(|known| known.tags.get(range.trim())) {
        return *tagged == found.id.version;
    }
    let version = Version::parse(&found.id.version);
    Range::parse(range).zip(version.ok()).is_some_and(|(range, version)| range.accepts(&version))
}

/// Whether a package is for this kind of machine.
fn fits(release: &Release, platform: &Platform) -> bool {
    let is_allowed = |list: &[String], own: &str| {
        let refused = list.iter().any(|it| it.strip_prefix('!') == Some(own));
        let positive: Vec<&String> = list.iter().filter(|it| !it.starts_with('!')).collect();
        !refused && (positive.is_empty() || positive.iter().any(|it| *it == own || *it == "any"))
    };
    let libc = if Path::new("/etc/alpine-release").exists() { "musl" } else { "glibc" };
    is_allowed(&release.os, "linux")
        && is_allowed(&release.cpu, platform.cpu())
        && is_allowed(&release.libc, libc)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Edge, Packument, Platform, Release, Tree};
    use crate::{integrity::Hasher, registry::PackageId};

    fn release(name: &str, version: &str, needs: &[(&str, &str)]) -> Release {
        let mut hasher = Hasher::new();
        hasher.update(name.as_bytes());
        Release {
            id: PackageId { name: name.to_owned(), version: version.to_owned() },
            integrity: hasher.finish().expect("a hash"),
            bin: BTreeMap::new(),
            dependencies: needs
                .iter()
                .map(|(name, range)| ((*name).to_owned(), (*range).to_owned()))
                .collect(),
            optional: BTreeMap::new(),
            bundled: Vec::new(),
            os: Vec::new(),
            cpu: Vec::new(),
            libc: Vec::new(),
        }
    }

    fn tree(all: Vec<Release>) -> Tree {
        let mut known: BTreeMap<String, Packument> = BTreeMap::new();
        for release in all {
            let packument = known.entry(release.id.name.clone()).or_default();
            packument.tags.insert("latest".to_owned(), release.id.version.clone());
            packument.releases.insert(release.id.version.clone(), release);
        }
        Tree { platform: Platform::ALL[0], known, placed: BTreeMap::new() }
    }

    fn settle_all(tree: &mut Tree, main: &str) -> Vec<(String, String)> {
        let place = format!("node_modules/{main}");
        let release = tree.pick(main, "*").expect("there").clone();
        tree.placed.insert(place.clone(), release);
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            for edge in tree.edges(&place) {
                waiting.extend(tree.settle(&place, &edge).expect("settled"));
            }
            if waiting.is_empty() {
                waiting.extend(tree.misled());
            }
        }
        tree.placed.iter().map(|(place, it)| (place.clone(), it.id.version.clone())).collect()
    }

    fn places(expect: &[(&str, &str)]) -> Vec<(String, String)> {
        expect.iter().map(|(place, version)| ((*place).to_owned(), (*version).to_owned())).collect()
    }

    #[test]
    fn packages_go_up_and_another_version_goes_beside_the_one_that_needs_it() {
        let mut tree = tree(vec![
            release("agent", "1.0.0", &[("a", "^1.0.0"), ("x", "^1.0.0")]),
            release("a", "1.2.0", &[("x", "^2.0.0"), ("y", "*")]),
            release("x", "1.5.0", &[]),
            release("x", "2.1.0", &[]),
            release("y", "0.3.0", &[("a", "^1")]),
        ]);
        let expect = [
            ("node_modules/a", "1.2.0"),
            ("node_modules/a/node_modules/x", "2.1.0"),
            ("node_modules/agent", "1.0.0"),
            ("node_modules/x", "1.5.0"),
            ("node_modules/y", "0.3.0"),
        ];
        assert_eq!(settle_all(&mut tree, "agent"), places(&expect));
    }

    #[test]
    fn packages_of_other_machines_are_left_out_and_a_missing_one_is_named() {
        let mut main = release("agent", "1.0.0", &[]);
        main.optional = BTreeMap::from(
            [("native-x64", "1.0.0"), ("native-arm64", "1.0.0"), ("nowhere", "1.0.0")]
                .map(|(name, version)| (name.to_owned(), version.to_owned())),
        );
        let of = |name: &str, cpu: &str| Release { cpu: vec![cpu.to_owned()], ..release(name, "1.0.0", &[]) };
        let mut tree = tree(vec![main, of("native-x64", "x64"), of("native-arm64", "arm64")]);
        let expect = [("node_modules/agent", "1.0.0"), ("node_modules/native-x64", "1.0.0")];
        assert_eq!(settle_all(&mut tree, "agent"), places(&expect));
        let needed = Edge { name: "nowhere".to_owned(), wanted: "^1".to_owned(), is_optional: false };
        let error = tree.settle("node_modules/agent", &needed).expect_err("it is needed");
        assert_eq!(error.to_string(), "`agent@1.0.0` needs `nowhere@^1`, which the registry does not have");
    }
}
