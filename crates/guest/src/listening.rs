//! Which loopback ports programs inside listen on, and whose they are.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    time::Duration,
};

use tokio::{io::AsyncReadExt, time::sleep};
use warren_guest_api::{Frame, MAX_PORTS, OpenPort, write_frame};
use warren_link::Stream;

use crate::{failure::Failure, serve::reply};

/// How often is looked. The tables of a sandbox are short: a look costs less than a tenth of a millisecond.
const INTERVAL: Duration = Duration::from_millis(400);

/// Where agents' programs and our own are: what they listen on is no business of people's.
const OURS: [&str; 2] = ["/opt/agents/", "/warren/"];

/// Tells all ports at once, and again whenever they change, until the host ends the stream.
pub(crate) async fn watch(ignore: &[u16], stream: &mut Stream) -> Result<(), Failure> {
    reply(stream, &()).await?;
    let mut sockets = BTreeMap::new();
    let mut told = None;
    let mut nothing = [0; 1];
    loop {
        let now = listening(ignore);
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
            () = sleep(INTERVAL) => {}
        }
    }
}

/// Ports and the inodes of their sockets.
fn listening(ignore: &[u16]) -> BTreeMap<u16, u64> {
    let tables = ["/proc/net/tcp6", "/proc/net/tcp"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let sockets = tables.iter().flat_map(|table| parse(table));
    sockets.filter(|(port, _)| !ignore.contains(port)).take(4 * MAX_PORTS).collect()
}

/// The listening sockets of one of the kernel's tables: everything else in it is passed over.
fn parse(table: &str) -> impl Iterator<Item = (u16, u64)> {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (_, port) = fields.nth(1)?.rsplit_once(':')?;
        let is_listening = fields.nth(1)? == "0A";
        let inode = fields.nth(5)?.parse().ok()?;
        is_listening.then_some((u16::from_str_radix(port, 16).ok()?, inode))
    })
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

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_listening_sockets_are_taken_from_the_kernels_table() {
        let table = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
   1: 0100007F:0BB8 0100007F:D2A4 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 20 4 30 10 -1
   2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0 100 0 0 10 0
   3: nonsense
";
        assert_eq!(parse(table).collect::<Vec<_>>(), [(3000, 4711), (8080, 4713)]);
        assert_eq!(parse("").count(), 0);
    }
}
