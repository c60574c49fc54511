//! Gives memory back that nobody uses: an allocator does that while it is asked for more, and a server that rests asks for none.
#![allow(unsafe_code, reason = "the allocator has no other interface")]

use std::time::Duration;

use warren_env::{TaskKind, Tasks};

/// How often. What was freed just now is kept, because it is often wanted again at once.
const PAUSE: Duration = Duration::from_secs(2);

pub(super) fn give_back_what_is_free(tasks: &Tasks) {
    tasks.spawn(TaskKind::Housekeeping, async {
        loop {
            tokio::time::sleep(PAUSE).await;
            // SAFETY: it may be called by any thread at any time.
            unsafe { libmimalloc_sys::mi_collect(false) };
        }
    });
}
