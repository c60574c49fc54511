//! Gives memory back that nobody uses: an allocator does that while it is asked for more, and a server that rests asks for none.
#![allow(unsafe_code, reason = "the allocator has no other interface")]

use std::{
    ffi::{c_int, c_long},
    time::Duration,
};

use warren_env::{TaskKind, Tasks};

/// How often.
const PAUSE: Duration = Duration::from_secs(2);

/// An option of mimalloc that its crate has no name for.
struct Tuned {
    number: libmimalloc_sys::mi_option_t,
    /// Its default. It tells that the number still means the same, and that no operator has set `MIMALLOC_…` instead.
    default: c_long,
    value: c_long,
}

/// Threads hand long pieces of memory on to each other here. By default each thread keeps what another one freed for it until
/// it has allocated ten thousand times more, which was several times as much as was in use.
const TUNED: [Tuned; 3] = [
    // `purge_delay`, in milliseconds.
    Tuned { number: 15, default: 1000, value: 20 },
    // `generic_collect`: so many allocations lie between two looks at what others freed.
    Tuned { number: 34, default: 10_000, value: 500 },
    // `page_full_retain`.
    Tuned { number: 36, default: 2, value: 0 },
];

/// Longer pieces of memory that C code asks for, such as the windows of zstd, are given back when they are freed.
#[cfg(target_env = "gnu")]
const LONG: c_int = 256 << 10;

/// How many heaps the threads share for what C code asks for.
#[cfg(target_env = "gnu")]
const HEAPS: c_int = 2;

/// Has the allocators keep little of what is freed: mimalloc, and that of the C library, which zstd and SQLite use. Call it
/// before the first thread starts.
pub(crate) fn keep_little() {
    for Tuned { number, default, value } in TUNED {
        // SAFETY: no other thread runs yet, and each is a number of an option.
        unsafe {
            if libmimalloc_sys::mi_option_get(number) == default {
                libmimalloc_sys::mi_option_set(number, value);
            }
        }
    }
    #[cfg(target_env = "gnu")]
    for (what, value) in
        [(libc::M_ARENA_MAX, HEAPS), (libc::M_MMAP_THRESHOLD, LONG), (libc::M_TRIM_THRESHOLD, LONG)]
    {
        // SAFETY: no other thread runs yet. It can only refuse, and then the default stays.
        unsafe { libc::mallopt(what, value) };
    }
}

pub(super) fn give_back_what_is_free(tasks: &Tasks) {
    tasks.spawn(TaskKind::Housekeeping, async {
        loop {
            tokio::time::sleep(PAUSE).await;
            // SAFETY: it may be called by any thread at any time.
            unsafe { libmimalloc_sys::mi_collect(true) };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::TUNED;

    #[test]
    fn numbers_of_the_allocators_options_are_those_of_its_version() {
        for tuned in TUNED {
            // SAFETY: it reads a number.
            let found = unsafe { libmimalloc_sys::mi_option_get(tuned.number) };
            assert_eq!(found, tuned.default, "option {}", tuned.number);
        }
    }
}
