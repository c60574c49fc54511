//! Tokens.

use axum::http::StatusCode;
use warren_domain::TokenId;
use warren_gateway::{NewToken, RequestError};
use warren_wire::{TokenCreate, TokenCreated, TokenList};

use crate::{
    choke::Call,
    convert,
    failure::Failure,
    respond::{self, Answer},
};

pub(crate) async fn list(call: Call) -> Answer {
    let tokens = call.app().gateway().token_list(call.identity()?).await?;
    respond::ok(&TokenList { tokens: tokens.into_iter().map(convert::token).collect() })
}

pub(crate) async fn get(call: Call) -> Answer {
    let token = call.app().gateway().token_get(call.identity()?, id(&call)?).await?;
    respond::ok(&convert::token(token))
}

pub(crate) async fn create(call: Call) -> Answer {
    let wanted: TokenCreate = call.json()?;
    let scope = wanted.scope.parse().map_err(RequestError::Scope)?;
    let plan = wanted.plan.as_deref().map(str::parse).transpose()?;
    let TokenCreate { name, expires_at, owner, .. } = wanted;
    let new = NewToken { name, scope, expires_at, owner, plan };
    let (secret, token) = call.app().gateway().token_create(call.identity()?, new).await?;
    let created = TokenCreated { secret: secret.expose().to_owned(), token: convert::token(token) };
    respond::json(StatusCode::CREATED, &created)
}

pub(crate) async fn delete(call: Call) -> Answer {
    call.app().gateway().token_delete(call.identity()?, id(&call)?).await?;
    respond::nothing()
}

fn id(call: &Call) -> Result<TokenId, Failure> {
    let text = call.parameter("tokenId");
    text.parse().map_err(|_| Failure::not_found("token", text.escape_debug()))
}
