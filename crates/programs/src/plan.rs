//! Which packages an agent is made of on this machine.

use std::collections::BTreeMap;

use crate::{
    Agent, InstallError, Program,
    lock::{Lock, Placed},
    registry::{Package, PackageId, Registry},
};

/// What kind of machine this is, in the words that packages use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Platform {
    /// `linux-x64`
    pub(crate) name: &'static str,
    /// `x86_64-unknown-linux-musl`
    pub(crate) triple: &'static str,
    /// The processor is too old for what most programs are built for.
    pub(crate) is_baseline: bool,
}

/// A package that the registry has, and where its files go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) package: Package,
    pub(crate) directory: String,
}

impl Part {
    /// Asks the registry where a pinned package is.
    pub(crate) async fn locate(placed: &Placed, registry: &Registry) -> Result<Part, InstallError> {
        let package = registry.locate(&placed.pinned).await?;
        Ok(Part { package, directory: placed.directory.clone() })
    }
}

impl Platform {
    /// Every kind of machine that agents are installed on.
    pub(crate) const ALL: [Platform; 3] = [
        Platform { name: "linux-x64", triple: "x86_64-unknown-linux-musl", is_baseline: false },
        Platform { name: "linux-x64", triple: "x86_64-unknown-linux-musl", is_baseline: true },
        Platform { name: "linux-arm64", triple: "aarch64-unknown-linux-musl", is_baseline: false },
    ];

    /// This machine.
    pub(crate) fn this() -> Platform {
        #[cfg(target_arch = "aarch64")]
        return Platform { name: "linux-arm64", triple: "aarch64-unknown-linux-musl", is_baseline: false };
        #[cfg(target_arch = "x86_64")]
        return Platform {
            name: "linux-x64",
            triple: "x86_64-unknown-linux-musl",
            is_baseline: !std::arch::is_x86_feature_detected!("avx2"),
        };
        #[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
        return Platform { name: "unknown", triple: "unknown", is_baseline: false };
    }

    /// Its processor, as lock files name it: `x64`.
    pub(crate) fn cpu(&self) -> &'static str {
        self.name.rsplit('-').next().unwrap_or_default()
    }

    /// Fills in what differs between machines.
    pub(crate) fn fill(&self, text: &str) -> String {
        text.replace("{platform}", self.name).replace("{triple}", self.triple)
    }
}

/// What an agent is made of, by its lock file. The part with the program comes first.
pub(crate) fn plan(agent: &Agent, platform: &Platform, lock: &Lock) -> Result<Vec<Placed>, InstallError> {
    let place = |id: String, name: &str, directory: String| match lock.find(name)? {
        Some(pinned) => Ok(Placed { pinned, directory, bin: BTreeMap::new() }),
        None => Err(InstallError::Unpinned { package: id }),
    };
    let mut parts = Vec::new();
    if matches!(agent.program, Program::Node { .. }) {
        parts.push(place(format!("{}@{}", agent.package, agent.version), agent.package, String::new())?);
    }
    for (name, directory) in wanted(agent, platform, |name| lock.contains(name))? {
        parts.push(place(name.clone(), &name, directory)?);
    }
    for id in companions(agent, platform) {
        let part = place(id.to_string(), &id.name, format!("node_modules/{}", id.name))?;
        if part.pinned.id != id {
            return Err(InstallError::Unpinned { package: id.to_string() });
        }
        parts.push(part);
    }
    Ok(parts)
}

/// What an agent takes for granted, on this machine.
pub(crate) fn companions<'a>(
    agent: &'a Agent,
    platform: &'a Platform,
) -> impl Iterator<Item = PackageId> + 'a {
    agent
        .companions
        .iter()
        .map(|(name, version)| PackageId { name: platform.fill(name), version: (*version).to_owned() })
}

/// The optional dependencies to take of those that there are, and where they go.
pub(crate) fn wanted(
    agent: &Agent,
    platform: &Platform,
    is_there: impl Fn(&str) -> bool,
) -> Result<Vec<(String, String)>, InstallError> {
    let mut wanted = Vec::new();
    if let Program::Native { package, .. } = agent.program {
        let name = platform.fill(package);
        let baseline = format!("{name}-baseline");
        let candidates = if platform.is_baseline { vec![baseline, name] } else { vec![name] };
        let found = candidates.into_iter().find(|name| is_there(name));
        let missing = || InstallError::Platform {
            package: format!("{}@{}", agent.package, agent.version),
            platform: platform.name.to_owned(),
        };
        wanted.push((found.ok_or_else(missing)?, String::new()));
    }
    let extras = agent.extras.iter().map(|name| platform.fill(name));
    // Where node looks for them.
    let extras = extras.filter(|name| is_there(name));
    wanted.extend(extras.map(|name| (name.clone(), format!("node_modules/{name}"))));
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::{Platform, wanted};
    use crate::AGENTS;

    const OLD: Platform = Platform { name: "linux-x64", triple: "t", is_baseline: true };

    fn check(agent: &str, platform: &Platform, optional: &[&str], expect: Option<&[(&str, &str)]>) {
        let agent = AGENTS.iter().find(|row| row.name == agent).expect("in the table");
        let found = wanted(agent, platform, |name| optional.contains(&name)).ok();
        let expect = expect.map(|parts| {
            parts.iter().map(|(name, to)| ((*name).to_owned(), (*to).to_owned())).collect::<Vec<_>>()
        });
        assert_eq!(found, expect);
    }

    #[test]
    fn a_native_agent_is_the_package_for_this_machine() {
        let new = Platform { is_baseline: false, ..OLD };
        let all = ["opencode-linux-x64", "opencode-linux-x64-baseline", "opencode-darwin-arm64"];
        check("opencode", &new, &all, Some(&[("opencode-linux-x64", "")]));
        check("opencode", &OLD, &all, Some(&[("opencode-linux-x64-baseline", "")]));
        check("opencode", &OLD, &all[..1], Some(&[("opencode-linux-x64", "")]));
        check("opencode", &OLD, &all[2..], None);
    }

    #[test]
    fn what_an_agent_works_better_with_is_taken_where_there_is_any() {
        let pty = ("@lydell/node-pty", "node_modules/@lydell/node-pty");
        let native = ("@lydell/node-pty-linux-x64", "node_modules/@lydell/node-pty-linux-x64");
        check("gemini-cli", &OLD, &[pty.0, native.0, "keytar"], Some(&[pty, native]));
        check("gemini-cli", &OLD, &[pty.0], Some(&[pty]));
        check("gemini-cli", &OLD, &[], Some(&[]));
    }
}
