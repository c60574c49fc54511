//! One byte stream made into many: either side opens streams, each with its own flow control.
//!
//! In: any `AsyncRead + AsyncWrite` (a socketpair, the attached stdio of a container). Out: [`Stream`]s, each of
//! which begins with an opaque header that says what it is for, and stops early only with an error.
//! **Invariant:** link does not know what is carried, spawns no task, and holds a bounded amount of memory whatever
//! the peer sends: the peer of a sandbox's link is hostile.
//! Start with [`start`], then the [`Driver`]'s `poll`; `meter.rs` is what keeps a greedy peer cheap.
//!
//! The multiplexing is [yamux](https://github.com/hashicorp/yamux/blob/master/spec.md). Laid upon it:
//! - the side that is opened to answers one *accept byte* at once, so that opening takes one round trip or fails,
//!   and never waits for the program behind the stream;
//! - a stream past the limit is reset, not the whole link;
//! - what the peer sends and nobody reads is counted with its overhead, and reset when it is too much;
//! - an end of file is only reported where the peer really ended the stream: a reset or a lost link is an error.

mod driver;
mod incoming;
mod io;
mod meter;
mod open;
mod options;
mod stream;

pub use driver::{Driver, LinkError, start};
pub use incoming::Incoming;
pub use open::{OpenError, Opener};
pub use options::{MAX_HEADER, Options, Role};
pub use stream::Stream;
