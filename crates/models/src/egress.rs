//! The egress proxy: the only way from a sandbox to anything else than a model.
//!
//! In: HTTP/1.1 on byte streams that a sandbox's loopback listener accepted, as to a forward proxy: whole URLs for plain
//! HTTP, CONNECT for the rest. Out: connections to what the rules allow, and one [`EgressDecision`] for each request,
//! told before anything is dialled.
//! A name is looked up once, here, and only if a rule allows it; the addresses are checked and exactly those are dialled.
//! Start with [`Egress::serve`], then `decide.rs`; `address.rs` and `host.rs` are what it all rests on.

mod decide;
mod refusal;

mod forward;
mod tunnel;

mod address;
mod hello;
mod host;
mod network;
mod rules;
mod watch;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::{Method, Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
};

use crate::http::StreamError;
use host::Target;
use refusal::Refusal;
use tunnel::Tunnel;
use watch::{Activity, Watched};

use network::NoNetwork;
pub use network::{EgressNetwork, EgressStream, SystemNetwork};
pub use rules::{EgressRules, PrivateTargetError, PrivateTargets, RuleError};

/// The longest head of a request or an answer.
const MAX_HEAD: usize = 64 * 1024;

type Body = UnsyncBoxBody<Bytes, StreamError>;

/// One sandbox, as the proxy sees it.
#[async_trait]
pub trait EgressCaller: Send + Sync {
    /// What may be reached now, besides what the operator allows to all. `None`: no run is active, so nothing may.
    fn rules(&self) -> Option<EgressRules>;

    /// The sandbox's connections: the same for all of them.
    fn slots(&self) -> &EgressSlots;

    /// Told of each decision exactly once, before it takes effect: the request waits for this.
    async fn decided(&self, decision: EgressDecision);
}

/// Whether something may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressDecision {
    /// The host, in its canonical spelling; IPv6 addresses in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The answer.
    pub allowed: bool,
    /// What decided: the rule that allows it, as it was written; or, in words, what forbids it.
    pub rule: String,
}

/// How many connections one sandbox may have at a time.
#[derive(Debug, Clone)]
pub struct EgressSlots(Arc<Semaphore>);

/// What the proxy is told when it is made.
#[derive(Debug, Clone)]
pub struct EgressOptions {
    /// What every sandbox may reach.
    pub allow: EgressRules,
    /// Exact places that may be reached although their addresses are not public.
    pub allow_private: PrivateTargets,
    /// Where this server itself listens: never reached, whatever is allowed.
    pub listeners: Vec<SocketAddr>,
    /// For a name to be looked up.
    pub resolve_timeout: Duration,
    /// For each address to be dialled, and for a TLS greeting to arrive.
    pub connect_timeout: Duration,
    /// A connection on which nothing moves for this long is closed.
    pub idle_timeout: Duration,
    /// Whether the name in a TLS greeting on port 443 must be the one that was asked for.
    pub tls_names: TlsNames,
}

/// Whether TLS greetings are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsNames {
    /// The name must be that of the CONNECT; a greeting that hides it is refused.
    Checked,
    /// Any bytes may go through a tunnel.
    Unchecked,
}

/// The way to the rest of the world. A cheap clone.
#[derive(Clone)]
pub struct Egress {
    inner: Arc<Inner>,
}

struct Inner {
    options: EgressOptions,
    network: Arc<dyn EgressNetwork>,
}

impl Default for EgressOptions {
    fn default() -> Self {
        Self {
            allow: EgressRules::default(),
            allow_private: PrivateTargets::default(),
            listeners: Vec::new(),
            resolve_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(5),
            tls_names: TlsNames::Checked,
        }
    }
}

impl EgressSlots {
    /// At most `connections` at a time; one more is answered with 503 and closed.
    #[must_use]
    pub fn new(connections: usize) -> Self {
        Self(Arc::new(Semaphore::new(connections)))
    }

    fn take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}

impl Default for EgressSlots {
    /// More than a package manager opens, and few enough to leave room among the sandbox's streams.
    fn default() -> Self {
        Self::new(64)
    }
}

impl Egress {
    /// The proxy on this machine's network.
    #[must_use]
    pub fn new(options: EgressOptions) -> Self {
        Self::over(options, Arc::new(SystemNetwork))
    }

    /// The proxy on another network.
    #[must_use]
    pub fn over(options: EgressOptions, network: Arc<dyn EgressNetwork>) -> Self {
        Self { inner: Arc::new(Inner { options, network }) }
    }

    /// The same proxy, with the same rules, on no network: what is allowed is decided and told, and nobody answers.
    #[must_use]
    pub fn unplugged(&self) -> Self {
        Self::over(self.inner.options.clone(), Arc::new(NoNetwork))
    }

    /// Serves a forward proxy on one byte stream that came from a sandbox's loopback listener, until it closes or falls
    /// silent. Dropping this future closes everything that belongs to it.
    pub async fn serve<IO>(&self, io: IO, caller: Arc<dyn EgressCaller>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let slot = caller.slots().take();
        let activity = Activity::default();
        let io = Watched::new(io, activity.clone());
        tokio::select! {
            () = self.converse(io, caller, slot.is_some()) => {}
            // All that moves, moves on the sandbox's side too, so this is the only place that has to look.
            () = activity.silence(self.inner.options.idle_timeout) => {
                tracing::debug!("a connection fell silent and was closed");
            }
        }
    }

    /// Requests, one after the other; then the tunnel, if one of them opened it.
    async fn converse<IO>(&self, io: IO, caller: Arc<dyn EgressCaller>, has_slot: bool)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // One place, and never full: a connection becomes a tunnel once, and has no requests afterwards.
        let (tunnels, mut opened) = mpsc::channel(1);
        let service = service_fn(|request| {
            let (caller, tunnels) = (Arc::clone(&caller), tunnels.clone());
            async move {
                let answered = if has_slot {
                    self.handle(request, &*caller, &tunnels).await
                } else {
                    Err(Refusal::Busy)
                };
                Ok::<_, std::convert::Infallible>(answered.unwrap_or_else(Refusal::into_response))
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.inner.options.idle_timeout)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(io), service)
            .with_upgrades();
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended early");
        }
        if let Ok(tunnel) = opened.try_recv() {
            let tunnel: Tunnel = tunnel;
            tunnel.run(&*caller).await;
        }
    }

    async fn handle(
        &self,
        mut request: Request<Incoming>,
        caller: &dyn EgressCaller,
        tunnels: &mpsc::Sender<Tunnel>,
    ) -> Result<Response<Body>, Refusal> {
        if request.method() != Method::CONNECT {
            let target = Target::of_request(request.uri())?;
            let upstream = self.reach(&target, caller).await?;
            return forward::forward(request, &target, upstream).await;
        }
        let target = Target::of_connect(request.uri())?;
        let upstream = self.reach(&target, caller).await?;
        let options = &self.inner.options;
        let tunnel = Tunnel {
            sandbox: hyper::upgrade::on(&mut request),
            upstream,
            checked: (options.tls_names == TlsNames::Checked && target.port == 443).then_some(target),
            greeting_timeout: options.connect_timeout,
        };
        // The receiver lives as long as the connection, and the place is free.
        tunnels.try_send(tunnel).map_err(|_| Refusal::Busy)?;
        Ok(Response::new(Body::default()))
    }
}

#[cfg(test)]
mod tests;
