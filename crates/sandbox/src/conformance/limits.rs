//! Limits, by hitting them.

use std::time::Duration;

use warren_guest_api::Exit;

use super::{Ground, in_time, said, shell};
use crate::{Layer, LimitHit, Limits};

const MIB: u64 = 1 << 20;

/// A program that takes too much memory is killed; the guest goes on, and the kill is counted.
pub async fn memory_over_its_limit_is_killed_and_counted(ground: &dyn Ground) {
    let mut spec = ground.spec("memory");
    if !spec.required.contains(&Layer::MemoryLimit) {
        return;
    }
    spec.limits = Limits { memory_bytes: 64 * MIB, ..Limits::default() };
    let sandbox = ground.backend().start(spec).await.expect("the sandbox starts");
    let greedy = shell(&sandbox, "exec perl -e '$x = \"x\" x (256 << 20); print length $x'").await;
    assert_eq!((greedy.exit, greedy.stdout), (Exit::Signal(9), String::new()));
    sandbox.guest.ping().await.expect("the guest is well");
    assert_eq!(sandbox.stats().await.expect("there are numbers").oom_kills, 1);
    sandbox.terminate().await.expect("it ends");
    assert!(sandbox.exited().await.oom, "the end tells of it too");
}

/// Forking stops at the limit, and the guest can still end it all.
pub async fn a_fork_bomb_stops_at_its_limit(ground: &dyn Ground) {
    let mut spec = ground.spec("fork-bomb");
    if !spec.required.contains(&Layer::PidsLimit) {
        return;
    }
    spec.limits = Limits { pids: 32, ..Limits::default() };
    let sandbox = ground.backend().start(spec).await.expect("the sandbox starts");
    let forks = "perl -e '$n = 0; while (defined($p = fork)) { if (!$p) { sleep 100; exit } $n++ } kill 9, 0 if $n > 40; print $n'";
    let forked = shell(&sandbox, &format!("{forks}; pkill sleep; exit 0")).await.stdout;
    let n_forks: u32 = forked.trim().parse().expect("a number");
    assert!((20..=32).contains(&n_forks), "{n_forks} processes of 32");
    in_time("a ping", sandbox.guest.ping()).await.expect("the guest is well");
    let pids = sandbox.stats().await.expect("there are numbers").pids.expect("processes are counted");
    assert!((20..100).contains(&pids), "{pids} processes");
    in_time("the end", sandbox.terminate()).await.expect("it ends");
}

/// Programs that want more CPU time than they may have wait for it.
pub async fn cpu_time_is_held_to_its_limit(ground: &dyn Ground) {
    let mut spec = ground.spec("cpu");
    if !spec.required.contains(&Layer::CpuLimit) {
        return;
    }
    spec.limits = Limits { cpu_millis: 200, ..Limits::default() };
    let sandbox = ground.backend().start(spec).await.expect("the sandbox starts");
    // Two that are as busy as they can be, for three seconds.
    let busy = "perl -e 'fork; $end = time + 3; 1 while time < $end; wait; ($u, $s, $cu, $cs) = times; print $u + $s + $cu + $cs, \"\\n\"'";
    let printed = shell(&sandbox, &format!("{busy} | sort -n | tail -1")).await.stdout;
    let seconds: f64 = printed.trim().parse().expect("a number");
    assert!(seconds < 1.2, "{seconds} s of CPU time in 3 s at a fifth of a CPU");
}

/// Too much on disk is noticed, whoever must act on it.
pub async fn a_disk_over_its_limit_is_reported(ground: &dyn Ground) {
    let mut spec = ground.spec("disk");
    spec.limits = Limits { disk_bytes: 4 * MIB, ..Limits::default() };
    let sandbox = ground.backend().start(spec).await.expect("the sandbox starts");
    let filled = shell(&sandbox, "dd if=/dev/zero of=large bs=1M count=8 status=none").await;
    if filled.exit != Exit::Code(0) {
        // A quota held it, which is better.
        return;
    }
    let hit = in_time("the report", sandbox.limit_hit()).await;
    let LimitHit::Disk { used_bytes, limit_bytes } = hit else { panic!("another limit: {hit:?}") };
    // It may have been seen while the file grew.
    assert!(used_bytes > limit_bytes, "{used_bytes} bytes");
    assert_eq!(limit_bytes, 4 * MIB);
}

/// Memory, CPU time, processes and disk of a running sandbox can be read.
pub async fn what_is_used_can_be_read(ground: &dyn Ground) {
    let mut spec = ground.spec("stats");
    spec.required.retain(|layer| *layer != Layer::DiskQuota);
    let counts = spec.required.contains(&Layer::MemoryLimit);
    let sandbox = ground.backend().start(spec).await.expect("the sandbox starts");
    let busy = shell(
        &sandbox,
        "dd if=/dev/zero of=file bs=1M count=3 status=none; exec perl -e '1 while times < 0.2'",
    )
    .await;
    assert_eq!(busy, said(""));
    let mut used = sandbox.stats().await.expect("there are numbers");
    // What the disk holds may have been looked at a moment before the file was there.
    for _ in 0..100 {
        if used.disk_bytes >= 3 * MIB {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        used = sandbox.stats().await.expect("there are numbers");
    }
    assert!(used.disk_bytes >= 3 * MIB, "{used:?}");
    if counts {
        assert!(used.cpu_seconds.is_some_and(|seconds| (0.1..60.0).contains(&seconds)), "{used:?}");
        assert!(used.memory_bytes.is_some_and(|bytes| bytes > 0), "{used:?}");
        assert!(used.pids.is_some_and(|pids| pids > 0), "{used:?}");
    }
}
