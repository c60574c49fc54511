//! The guest: PID 1 of every sandbox, and the only thing in it that talks to the host.
//!
//! In: requests of [`warren_guest_api`] over one [`warren_link`] on file descriptor 0. Out: replies, output of
//! processes, file contents, changes, and connections that programs inside made to a forwarded port.
//! **Invariant:** the guest holds no secret, trusts no program beside it, and knows nothing of the server: whatever
//! takes it over gains what the agent's uid had anyway. It has one thread, so forking is always safe.
//! Start reading with [`start`], then [`serve`] and [`exec`]. Other programs in the same file: [`agent`] is the built-in
//! agent, [`bridge`] lets an agent that is a server be driven by lines, and [`follow`] is a companion of agents that say
//! half of what they do in files; [`tree`] is the guest's own helper for whole trees.
//!
//! # How the host starts it
//!
//! ```text
//! /warren/guest [OPTION…]           PID 1 of a sandbox
//! /warren/guest agent [ARG…]        the built-in agent, an ordinary program started by an exec
//! /warren/guest bridge [ARG…]       starts a server and speaks to it, likewise
//! /warren/guest follow [ARG…]       runs another program and prints its lines and those of files it writes
//! /warren/guest shells              runs commands for the built-in agent, which starts it
//! /warren/guest tree [ARG…]         reads or writes whole trees for the guest, which starts it
//! ```
//!
//! File descriptor 0 is one end of a `socketpair(AF_UNIX, SOCK_STREAM)`; the host is [`warren_link::Role::Client`], the
//! guest [`warren_link::Role::Server`]. Descriptors 1 and 2 are kept as they are and get at most a line of complaint
//! before an early end; every other descriptor that is not named below is closed on start.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--root NAME=PATH` | where a root of the file API lies; `NAME` is `workspace`, `home` or `user-input` | `/workspace`, `/home/agent`, `/user-input` |
//! | `--cgroup-fds N,N,…` | inherited descriptors of `cgroup.procs` (or v1 `tasks`) files, opened for writing by root: every exec'd child writes `0` to each before it runs. The kernel checks the opener's credentials, so this works without privilege. A failed write fails the exec | none |
//! | `--rlimit NAME=VALUE` | a limit of every exec'd child (soft = hard): `nofile`, `fsize`, `nproc`, `as`, `core`, `memlock`, `stack` (bytes or counts; `unlimited`). Repeatable | `core=0` |
//! | `--landlock best-effort` or `off` | whether exec'd children are put under Landlock. What was really had is in the hello | `best-effort` |
//! | `--landlock-rw PATH` | one more tree that children may write. Repeatable | the roots, `/tmp`, `/dev/shm`, `/dev/pts` and the harmless devices |
//! | `--landlock-ro PATH` | one more tree that children may read and execute. Repeatable | `/usr /etc /opt /knowledge /instructions /proc /warren /sys /bin /lib /lib64 /sbin` |
//!
//! Paths that do not exist are passed over. No environment variable is read, and none is inherited by what runs: an
//! exec gets exactly the environment of its request.
//!
//! The guest ends, and with it the PID namespace, when the link ends or the host asks for shutdown: exit code 0.
//! Exit code 2 is a wrong option, 1 anything that kept it from starting. It works as an ordinary process too (it is
//! then the reaper of its descendants only), which is how its tests run it.

mod agent;
mod args;
mod bridge;
mod confine;
mod exec;
mod failure;
mod files;
mod follow;
mod http;
mod listening;
mod ports;
mod reaper;
mod serve;
mod start;
mod sys;
mod tree;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1).unwrap_or_default();
    match first.to_str() {
        Some("agent") => agent::main(),
        Some("bridge") => bridge::main(),
        Some("follow") => follow::main(),
        Some("shells") => agent::run_shells(),
        Some("tree") => tree::main(),
        _ => start::main(),
    }
}
