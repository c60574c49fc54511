//! From a target to a connection: the rules, the name's addresses, the decision, and only then the dialling.

use std::net::{IpAddr, SocketAddr};

use tokio::time::timeout;

use super::{
    Egress, EgressCaller, EgressDecision, EgressStream,
    address::special,
    host::{Host, Target},
    refusal::Refusal,
};

/// More addresses of one name than this are not tried.
const MAX_ADDRESSES: usize = 8;

const BY_OPERATOR: &str = "egress.allow_private";

/// A target that the rules allow.
struct Allowed {
    rule: String,
    /// The operator allowed this very host and port, wherever it is.
    may_be_private: bool,
}

impl Egress {
    /// Decides about `target`, tells the caller, and connects.
    pub(super) async fn reach(
        &self,
        target: &Target,
        caller: &dyn EgressCaller,
    ) -> Result<Box<dyn EgressStream>, Refusal> {
        let (decision, outcome) = match self.decide(target, caller).await {
            Ok((allowed, addresses)) => (decision(target, true, allowed.rule), Ok(addresses)),
            Err(Verdict::Unknown { rule, refusal }) => (decision(target, true, rule), Err(refusal)),
            Err(Verdict::Forbidden { why }) => {
                (decision(target, false, why.clone()), Err(Refusal::forbidden(target, why)))
            }
        };
        caller.decided(decision).await;
        self.dial(target, outcome?).await
    }

    async fn decide(
        &self,
        target: &Target,
        caller: &dyn EgressCaller,
    ) -> Result<(Allowed, Vec<SocketAddr>), Verdict> {
        let allowed = self.rule(target, caller)?;
        let addresses = match &target.host {
            Host::Address(address) => vec![*address],
            // Not before a rule allowed it: a look-up tells the name's owner that somebody asked.
            Host::Name(name) => self.resolve(name).await.map_err(|problem| Verdict::Unknown {
                rule: allowed.rule.clone(),
                refusal: Refusal::Unreachable { target: target.clone(), problem },
            })?,
        };
        let addresses = self.dialable(target, &addresses, allowed.may_be_private)?;
        Ok((allowed, addresses))
    }

    fn rule(&self, target: &Target, caller: &dyn EgressCaller) -> Result<Allowed, Verdict> {
        let options = &self.inner.options;
        let forbidden = |why: &str| Verdict::Forbidden { why: why.to_owned() };
        let granted = caller.rules().ok_or_else(|| forbidden("no run is active"))?;
        if options.allow_private.contain(target) {
            return Ok(Allowed { rule: BY_OPERATOR.to_owned(), may_be_private: true });
        }
        match granted.find(target).or_else(|| options.allow.find(target)) {
            Some(rule) => Ok(Allowed { rule: rule.to_owned(), may_be_private: false }),
            None => Err(forbidden("no rule allows it")),
        }
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, &'static str> {
        match timeout(self.inner.options.resolve_timeout, self.inner.network.resolve(name)).await {
            Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
            Ok(Ok(_)) => Err("the name has no address"),
            Ok(Err(error)) => {
                tracing::debug!(name, %error, "a name was not resolved");
                Err("the name cannot be resolved")
            }
            Err(_) => Err("the name was not resolved in time"),
        }
    }

    /// Those of a target's addresses that may be dialled; a target without any is forbidden.
    fn dialable(
        &self,
        target: &Target,
        addresses: &[IpAddr],
        may_be_private: bool,
    ) -> Result<Vec<SocketAddr>, Verdict> {
        let mut forbidden = None;
        let mut dialable = Vec::new();
        for ip in addresses.iter().take(MAX_ADDRESSES) {
            let address = SocketAddr::new(*ip, target.port);
            match self.forbids(address, may_be_private) {
                Some(why) => forbidden = forbidden.or(Some(why)),
                None => dialable.push(address),
            }
        }
        match forbidden {
            Some(why) if dialable.is_empty() => Err(Verdict::Forbidden { why: why.to_owned() }),
            _ => Ok(dialable),
        }
    }

    /// What forbids an address, whatever the rules say about its name.
    fn forbids(&self, address: SocketAddr, may_be_private: bool) -> Option<&'static str> {
        if self.is_listener(address) {
            return Some("this server listens there");
        }
        if may_be_private {
            return None;
        }
        special(address.ip())
            .map(super::address::Special::describe)
            .or_else(|| self.inner.network.is_own(address.ip()).then_some("this machine's own address"))
    }

    fn is_listener(&self, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        self.inner.options.listeners.iter().filter(|listener| listener.port() == address.port()).any(
            |listener| {
                let listens_at = listener.ip().to_canonical();
                // One that listens everywhere is reached through any address of this machine; and the unspecified address
                // reaches one that listens on loopback.
                let is_everywhere = listens_at.is_unspecified() || ip.is_unspecified();
                listens_at == ip || is_everywhere && (is_here(ip) || self.inner.network.is_own(ip))
            },
        )
    }

    /// Connects to the first of the addresses that answers. They were checked: nothing is looked up again.
    async fn dial(
        &self,
        target: &Target,
        addresses: Vec<SocketAddr>,
    ) -> Result<Box<dyn EgressStream>, Refusal> {
        let mut problem = "nobody answers there";
        for address in addresses {
            match timeout(self.inner.options.connect_timeout, self.inner.network.dial(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => tracing::debug!(%target, %address, %error, "could not connect"),
                Err(_) => problem = "nobody answered in time",
            }
        }
        Err(Refusal::Unreachable { target: target.clone(), problem })
    }
}

fn is_here(ip: IpAddr) -> bool {
    ip.is_loopback() || ip.is_unspecified()
}

/// Why nothing is dialled.
enum Verdict {
    Forbidden {
        why: String,
    },
    /// A rule allows it, but there is nothing to dial.
    Unknown {
        rule: String,
        refusal: Refusal,
    },
}

pub(super) fn decision(target: &Target, allowed: bool, rule: String) -> EgressDecision {
    EgressDecision { host: target.host.to_string(), port: target.port, allowed, rule }
}
