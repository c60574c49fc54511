//! Who may depend on whom.

use anyhow::Result;

use super::{Finding, Repository};
use crate::workspace::Package;

/// What a crate may use: these, or all that stand before it.
enum Uses {
    Only(&'static [&'static str]),
    Anything,
}

use Uses::{Anything, Only};

/// Who may depend on whom, in data-flow order. Adding an arrow is a design change: say why in an ADR.
const ALLOWED: &[(&str, Uses)] = &[
    ("domain", Only(&[])),
    ("config", Only(&[])),
    ("link", Only(&[])),
    ("guest-api", Only(&[])),
    ("tree", Only(&[])),
    ("env", Only(&["domain"])),
    ("agents", Only(&["domain"])),
    ("wire", Only(&["domain"])),
    ("guest", Only(&["domain", "guest-api", "link", "tree"])),
    ("sandbox", Only(&["env", "guest-api", "link"])),
    ("store", Only(&["domain", "env"])),
    ("snapshots", Only(&["domain", "env", "tree"])),
    ("models", Only(&["domain", "env"])),
    ("programs", Only(&["env"])),
    ("runtime", Only(&["domain", "env", "agents", "guest-api", "sandbox", "snapshots", "store", "models"])),
    ("gateway", Only(&["domain", "env", "store"])),
    ("server", Only(&["domain", "env", "gateway", "runtime", "wire"])),
    ("embed", Anything),
    ("testkit", Anything),
    ("warren", Anything),
    ("xtask", Only(&[])),
];

/// Tests may also use this one, wherever they are.
const FOR_TESTS: &str = "testkit";

/// Tests that look further than the code they test: a fake runtime needs a real log to be followed.
const FURTHER_FOR_TESTS: &[(&str, &str)] = &[("server", "store")];

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    Ok(repository.workspace.members().flat_map(check_package).collect())
}

fn check_package(package: &Package) -> Vec<Finding> {
    let name = short(&package.name);
    let Some((_, uses)) = ALLOWED.iter().find(|(row, _)| *row == name) else {
        return vec![Finding::new(&package.name, "not in the table of arrows in `xtask/src/tidy/arrows.rs`")];
    };
    let ours = package.dependencies.iter().filter(|dependency| is_ours(&dependency.name));
    let forbidden = ours.filter(|dependency| {
        let target = short(&dependency.name);
        let is_for_tests = dependency.kind.as_deref() == Some("dev");
        !uses.allow(target)
            && !(is_for_tests
                && (target == FOR_TESTS || target == name || FURTHER_FOR_TESTS.contains(&(name, target))))
    });
    forbidden
        .map(|dependency| {
            let kind = dependency.kind.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
            Finding::new(&package.name, format_args!("must not depend on `{}`{kind}", dependency.name))
        })
        .collect()
}

impl Uses {
    fn allow(&self, name: &str) -> bool {
        match self {
            Only(names) => names.contains(&name),
            Anything => true,
        }
    }
}

/// `warren-store` is `store` in the table; the application is `warren` in both.
fn short(package: &str) -> &str {
    package.strip_prefix("warren-").unwrap_or(package)
}

fn is_ours(package: &str) -> bool {
    package == "warren" || package == "xtask" || package.starts_with("warren-")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::workspace::Dependency;

    #[track_caller]
    fn check(name: &str, dependencies: &[(&str, Option<&str>)], expect: &[&str]) {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: kind.map(str::to_owned) })
            .collect();
        let package = Package {
            id: name.to_owned(),
            name: name.to_owned(),
            manifest_path: PathBuf::from("/nowhere/Cargo.toml"),
            dependencies,
            targets: Vec::new(),
        };
        let found: Vec<String> = check_package(&package).iter().map(Finding::to_string).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn an_arrow_in_the_table_and_a_stranger_are_fine() {
        check("warren-store", &[("warren-domain", None), ("sqlx", None)], &[]);
    }

    #[test]
    fn an_arrow_not_in_the_table_is_found_whatever_its_kind() {
        check("warren-domain", &[("warren-env", None)], &["warren-domain: must not depend on `warren-env`"]);
        check(
            "warren-link",
            &[("warren-domain", Some("build")), ("warren-env", Some("dev"))],
            &[
                "warren-link: must not depend on `warren-domain` (build)",
                "warren-link: must not depend on `warren-env` (dev)",
            ],
        );
    }

    #[test]
    fn only_tests_may_use_the_testkit() {
        check("warren-store", &[("warren-testkit", Some("dev"))], &[]);
        check(
            "warren-store",
            &[("warren-testkit", None)],
            &["warren-store: must not depend on `warren-testkit`"],
        );
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_found() {
        check(
            "warren-utils",
            &[],
            &["warren-utils: not in the table of arrows in `xtask/src/tidy/arrows.rs`"],
        );
    }

    #[test]
    fn every_arrow_of_the_table_points_to_an_earlier_row() {
        for (row, (name, uses)) in ALLOWED.iter().enumerate() {
            let earlier: Vec<&str> = ALLOWED[..row].iter().map(|(name, _)| *name).collect();
            if let Only(targets) = uses {
                assert!(targets.iter().all(|target| earlier.contains(target)), "{name}");
            }
        }
    }
}
