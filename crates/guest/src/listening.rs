//! Which loopback ports programs inside listen on, and whose they are.
//!
//! The kernel does not report that a socket listens, so it is asked again and again, but only while there is a process
//! that could listen: a sandbox in which nothing runs is never looked at.

mod diag;
mod table;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    time::Duration,
};

use tokio::{io::AsyncReadExt, time::sleep};
use warren_guest_api::{Frame, MAX_PORTS, OpenPort, write_frame};
use warren_link::Stream;

use crate::{
    failure::Failure,
    reaper::{Activity, Reaper},
    serve::reply,
};

use diag::Diag;

/// How often is looked while a program of the host runs: one of its tools may start a server at any time.
const BUSY: Duration = Duration::from_millis(400);

/// How often is looked while there is only what programs left behind. Still within a second.
const LEFT_BEHIND: Duration = Duration::from_millis(900);

/// Where agents' programs and our own are: what they listen on is no business of people's.
const OURS: [&str; 2] = ["/opt/agents/", "/warren/"];

/// Sends all ports at once, and again whenever they change, until the host ends the stream.
pub(crate) async fn watch(ignore: &[u16], reaper: &Reaper, stream: &mut Stream) -> Result<(), Failure> {
    reply(stream, &()).await?;
    let mut activity = reaper.activity();
    let mut kernel = Kernel::default();
    let mut sockets = BTreeMap::new();
    let mut told = None;
    let mut nothing = [0; 1];
    loop {
        let interval = interval(*activity.borrow_and_update());
        let now = kernel.listening(ignore);
        // Whose they are is only asked when there are others than before.
        if told.is_none() || now != sockets {
            let ports = owned(&now);
            sockets = now;
            if told.as_ref() != Some(&ports) {
                write_frame(stream, &Frame::reply(&ports)?).await?;
                told = Some(ports);
            }
        }
        tokio::select! {
            // The host has nothing to say on this stream: a byte, an end or an error all mean the same.
            _ = stream.read(&mut nothing) => return Ok(()),
            // The reaper outlives every watch; without it nothing would be left to look at.
            changed = activity.changed() => changed.map_err(|_| Failure::Gone)?,
            () = sleep(interval.unwrap_or_default()), if interval.is_some() => {}
        }
    }
}

/// When to look again; `None` if nothing can change before the activity does.
fn interval(activity: Activity) -> Option<Duration> {
    match activity {
        Activity::None => None,
        Activity::LeftBehind => Some(LEFT_BEHIND),
        Activity::Programs => Some(BUSY),
    }
}

/// The kernel's word on what listens.
#[derive(Default)]
struct Kernel {
    /// `None` before the first look, and after a failed one.
    diag: Option<Diag>,
}

impl Kernel {
    /// Ports and the inodes of their sockets.
    fn listening(&mut self, ignore: &[u16]) -> BTreeMap<u16, u64> {
        // A kernel without `sock_diag` still has its tables, at a higher price.
        let sockets = self.ask().unwrap_or_else(|_| table::listening());
        sockets.into_iter().filter(|(port, _)| !ignore.contains(port)).take(4 * MAX_PORTS).collect()
    }

    fn ask(&mut self) -> Result<BTreeMap<u16, u64>, diag::DiagError> {
        let mut diag = self.diag.take().map_or_else(Diag::open, Ok)?;
        let sockets = diag.listening()?;
        self.diag = Some(diag);
        Ok(sockets)
    }
}

/// The ports that are not an agent's own, with whose they are.
fn owned(sockets: &BTreeMap<u16, u64>) -> Vec<OpenPort> {
    if sockets.is_empty() {
        return Vec::new();
    }
    let owners = owners();
    let port = |(port, inode): (&u16, &u64)| match owners.get(inode) {
        Some(pid) if is_ours(*pid) => None,
        Some(pid) => Some(OpenPort { port: *port, group: group(*pid), directory: directory(*pid) }),
        None => Some(OpenPort { port: *port, group: None, directory: None }),
    };
    sockets.iter().filter_map(port).take(MAX_PORTS).collect()
}

/// Every process that can be seen, by the inodes of the sockets it holds; of several, the oldest.
fn owners() -> HashMap<u64, u32> {
    let mut found = HashMap::new();
    let mut pids: Vec<u32> = names("/proc").filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    for pid in pids {
        for fd in names(&format!("/proc/{pid}/fd")) {
            let target = fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap_or_default();
            let inode = target
                .to_str()
                .and_then(|text| text.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
            if let Some(inode) = inode {
                found.entry(inode).or_insert(pid);
            }
        }
    }
    found
}

/// What is in a directory of the kernel's, as far as it can be read.
fn names(directory: &str) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Whether it is an agent, or a companion of one: by its program, or by what an interpreter was told to run.
fn is_ours(pid: u32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0).take(3);
    let is_there = |path: &[u8]| OURS.iter().any(|place| path.starts_with(place.as_bytes()));
    is_there(program.as_os_str().as_encoded_bytes()) || words.any(is_there)
}

fn group(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; behind the last one come state, parent and group.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()
}

fn directory(pid: u32) -> Option<String> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()?.into_os_string().into_string().ok()
}
