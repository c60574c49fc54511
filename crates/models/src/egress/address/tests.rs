use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::{any, prop_assert, proptest};

use super::{Special, special};

#[track_caller]
fn check(address: &str, expect: Option<Special>) {
    assert_eq!(special(address.parse().expect("an address")), expect, "{address}");
}

#[test]
fn both_ends_of_every_network_are_named_and_their_neighbours_are_not() {
    use Special::{
        Broadcast, CarrierNat, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private, Reserved,
        Unspecified,
    };
    let cases = [
        ("0.0.0.0", Some(Unspecified)),
        ("0.0.0.1", Some(Reserved)),
        ("0.255.255.255", Some(Reserved)),
        ("1.0.0.0", None),
        ("9.255.255.255", None),
        ("10.0.0.0", Some(Private)),
        ("10.255.255.255", Some(Private)),
        ("11.0.0.0", None),
        ("100.63.255.255", None),
        ("100.64.0.0", Some(CarrierNat)),
        ("100.100.100.200", Some(Metadata)),
        ("100.127.255.255", Some(CarrierNat)),
        ("100.128.0.0", None),
        ("127.0.0.1", Some(Loopback)),
        ("127.255.255.255", Some(Loopback)),
        ("168.63.129.15", None),
        ("168.63.129.16", Some(Metadata)),
        ("169.254.169.254", Some(Metadata)),
        ("169.254.170.2", Some(LinkLocal)),
        ("169.255.0.0", None),
        ("172.15.255.255", None),
        ("172.16.0.0", Some(Private)),
        ("172.31.255.255", Some(Private)),
        ("172.32.0.0", None),
        ("192.0.0.192", Some(Metadata)),
        ("192.0.0.8", Some(Reserved)),
        ("192.0.2.255", Some(Documentation)),
        ("192.88.99.1", Some(Reserved)),
        ("192.168.1.1", Some(Private)),
        ("192.169.0.0", None),
        ("198.17.255.255", None),
        ("198.18.0.0", Some(Reserved)),
        ("198.19.255.255", Some(Reserved)),
        ("198.20.0.0", None),
        ("198.51.100.7", Some(Documentation)),
        ("203.0.113.7", Some(Documentation)),
        ("223.255.255.255", None),
        ("224.0.0.1", Some(Multicast)),
        ("239.255.255.255", Some(Multicast)),
        ("240.0.0.1", Some(Reserved)),
        ("255.255.255.254", Some(Reserved)),
        ("255.255.255.255", Some(Broadcast)),
        ("8.8.8.8", None),
        ("93.184.216.34", None),
    ];
    for (address, expect) in cases {
        check(address, expect);
    }
}

#[test]
fn of_ipv6_only_what_is_given_out_and_embeds_nothing_is_public() {
    use Special::{
        Documentation, EmbedsIpv4, LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, Unspecified,
    };
    let cases = [
        ("::", Some(Unspecified)),
        ("::1", Some(Loopback)),
        ("::2", Some(EmbedsIpv4)),
        ("::127.0.0.1", Some(EmbedsIpv4)),
        ("::ffff:8.8.8.8", Some(EmbedsIpv4)),
        ("::ffff:127.0.0.1", Some(EmbedsIpv4)),
        ("::ffff:0:10.0.0.1", Some(EmbedsIpv4)),
        ("64:ff9b::8.8.8.8", Some(EmbedsIpv4)),
        ("64:ff9b::1:0:0", Some(Reserved)),
        ("64:ff9b:1::a00:1", Some(EmbedsIpv4)),
        ("64:ff9b:2::", Some(Reserved)),
        ("100::1", Some(Reserved)),
        ("1fff:ffff::1", Some(Reserved)),
        ("2000::1", None),
        ("2001::1", Some(EmbedsIpv4)),
        ("2001:2::1", Some(Reserved)),
        ("2001:1ff::1", Some(Reserved)),
        ("2001:200::1", None),
        ("2001:db8::1", Some(Documentation)),
        ("2001:4860:4860::8888", None),
        ("2002:7f00:1::", Some(EmbedsIpv4)),
        ("2003::1", None),
        ("2606:4700::5efe:a00:1", Some(EmbedsIpv4)),
        ("2606:4700::200:5efe:a00:1", Some(EmbedsIpv4)),
        ("2606:4700::300:5efe:a00:1", None),
        ("2606:4700::1111", None),
        ("3ffe:ffff::1", None),
        ("3fff::1", Some(Documentation)),
        ("4000::1", Some(Reserved)),
        ("5f00::1", Some(Reserved)),
        ("fc00::1", Some(Private)),
        ("fd00:ec2::254", Some(Metadata)),
        ("fdff::1", Some(Private)),
        ("fe80::1", Some(LinkLocal)),
        ("fec0::1", Some(Private)),
        ("ff02::1", Some(Multicast)),
    ];
    for (address, expect) in cases {
        check(address, expect);
    }
}

proptest! {
    #[test]
    fn what_the_standard_library_knows_to_be_special_is_special_here(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        let known = address.is_private() || address.is_loopback() || address.is_link_local()
            || address.is_broadcast() || address.is_documentation() || address.is_multicast()
            || address.is_unspecified();
        prop_assert!(!known || special(address.into()).is_some());
    }

    #[test]
    fn no_way_to_write_an_ipv4_address_as_ipv6_is_public(bits: u32, low: u64) {
        let (high, tail) = (u128::from(bits), u128::from(low));
        let written = [
            high,
            0xffff << 32 | high,
            0xffff << 48 | high,
            0x64_ff9b << 96 | high,
            0x64_ff9b_0001 << 80 | high << 16,
            0x2002 << 112 | high << 80 | tail,
            0x2001 << 112 | high << 64 | tail,
        ];
        for address in written {
            prop_assert!(special(Ipv6Addr::from_bits(address).into()).is_some());
        }
    }

    #[test]
    fn no_public_ipv6_address_is_outside_of_what_is_given_out(bits in any::<u128>()) {
        let is_public = special(IpAddr::V6(Ipv6Addr::from_bits(bits))).is_none();
        prop_assert!(!is_public || bits >> 125 == 1);
    }
}
