//! Speaks HTTP: REST, server-sent events and the web page, in front of the gateway and the runtime.
//!
//! In: requests. Out: what the runtime recorded, as [`warren_wire`] shapes it; every failure as a problem document.
//! A request passes the edge (request id, `Host`, `Origin`, panics), then the one choke point (who are you, may you),
//! and only then a handler, which turns it into one operation.
//! **Invariant:** a handler is reached through the choke point or not at all, because only the choke point can make the
//! `Call` it takes; and nothing here knows SQL or sandbox backends.
//! Start with [`router`], then `choke::enter`, then any file of `handlers`.

mod deps;
mod router;
mod serve;

mod choke;
mod edge;
mod registry;

mod accept;
mod archive;
mod body;
mod compress;
mod cookies;
mod cors;
mod failure;
mod file_answer;
mod form;
mod hosts;
mod query;
mod respond;
mod rest;
mod socket;
mod sse;
mod upload;

mod preview;

mod convert;
mod error_pages;
mod handlers;
mod page;

pub use deps::{Advice, Deps, Options, RenderMetrics};
pub use router::router;
pub use serve::{ServeOptions, serve};
