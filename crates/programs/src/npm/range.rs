//! Ranges of versions, as npm writes them.

use semver::{Version, VersionReq};

/// Versions that a package accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    /// One of these; any version if there are none.
    either: Vec<VersionReq>,
}

impl Range {
    /// `None` for what is no range: a tag, an address, a path.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if matches!(text, "" | "*" | "x" | "X") {
            return Some(Self { either: Vec::new() });
        }
        let either = text.split("||").map(one).collect::<Option<Vec<VersionReq>>>()?;
        Some(Self { either })
    }

    pub(super) fn accepts(&self, version: &Version) -> bool {
        match self.either.as_slice() {
            [] => version.pre.is_empty(),
            either => either.iter().any(|range| range.matches(version)),
        }
    }
}

/// Conditions that all hold: `>=1.2 <3`, `1.2 - 2`, `^1`.
fn one(text: &str) -> Option<VersionReq> {
    if let Some((from, to)) = text.trim().split_once(" - ") {
        return VersionReq::parse(&format!(">={}, <={}", bare(from), bare(to))).ok();
    }
    let mut conditions = Vec::new();
    let mut operator = String::new();
    for word in text.split_whitespace() {
        let at = word.find(|c: char| !"<>=^~".contains(c)).unwrap_or(word.len());
        operator.push_str(&word[..at]);
        // The operator may stand apart from its version.
        if at == word.len() {
            continue;
        }
        conditions.push(condition(&std::mem::take(&mut operator), bare(&word[at..])));
    }
    let is_whole = operator.is_empty();
    let text = if conditions.is_empty() { "*".to_owned() } else { conditions.join(", ") };
    is_whole.then(|| VersionReq::parse(&text).ok()).flatten()
}

/// A condition with the words of Cargo, where a version alone stands for more than itself.
fn condition(operator: &str, version: &str) -> String {
    let is_partial = version.split(['-', '+']).next().is_some_and(|it| {
        it.split('.').count() < 3 || it.split('.').any(|part| matches!(part, "x" | "X" | "*"))
    });
    let version = version.replace(['x', 'X'], if is_partial { "*" } else { "x" });
    match operator {
        // `1.2` and `1.2.x` are all of 1.2.
        "" | "=" if version.contains('*') => version,
        "" | "=" if is_partial => format!("{version}.*"),
        "" => format!("={version}"),
        // With a star an operator says no more than without.
        operator => format!("{}{}", if operator == "~>" { "~" } else { operator }, version.replace(".*", "")),
    }
}

fn bare(version: &str) -> &str {
    let version = version.trim();
    version.strip_prefix('v').unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::Range;

    #[test]
    fn ranges_accept_what_npm_accepts() {
        for (range, accepted, refused) in [
            ("1.2.3", &["1.2.3"][..], &["1.2.4", "2.0.0"][..]),
            ("v1.2.3", &["1.2.3"], &["1.2.4"]),
            ("=1.2.3", &["1.2.3"], &["1.2.4"]),
            ("^1.2.3", &["1.2.3", "1.9.0"], &["1.2.2", "2.0.0", "1.3.0-beta.1"]),
            ("^0.2.3", &["0.2.9"], &["0.3.0"]),
            ("^0.0.3", &["0.0.3"], &["0.0.4"]),
            ("~1.2.3", &["1.2.9"], &["1.3.0"]),
            ("~1", &["1.9.0"], &["2.0.0"]),
            ("1.x", &["1.0.0", "1.9.9"], &["2.0.0"]),
            ("1.2.X", &["1.2.9"], &["1.3.0"]),
            ("1", &["1.9.9"], &["2.0.0", "0.9.0"]),
            ("1.2", &["1.2.0"], &["1.3.0"]),
            ("*", &["0.0.1", "9.9.9"], &["1.0.0-rc.1"]),
            ("", &["1.0.0"], &[]),
            (">=1.2.3 <2.0.0", &["1.2.3", "1.9.9"], &["2.0.0"]),
            (">= 1.2.3 < 2", &["1.2.3", "1.9.9"], &["2.0.0"]),
            ("^1.0.0 || ^2.0.0", &["1.5.0", "2.5.0"], &["3.0.0"]),
            ("1.2.3 - 2.3", &["1.2.3", "2.3.9"], &["2.4.0", "1.2.2"]),
            (">1", &["2.0.0"], &["1.9.9"]),
            ("^1.0.0-beta.2", &["1.0.0-beta.3", "1.0.0"], &["1.1.0-beta.1"]),
            ("^2.x", &["2.7.0"], &["3.0.0"]),
            ("0.12.0-next.3", &["0.12.0-next.3"], &["0.12.0"]),
        ] {
            let parsed = Range::parse(range).unwrap_or_else(|| panic!("`{range}` is a range"));
            for (versions, expect) in [(accepted, true), (refused, false)] {
                for version in versions {
                    let version = Version::parse(version).expect("a version");
                    assert_eq!(parsed.accepts(&version), expect, "`{range}` and {version}");
                }
            }
        }
    }

    #[test]
    fn tags_addresses_and_paths_are_no_ranges() {
        for text in
            ["latest", "next", "file:../x", "git+ssh://git@example.com/x.git", "https://example.com/x.tgz"]
        {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }
}
