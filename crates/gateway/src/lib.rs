//! Says who may do what: tokens and their scopes, sign-in, projects, profiles.
//!
//! Stands between the server, which knows HTTP, and the runtime, which knows nobody. In: a secret, and what its bearer
//! wants. Out: an [`Identity`], a yes, or a [`Denied`]; and the project and profile a new session belongs to.
//! **Invariant:** no HTTP and no SQL here, no secret is ever stored or logged, and the decision itself is a pure
//! function.
//! Start with [`authorize`], then [`Gateway::authenticate`]; what outlives a moment holds a [`Validity`].

mod authorize;
mod scope;

mod cache;
mod error;
mod gateway;
#[cfg(test)]
mod memory;
mod plans;
mod profiles;
mod projects;
mod secret;
mod sign_in;
mod tokens;
mod validity;

pub use authorize::{Action, Denied, Identity, Target, authorize};
pub use error::{AuthenticateError, RequestError};
pub use gateway::{Bootstrap, Gateway, Records};
pub use plans::{Allowance, Plan, Plans};
pub use profiles::KEPT;
pub use projects::WorkspaceChoice;
pub use scope::{Rights, Scope, ScopeError};
pub use secret::Secret;
pub use sign_in::{LINK_LIFETIME_MILLIS, Link, SIGN_IN_LIFETIME_MILLIS, SignedIn};
pub use tokens::{NewToken, Token};
pub use validity::{Ended, Validity};
