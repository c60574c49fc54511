//! A scan and a writing whose other half is elsewhere, over one stream of bytes.
//!
//! One side has the files ([`serve_scan`], [`serve_write`]: the guest), the other the store. Each says [`Message`]s: a byte for
//! the kind, four for the length, then the payload.
//!
//! ```text
//! a scan                                        a writing
//! store  Scan, Base …, Go                       store  Write, Directory …, PlanEnd
//! files  Ask ⇄ Lacking, Chunks, Found, Notice   files  Fetch ⇄ Content
//! files  Done | Failed                          files  Seen …, Done | Failed
//! ```
//!
//! Both end when the store's side ends the stream.

mod base;
mod message;
mod serve;

pub use base::{RemoteBase, encode_base};
pub use message::{HEADER, MAX_MESSAGE, Message, parse_header};
pub use serve::{serve_scan, serve_write};
