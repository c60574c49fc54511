//! Tokens and sign-in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::{Timestamp, TokenId};

/// The cookie that signs a browser in; pages cannot read it.
pub const SESSION_COOKIE: &str = "warren_session";
/// The cookie that pages of ours read, to put its value into [`CSRF_HEADER`].
pub const CSRF_COOKIE: &str = "warren_csrf";
/// With a cookie, calls that change something carry the value of [`CSRF_COOKIE`] here.
pub const CSRF_HEADER: &str = "X-Warren-CSRF";

/// Creates a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenCreate {
    /// A display name.
    pub name: String,
    /// Its permissions: `admin`, `admin:ro`, `project:<id>` or `project:<id>:ro`.
    pub scope: String,
    /// When it stops working; never if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Its owner: messages of all tokens of one owner are counted together. If absent, the token is counted on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Its plan: `unpaid`, `paid` or `unlimited`; the default of its scope if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenItem {
    /// Its public name.
    pub token_id: TokenId,
    /// A display name.
    pub name: String,
    /// Its permissions.
    pub scope: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stops working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Its owner, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Its plan, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The token that this sign-in was created from: it ends with that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TokenId>,
}

/// A new token with its secret, which is shown only once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenCreated {
    /// For `Authorization: Bearer …`. It is not stored and cannot be shown again.
    pub secret: String,
    /// The token.
    #[serde(flatten)]
    pub token: TokenItem,
}

impl std::fmt::Debug for TokenCreated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCreated").field("token", &self.token).finish_non_exhaustive()
    }
}

/// All tokens, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenList {
    /// All of them.
    pub tokens: Vec<TokenItem>,
}

/// Signs a browser in with the user's token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignIn {
    /// The token. The browser gets a cookie with the same permissions, which expires after 30 days or with the token.
    pub token: String,
}

impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIn").finish_non_exhaustive()
    }
}

/// Signs a browser in, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    /// Path and query to open on this server.
    pub path: String,
    /// When the link stops working.
    pub expires_at: Timestamp,
}

/// The signed-in caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhoAmI {
    /// The caller's token, or the one behind the browser's cookie.
    pub token_id: TokenId,
    /// Its display name.
    pub name: String,
    /// Its permissions.
    pub scope: String,
    /// For browsers: the value of `X-Warren-CSRF` for requests that change something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf: Option<String>,
}
