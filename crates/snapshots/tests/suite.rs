//! Trees, there and back again.
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]

#[path = "suite/bucket.rs"]
mod bucket;
#[path = "suite/collection.rs"]
mod collection;
#[path = "suite/damage.rs"]
mod damage;
#[path = "suite/ground.rs"]
mod ground;
#[path = "suite/hostile.rs"]
mod hostile;
#[path = "suite/moving.rs"]
mod moving;
#[path = "suite/overlaying.rs"]
mod overlaying;
#[path = "suite/reading.rs"]
mod reading;
#[path = "suite/roundtrip.rs"]
mod roundtrip;
#[path = "suite/storages.rs"]
mod storages;
#[path = "suite/stream.rs"]
mod stream;
#[path = "suite/two_servers.rs"]
mod two_servers;
