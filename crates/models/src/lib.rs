//! The model gateway: the only way from a sandbox to a model.
//!
//! In: HTTP on byte streams that a sandbox's loopback listener accepted, and a [`Caller`] that says whether a run is
//! active. Out: the same requests to the provider with the real key, the answers streamed back as they arrive, and one
//! [`Exchange`] for each call, metered and recorded. Without a key the [`demo`] model answers from a script.
//! [`Overrides`] may say at any time that somebody else answers.
//! A caller with a [`Budget`] is asked before a call goes out, and told afterwards what it used.
//! **Invariant:** nothing here knows what a session is; a real key never goes towards a sandbox, and no header or path
//! goes towards a provider that is not on a list.
//! Start with [`Gateway::serve`], then `call.rs`, the life of one call. `format.rs` says what a wire
//! format must know; each has a module (`anthropic`, `gemini`, `openai_chat`, `openai_responses`).

mod gateway;

mod allowed;
mod attempts;
mod base_url;
mod budget;
mod call;
mod caller;
mod estimate;
mod format;
mod headers;
mod http;
mod inspect;
mod memory;
mod meter;
mod offered;
mod options;
mod overrides;
mod price;
mod refusal;
mod seal;
mod secret;
mod sse;
mod upstream;
mod window;

mod anthropic;
mod gemini;
mod openai;
mod openai_chat;
mod openai_responses;

pub mod demo;

mod replay;

mod egress;

pub use allowed::{AllowedModels, ModelLists, ModelPattern, ModelPatternError};
pub use base_url::{BaseUrlError, checked_base_url};
pub use budget::{Budget, BudgetLimits, Charge, Quote, Settlement, Shortage, Unaffordable};
pub use caller::{Caller, Ending, Exchange, Feature, NotRecorded, Starting};
pub use egress::{
    Egress, EgressCaller, EgressDecision, EgressNetwork, EgressOptions, EgressRules, EgressSlots,
    EgressStream, PrivateTargetError, PrivateTargets, RuleError, SystemNetwork, TlsNames,
};
pub use format::{CONVERSATION_HEADER, Format};
pub use gateway::{Gateway, Offer, UpstreamSummary};
pub use offered::{OfferError, OfferedModel};
pub use options::{Limits, Options, Pace, Timeouts, UpstreamOptions};
pub use overrides::Overrides;
pub use price::{Basis, PRICE_LISTS, Price, PriceList, PriceQuote, PriceTable};
pub use refusal::RefusalKind;
pub use replay::{
    Divergence, DivergenceKind, Lane, Lanes, Moments, NORMALISED, NORMALISED_OUTPUT, Packed, Place, Playback,
    PlaybackReport, Prepared, Progress, Recording, RecordingError, Recordings, ToolDifference, normal_text,
    said, unified_diff,
};
pub use seal::{OpenSealError, SealError, SealingKey};
pub use secret::Secret;
pub use upstream::SetupError;
pub use window::context_window;
