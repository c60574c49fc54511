//! Anthropic's Messages API, streaming, over plain HTTP on the sandbox's loopback.

mod client;
mod error;
mod event;

pub(super) use client::{Client, ClientError};
pub(super) use error::ApiError;
pub(super) use event::{ApiEvent, ApiUsage, ContentBlock, Delta};
