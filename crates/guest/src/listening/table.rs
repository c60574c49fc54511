//! The kernel's tables in `/proc/net`, for kernels without `sock_diag`.

use std::{collections::BTreeMap, fs};

/// Every listening port with the inode of its socket, IPv4 before IPv6 where both have one.
pub(super) fn listening() -> BTreeMap<u16, u64> {
    let tables = ["/proc/net/tcp6", "/proc/net/tcp"].map(|path| fs::read_to_string(path).unwrap_or_default());
    tables.iter().flat_map(|table| parse(table)).collect()
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
