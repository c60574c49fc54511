//! The program, and everything that belongs to it.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper, waitpid,
};
use tokio::{
    net::UnixStream,
    process::{Child, Command},
};

use super::options::Options;
use crate::{exec::socket, sys};

/// How often what is left is killed again before it is given up: something that cannot die will not die sooner.
const ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// A program that runs.
pub(super) struct Process {
    child: Child,
    /// Also the number of its group.
    pid: Option<Pid>,
}

/// Our ends of what connects us with a program: sockets, which nothing it starts can open by name.
pub(super) struct Ends {
    /// `None` if the program has our own input.
    pub(super) stdin: Option<UnixStream>,
    pub(super) stdout: UnixStream,
}

/// Where a program's input comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Input {
    Ours,
    Inherited,
}

impl Process {
    /// Starts the program in a group of its own. It dies with us.
    pub(super) fn start(options: &Options, input: Input) -> io::Result<(Self, Ends)> {
        let mut command = Command::new(&options.program);
        let (stdin, their_stdin) = match input {
            Input::Ours => socket().map(|(ours, theirs)| (Some(ours), theirs))?,
            Input::Inherited => (None, Stdio::inherit()),
        };
        let (stdout, their_stdout) = socket()?;
        command.args(&options.arguments).stdin(their_stdin).stdout(their_stdout).process_group(0);
        sys::die_with_parent(command.as_std_mut());
        let child = command.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok((Self { child, pid }, Ends { stdin, stdout }))
    }

    /// Waits for its end. Cancel-safe.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Passes a signal on. From now on nothing of the program's gets out of our reach: what loses its parent becomes ours.
    pub(super) fn signal(&self, signal: Signal) {
        // Without it, what the program leaves behind belongs to whoever is above us, who ends it sooner or later.
        let _ = set_child_subreaper(Some(getpid()));
        if let Some(group) = self.pid {
            // A group that is gone needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Kills everything that descends from this process, until nothing is left.
pub(super) async fn kill_descendants() {
    for _ in 0..ROUNDS {
        let left = descendants(getpid());
        if left.is_empty() {
            return;
        }
        for pid in left {
            // It may end by itself in between; and only those whose parent we are can be waited for.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The program's exit code as a shell would tell it.
pub(super) fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    u8::try_from(code.unwrap_or(1)).unwrap_or(1)
}

fn descendants(of: Pid) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // What is gone meanwhile has no parent.
        if let Some(parent) =
            fs::read_to_string(entry.path().join("stat")).ok().and_then(|stat| parent(&stat))
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = HashSet::new();
    let mut parents = vec![of.as_raw_nonzero().get()];
    while let Some(next) = parents.pop() {
        parents.extend(children.get(&next).into_iter().flatten().filter(|pid| found.insert(**pid)));
    }
    found.into_iter().filter_map(Pid::from_raw).collect()
}

/// The parent in a line of `/proc/PID/stat`: `PID (NAME) STATE PARENT …`, where the name may hold anything.
fn parent(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parent;

    #[test]
    fn the_name_of_a_process_does_not_hide_its_parent() {
        assert_eq!(parent("12 (a) S 3) R 7 12 12 0"), Some(7));
        assert_eq!(parent("nonsense"), None);
    }
}
