//! One TLS stack: rustls on ring. A second one costs minutes of build and a second set of advisories.

use anyhow::Result;

use super::{Finding, Repository};

/// Crates whose presence means another stack has slipped in, by somebody's default features.
const OTHERS: &[&str] =
    &["aws-lc-rs", "aws-lc-sys", "openssl", "openssl-sys", "native-tls", "boring", "boring-sys"];

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let names = repository.workspace.packages.iter().map(|package| package.name.as_str());
    Ok(others(names))
}

fn others<'a>(packages: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    packages
        .filter(|name| OTHERS.contains(name))
        .map(|name| {
            let message =
                format!("a second TLS stack; `cargo tree -i {name} --all-features` says who brought it");
            Finding::new(name, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_tls_stack_is_found_and_ours_is_not() {
        assert_eq!(others(["ring", "rustls", "tokio"].into_iter()), []);
        let found = others(["ring", "aws-lc-rs"].into_iter());
        assert_eq!(found.iter().map(|finding| finding.place.as_str()).collect::<Vec<_>>(), ["aws-lc-rs"]);
    }
}
