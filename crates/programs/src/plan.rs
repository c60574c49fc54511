//! Which packages an agent is made of on this machine.

use crate::{
    Agent, InstallError, Program,
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

/// A package, and where in the agent's directory its files go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) package: Package,
    pub(crate) directory: String,
}

impl Platform {
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

    /// Fills in what differs between machines.
    pub(crate) fn fill(&self, text: &str) -> String {
        text.replace("{platform}", self.name).replace("{triple}", self.triple)
    }
}

/// Asks the registry what an agent is made of. The part with the program comes first.
pub(crate) async fn plan(
    agent: &Agent,
    platform: &Platform,
    registry: &Registry,
) -> Result<Vec<Part>, InstallError> {
    let id = PackageId { name: agent.package.to_owned(), version: agent.version.to_owned() };
    let main = registry.describe(&id).await?;
    let mut parts = Vec::new();
    for (name, directory) in wanted(agent, platform, &main)? {
        let version = main.optional.get(&name).map(String::as_str).unwrap_or_default();
        let problem = "it names no exact version of an optional dependency";
        let id = PackageId::of_dependency(&name, version)
            .ok_or_else(|| InstallError::Document { package: main.id.to_string(), problem })?;
        parts.push(Part { package: registry.describe(&id).await?, directory });
    }
    for id in companions(agent, platform) {
        let directory = format!("node_modules/{}", id.name);
        parts.push(Part { package: registry.describe(&id).await?, directory });
    }
    if matches!(agent.program, Program::Node { .. }) {
        parts.insert(0, Part { package: main, directory: String::new() });
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

/// The optional dependencies to take, and where they go.
fn wanted(agent: &Agent, platform: &Platform, main: &Package) -> Result<Vec<(String, String)>, InstallError> {
    let mut wanted = Vec::new();
    if let Program::Native { package, .. } = agent.program {
        let name = platform.fill(package);
        let baseline = format!("{name}-baseline");
        let candidates = if platform.is_baseline { vec![baseline, name] } else { vec![name] };
        let found = candidates.into_iter().find(|name| main.optional.contains_key(name));
        let missing =
            || InstallError::Platform { package: main.id.to_string(), platform: platform.name.to_owned() };
        wanted.push((found.ok_or_else(missing)?, String::new()));
    }
    let extras = agent.extras.iter().map(|name| platform.fill(name));
    // Where node looks for them.
    let extras = extras.filter(|name| main.optional.contains_key(name));
    wanted.extend(extras.map(|name| (name.clone(), format!("node_modules/{name}"))));
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::{Package, PackageId, Platform, wanted};
    use crate::{AGENTS, integrity::Hasher};

    const OLD: Platform = Platform { name: "linux-x64", triple: "t", is_baseline: true };

    fn main(optional: &[&str]) -> Package {
        Package {
            id: PackageId { name: "main".to_owned(), version: "1.0.0".to_owned() },
            tarball: String::new(),
            integrity: Hasher::new().finish().expect("a hash"),
            optional: optional.iter().map(|name| ((*name).to_owned(), "1.0.0".to_owned())).collect(),
        }
    }

    fn check(agent: &str, platform: &Platform, optional: &[&str], expect: Option<&[(&str, &str)]>) {
        let agent = AGENTS.iter().find(|row| row.name == agent).expect("in the table");
        let found = wanted(agent, platform, &main(optional)).ok();
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
