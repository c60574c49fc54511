//! The model gateway: the only way from a sandbox to a model.
//!
//! In: HTTP on byte streams that a sandbox's loopback listener accepted, and a [`Caller`] that says whether a run is
//! active. Out: the same requests to the provider with the real key, the answers streamed back as they arrive, and one
//! [`Exchange`] for each call, metered and recorded. Without a key the [`demo`] model answers from a script.
//! **Invariant:** nothing here knows what a session is; a real key never goes towards a sandbox, and no header or path
//! goes towards a provider that is not on a list.
//! Start with [`Gateway::serve`], then `call.rs`, the life of one call. Each wire format has a module (`anthropic`).

mod gateway;

mod call;
mod caller;
mod format;
mod http;
mod memory;
mod options;
mod price;
mod refusal;
mod secret;
mod sse;
mod upstream;

mod anthropic;
pub mod demo;

mod egress;

pub use caller::{Caller, Ending, Exchange, Feature};
pub use egress::{
    Egress, EgressCaller, EgressDecision, EgressNetwork, EgressOptions, EgressRules, EgressSlots,
    EgressStream, PrivateTargetError, PrivateTargets, RuleError, SystemNetwork, TlsNames,
};
pub use format::{CONVERSATION_HEADER, Format};
pub use gateway::{Gateway, UpstreamSummary};
pub use options::{Limits, Options, Pace, Timeouts, UpstreamOptions};
pub use price::{Price, PriceTable};
pub use secret::Secret;
pub use upstream::SetupError;
