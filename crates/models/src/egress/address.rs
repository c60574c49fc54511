//! Which addresses nobody may be sent to, whatever name led there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not one of the public Internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    Unspecified,
    Loopback,
    Private,
    LinkLocal,
    CarrierNat,
    Metadata,
    Multicast,
    Broadcast,
    Documentation,
    Reserved,
    /// An IPv6 address that stands for an IPv4 address: whoever routes it decides what is reached.
    EmbedsIpv4,
}

/// A network: its first address and how many bits of it count.
type Net4 = (Ipv4Addr, u32);
type Net6 = (Ipv6Addr, u32);

const fn v4(a: u8, b: u8, c: u8, d: u8) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

const fn v6(a: u16, b: u16, c: u16, d: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)
}

/// IPv4 networks that are not public; the first one that holds an address names it.
const SPECIAL_V4: &[(Net4, Special)] = &[
    ((v4(0, 0, 0, 0), 32), Special::Unspecified),
    // "This network": Linux delivers some of it to itself.
    ((v4(0, 0, 0, 0), 8), Special::Reserved),
    ((v4(10, 0, 0, 0), 8), Special::Private),
    // A cloud's metadata service hides among carriers' addresses.
    ((v4(100, 100, 100, 200), 32), Special::Metadata),
    ((v4(100, 64, 0, 0), 10), Special::CarrierNat),
    ((v4(127, 0, 0, 0), 8), Special::Loopback),
    // A cloud's agent answers each of its machines at this address, which is otherwise public.
    ((v4(168, 63, 129, 16), 32), Special::Metadata),
    ((v4(169, 254, 169, 254), 32), Special::Metadata),
    ((v4(169, 254, 0, 0), 16), Special::LinkLocal),
    ((v4(172, 16, 0, 0), 12), Special::Private),
    ((v4(192, 0, 0, 192), 32), Special::Metadata),
    ((v4(192, 0, 0, 0), 24), Special::Reserved),
    ((v4(192, 0, 2, 0), 24), Special::Documentation),
    // Relays of 6to4, given up since: nobody answers there who is meant to.
    ((v4(192, 88, 99, 0), 24), Special::Reserved),
    ((v4(192, 168, 0, 0), 16), Special::Private),
    ((v4(198, 18, 0, 0), 15), Special::Reserved),
    ((v4(198, 51, 100, 0), 24), Special::Documentation),
    ((v4(203, 0, 113, 0), 24), Special::Documentation),
    ((v4(224, 0, 0, 0), 4), Special::Multicast),
    ((v4(255, 255, 255, 255), 32), Special::Broadcast),
    ((v4(240, 0, 0, 0), 4), Special::Reserved),
];

/// The same for IPv6. What is in none of these and not in [`GLOBAL_V6`] is reserved.
const SPECIAL_V6: &[(Net6, Special)] = &[
    ((Ipv6Addr::UNSPECIFIED, 128), Special::Unspecified),
    ((Ipv6Addr::LOCALHOST, 128), Special::Loopback),
    // IPv4-compatible, -mapped and -translated, then NAT64 under its two well-known prefixes.
    ((v6(0, 0, 0, 0), 64), Special::EmbedsIpv4),
    ((v6(0x64, 0xff9b, 0, 0), 96), Special::EmbedsIpv4),
    ((v6(0x64, 0xff9b, 1, 0), 48), Special::EmbedsIpv4),
    // Teredo, then the rest of what is set aside for protocols.
    ((v6(0x2001, 0, 0, 0), 32), Special::EmbedsIpv4),
    ((v6(0x2001, 0, 0, 0), 23), Special::Reserved),
    ((v6(0x2001, 0xdb8, 0, 0), 32), Special::Documentation),
    // 6to4.
    ((v6(0x2002, 0, 0, 0), 16), Special::EmbedsIpv4),
    ((v6(0x3fff, 0, 0, 0), 20), Special::Documentation),
    ((v6(0xfd00, 0xec2, 0, 0), 32), Special::Metadata),
    ((v6(0xfc00, 0, 0, 0), 7), Special::Private),
    ((v6(0xfe80, 0, 0, 0), 10), Special::LinkLocal),
    // Site-local: given up, and still private where it is in use.
    ((v6(0xfec0, 0, 0, 0), 10), Special::Private),
    ((v6(0xff00, 0, 0, 0), 8), Special::Multicast),
];

/// All that is given out for use on the Internet.
const GLOBAL_V6: Net6 = (v6(0x2000, 0, 0, 0), 3);

/// What keeps `address` from being public; `None` if nothing does.
pub(super) fn special(address: IpAddr) -> Option<Special> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<Special> {
    let holds = |(base, bits): Net4| (base.to_bits() ^ address.to_bits()) >> (32 - bits) == 0;
    SPECIAL_V4.iter().find(|(net, _)| holds(*net)).map(|(_, special)| *special)
}

fn special_v6(address: Ipv6Addr) -> Option<Special> {
    let holds = |(base, bits): Net6| (base.to_bits() ^ address.to_bits()) >> (128 - bits) == 0;
    if let Some((_, special)) = SPECIAL_V6.iter().find(|(net, _)| holds(*net)) {
        return Some(*special);
    }
    if !holds(GLOBAL_V6) {
        return Some(Special::Reserved);
    }
    // ISATAP: any network may carry an IPv4 address behind this mark.
    let [.., mark, embedded, _, _] = address.segments();
    ((mark & !0x0200) == 0 && embedded == 0x5efe).then_some(Special::EmbedsIpv4)
}

impl Special {
    /// In words, after "is".
    pub(super) fn describe(self) -> &'static str {
        match self {
            Special::Unspecified => "the unspecified address",
            Special::Loopback => "a loopback address",
            Special::Private => "a private address",
            Special::LinkLocal => "a link-local address",
            Special::CarrierNat => "a shared (carrier NAT) address",
            Special::Metadata => "a metadata service's address",
            Special::Multicast => "a multicast address",
            Special::Broadcast => "the broadcast address",
            Special::Documentation => "a documentation address",
            Special::Reserved => "a reserved address",
            Special::EmbedsIpv4 => "an IPv6 address that stands for an IPv4 one",
        }
    }
}

#[cfg(test)]
mod tests;
