//! How fast Claude Code's transcripts and output are read: `claude_speed parse FILE` or `claude_speed decode FILE`.
//!
//! Beside it: `node -e` with `JSON.parse` of each line of the same file.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a tool for whoever measures")]

use warren_domain::Timestamp;

/// The one of the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut args = std::env::args().skip(1);
    let (verb, path) = (args.next().expect("a verb"), args.next().expect("a file"));
    let bytes = std::fs::read(path).expect("readable");
    let claude = warren_agents::adapter("claude-code").expect("it is there");
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let mut best = f64::MAX;
    let mut n_made = 0;
    for _ in 0..5 {
        let started = cpu_seconds();
        if verb == "parse" {
            let parsed = claude.parse(&bytes, &[]);
            best = best.min(cpu_seconds() - started);
            n_made = parsed.conversations.main().len();
        } else {
            let (mut codec, mut out, mut n_outputs) = (claude.recorded(), Vec::new(), 0);
            for line in &lines {
                codec.decode(line, Timestamp::from_millis(0), &mut out);
                n_outputs += out.len();
                out.clear();
            }
            best = best.min(cpu_seconds() - started);
            n_made = n_outputs;
        }
    }
    let megabytes = bytes.len() as f64 / 1e6;
    println!("{verb}: {megabytes:.0} MB, {n_made} made, {:.0} ms, {:.0} MB/s", best * 1e3, megabytes / best);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
}

/// Time that this thread spent on a core: what other work on the machine does not change much.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds") / 1e9
}
