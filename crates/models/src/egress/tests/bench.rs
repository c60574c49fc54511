//! A sandbox's side, the proxy, and a network that is played.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    sync::mpsc,
};
use warren_env::{TaskKind, Tasks};

use crate::{
    Egress, EgressCaller, EgressDecision, EgressNetwork, EgressOptions, EgressRules, EgressSlots,
    EgressStream,
};

/// A network of scripted names. Every address answers, unless it is said to be dead or silent.
#[derive(Default)]
pub(super) struct Net {
    /// The answers to each look-up of a name, in order; the last one is repeated.
    pub(super) names: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    pub(super) dead: Vec<IpAddr>,
    pub(super) silent: Vec<IpAddr>,
    pub(super) own: Vec<IpAddr>,
}

struct Played {
    net: Net,
    seen: Arc<Mutex<Seen>>,
    arrived: mpsc::Sender<DuplexStream>,
}

/// What happened on the network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) looked_up: Vec<String>,
    pub(super) dialled: Vec<String>,
}

struct Sandbox {
    rules: Option<EgressRules>,
    slots: EgressSlots,
    decided: mpsc::Sender<EgressDecision>,
}

pub(super) struct Bench {
    egress: Egress,
    caller: Arc<Sandbox>,
    tasks: Tasks,
    seen: Arc<Mutex<Seen>>,
    decided: mpsc::Receiver<EgressDecision>,
    arrived: mpsc::Receiver<DuplexStream>,
}

impl Bench {
    pub(super) fn new(net: Net, rules: &[&str]) -> Self {
        Self::with(EgressOptions::default(), net, Some(rules), EgressSlots::default())
    }

    /// On the machine's own network.
    pub(super) fn real(options: EgressOptions) -> Self {
        let bench = Self::new(Net::default(), &[]);
        Self { egress: Egress::new(options), ..bench }
    }

    pub(super) fn with(options: EgressOptions, net: Net, rules: Option<&[&str]>, slots: EgressSlots) -> Self {
        // Both larger than what any test leaves unread; when full, the proxy would wait.
        let ((decided_to, decided), (arrived_to, arrived)) = (mpsc::channel(64), mpsc::channel(64));
        let seen = Arc::new(Mutex::new(Seen::default()));
        let network = Played { net, seen: Arc::clone(&seen), arrived: arrived_to };
        let rules = rules.map(|rules| EgressRules::parse(rules).expect("rules"));
        let caller = Arc::new(Sandbox { rules, slots, decided: decided_to });
        let egress = Egress::over(options, Arc::new(network));
        Self { egress, caller, tasks: Tasks::new(), seen, decided, arrived }
    }

    /// A connection from the sandbox.
    pub(super) fn connect(&self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (egress, caller) = (self.egress.clone(), Arc::clone(&self.caller));
        self.tasks.spawn(TaskKind::Connection, async move { egress.serve(far, caller).await });
        near
    }

    /// Sends a request and reads until the proxy closes.
    pub(super) async fn ask(&self, request: &str) -> String {
        let mut io = self.connect();
        io.write_all(request.as_bytes()).await.expect("written");
        let mut answer = String::new();
        io.read_to_string(&mut answer).await.expect("read");
        answer
    }

    /// Sends a request and reads the head of the answer.
    pub(super) async fn ask_head(&self, request: &str) -> String {
        let mut io = self.connect();
        io.write_all(request.as_bytes()).await.expect("written");
        head(&mut io).await
    }

    /// The host's end of the next connection that was dialled.
    pub(super) async fn arrived(&mut self) -> DuplexStream {
        self.arrived.recv().await.expect("somebody dials")
    }

    /// All decisions so far.
    pub(super) fn decisions(&mut self) -> Vec<EgressDecision> {
        std::iter::from_fn(|| self.decided.try_recv().ok()).collect()
    }

    pub(super) async fn next_decision(&mut self) -> EgressDecision {
        self.decided.recv().await.expect("a decision")
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().expect("whole").clone()
    }
}

#[async_trait]
impl EgressNetwork for Played {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut seen = self.seen.lock().expect("whole");
        let n = seen.looked_up.iter().filter(|before| *before == name).count();
        seen.looked_up.push(name.to_owned());
        let answers = self.net.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(answers.get(n).or(answers.last()).cloned().unwrap_or_default())
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<Box<dyn EgressStream>> {
        self.seen.lock().expect("whole").dialled.push(address.to_string());
        if self.net.dead.contains(&address.ip()) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        if self.net.silent.contains(&address.ip()) {
            std::future::pending::<()>().await;
        }
        let (near, far) = tokio::io::duplex(64 * 1024);
        self.arrived.send(far).await.map_err(|_| io::ErrorKind::ConnectionReset)?;
        Ok(Box::new(near))
    }

    fn is_own(&self, address: IpAddr) -> bool {
        self.net.own.contains(&address)
    }
}

#[async_trait]
impl EgressCaller for Sandbox {
    fn rules(&self) -> Option<EgressRules> {
        self.rules.clone()
    }

    fn slots(&self) -> &EgressSlots {
        &self.slots
    }

    async fn decided(&self, decision: EgressDecision) {
        self.decided.send(decision).await.expect("the test listens");
    }
}

pub(super) fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// A network with one name.
pub(super) fn name(name: &'static str, addresses: &[&str]) -> Net {
    Net {
        names: HashMap::from([(name, vec![addresses.iter().map(|text| ip(text)).collect()])]),
        ..Net::default()
    }
}

pub(super) fn decision(host: &str, port: u16, allowed: bool, rule: &str) -> EgressDecision {
    EgressDecision { host: host.to_owned(), port, allowed, rule: rule.to_owned() }
}

/// Reads the head of a message.
pub(super) async fn head(io: &mut DuplexStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(io.read_u8().await.expect("more of the head"));
    }
    String::from_utf8(bytes).expect("text")
}
