//! The list of what may be reached.

use std::{fmt, sync::Arc};

use super::host::{Host, Target, parse_port};

/// What may be reached where a rule names no port.
const USUAL_PORTS: [u16; 2] = [80, 443];

/// What a sandbox may reach: nothing that no rule allows. A cheap clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressRules {
    rules: Arc<[Rule]>,
}

/// One rule: `example.com`, `*.example.com` or an address, each with `:port` or for ports 80 and 443.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// As it was written, for those who are told which rule decided.
    text: String,
    hosts: Hosts,
    /// `None`: the usual ones.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    One(Host),
    /// Every name that ends with this, which begins with a dot.
    Below(String),
}

/// Why a rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{rule}` is not a valid egress rule")]
pub struct RuleError {
    /// The rule as it was written.
    pub rule: String,
}

impl RuleError {
    /// What a rule looks like.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        "write `example.com`, `*.example.com` or an address, with `:port` for ports other than 80 and 443"
    }
}

impl EgressRules {
    /// Reads a list of rules.
    ///
    /// # Errors
    /// When one of them is no rule.
    pub fn parse<S: AsRef<str>>(rules: impl IntoIterator<Item = S>) -> Result<Self, RuleError> {
        let rules = rules.into_iter().map(|rule| Rule::parse(rule.as_ref()));
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }

    /// What these rules or those allow.
    #[must_use]
    pub fn and(&self, others: &EgressRules) -> EgressRules {
        EgressRules { rules: self.rules.iter().chain(others.rules.iter()).cloned().collect() }
    }

    /// The first rule that allows `target`.
    pub(super) fn find(&self, target: &Target) -> Option<&str> {
        self.rules.iter().find(|rule| rule.allows(target)).map(|rule| rule.text.as_str())
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Rule, RuleError> {
        let refused = || RuleError { rule: text.to_owned() };
        let (hosts, port) = match text.trim().rsplit_once(':') {
            Some((hosts, port)) if !port.ends_with(']') => {
                (hosts, Some(parse_port(port).ok_or_else(refused)?))
            }
            _ => (text.trim(), None),
        };
        let hosts = Hosts::parse(hosts).ok_or_else(refused)?;
        Ok(Rule { text: text.trim().to_owned(), hosts, port })
    }

    fn allows(&self, target: &Target) -> bool {
        let is_port = match self.port {
            Some(port) => port == target.port,
            None => USUAL_PORTS.contains(&target.port),
        };
        is_port && self.hosts.contain(&target.host)
    }
}

impl Hosts {
    fn parse(text: &str) -> Option<Hosts> {
        let Some(suffix) = text.strip_prefix("*.") else { return Host::parse(text).map(Hosts::One) };
        match Host::parse(suffix)? {
            Host::Name(name) => Some(Hosts::Below(format!(".{name}"))),
            // Nothing is below an address.
            Host::Address(_) => None,
        }
    }

    fn contain(&self, host: &Host) -> bool {
        match (self, host) {
            (Hosts::One(one), host) => one == host,
            // The part before the suffix is never empty: a host's name does not begin with a dot.
            (Hosts::Below(suffix), Host::Name(name)) => name.ends_with(suffix.as_str()),
            (Hosts::Below(_), Host::Address(_)) => false,
        }
    }
}

/// Exact places that the operator lets sandboxes reach although their addresses are not public.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivateTargets {
    targets: Vec<Target>,
}

impl PrivateTargets {
    /// Reads a list of `host:port`.
    ///
    /// # Errors
    /// When one of them is something else: a pattern, or a host without a port.
    pub fn parse<S: AsRef<str>>(targets: impl IntoIterator<Item = S>) -> Result<Self, PrivateTargetError> {
        let read = |text: S| {
            let text = text.as_ref().trim();
            Target::parse(text).ok_or_else(|| PrivateTargetError { target: text.to_owned() })
        };
        Ok(Self { targets: targets.into_iter().map(read).collect::<Result<_, _>>()? })
    }

    pub(super) fn contain(&self, target: &Target) -> bool {
        self.targets.contains(target)
    }
}

/// Why a place cannot be allowed although it is private.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{target}` is not an exact host with a port")]
pub struct PrivateTargetError {
    /// What was written.
    pub target: String,
}

impl PrivateTargetError {
    /// What can be written.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        "write one host or address with its port, such as `10.0.0.5:8080`"
    }
}

impl fmt::Display for EgressRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.rules.iter().map(|rule| rule.text.as_str()).collect();
        f.write_str(&texts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{EgressRules, PrivateTargets, Target};

    #[track_caller]
    fn check(rules: &[&str], target: &str, expect: Option<&str>) {
        let rules = EgressRules::parse(rules).expect("rules");
        assert_eq!(rules.find(&Target::parse(target).expect("a target")), expect, "{target}");
    }

    #[test]
    fn nothing_is_allowed_that_no_rule_allows() {
        check(&[], "example.com:443", None);
        check(&["example.com"], "example.org:443", None);
        check(&["example.com"], "a.example.com:443", None);
        check(&["example.com"], "example.com.evil.org:443", None);
        check(&["example.com"], "notexample.com:443", None);
    }

    #[test]
    fn a_name_is_allowed_in_any_spelling_on_the_usual_ports() {
        let rule = ["Example.com."];
        check(&rule, "example.com:443", Some("Example.com."));
        check(&rule, "EXAMPLE.COM.:80", Some("Example.com."));
        check(&rule, "example.com:8080", None);
        check(&["bücher.example"], "xn--bcher-kva.example:443", Some("bücher.example"));
    }

    #[test]
    fn a_star_stands_for_one_or_more_labels_and_not_for_none() {
        let rule = ["*.example.com"];
        check(&rule, "a.example.com:443", Some("*.example.com"));
        check(&rule, "a.b.example.com:443", Some("*.example.com"));
        check(&rule, "example.com:443", None);
        check(&rule, "badexample.com:443", None);
    }

    #[test]
    fn a_port_is_that_port_only() {
        check(&["example.com:8443"], "example.com:8443", Some("example.com:8443"));
        check(&["example.com:8443"], "example.com:443", None);
        check(&["[2606:4700::1111]:853"], "[2606:4700:0::1111]:853", Some("[2606:4700::1111]:853"));
        check(&["1.1.1.1"], "0x01010101:443", Some("1.1.1.1"));
    }

    #[test]
    fn the_first_rule_that_allows_is_the_one_that_decided() {
        check(&["x.org", "*.example.com", "a.example.com"], "a.example.com:443", Some("*.example.com"));
    }

    #[test]
    fn what_could_be_meant_otherwise_is_no_rule() {
        let bad = [
            "*",
            "*:443",
            "",
            "http://a.com",
            "a.com/x",
            "*.1.2.3.4",
            "a.*.com",
            "**.a.com",
            "a.com:0",
            "a.com:",
            "a.com:+80",
            "a.com:99999",
            "user@a.com",
        ];
        for rule in bad {
            let error = EgressRules::parse([rule]).expect_err(rule);
            assert_eq!(error.to_string(), format!("`{rule}` is not a valid egress rule"));
        }
    }

    #[test]
    fn only_an_exact_host_with_a_port_can_be_private() {
        for target in ["10.0.0.5", "*.internal:80", "10.0.0.0/8:80", "db:"] {
            assert!(PrivateTargets::parse([target]).is_err(), "{target}");
        }
        let targets = PrivateTargets::parse(["10.0.0.5:8080", "Db.internal:5432"]).expect("targets");
        let has = |text| targets.contain(&Target::parse(text).expect("a target"));
        assert!(has("10.0.5:8080") && has("db.internal.:5432"));
        assert!(!has("10.0.0.5:80") && !has("10.0.0.6:8080"));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail_and_a_rule_allows_what_it_names(text in "\\PC{0,40}", port in 1_u16..) {
            if let Some(target) = Target::parse(&format!("{text}:{port}")) {
                let rule = target.to_string();
                let rules = EgressRules::parse([&rule]).expect("a canonical target is a rule");
                prop_assert_eq!(rules.find(&target), Some(rule.as_str()));
            }
            let _ = EgressRules::parse([&text]);
        }
    }
}
