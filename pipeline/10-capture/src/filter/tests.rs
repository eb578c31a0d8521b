//! The interpreter against libpcap's own.

use super::program::Program;
use super::{WEIGHT_MAX, weight};
use proptest::prelude::*;

const EXPRESSIONS: &[&str] = &[
    "tcp port 80",
    "ip and not (host 10.0.0.1 or net 192.168.0.0/16)",
    "ip6 proto 17 and ip6[40:2] > 1000",
    "vlan 7 and mpls and ip[8] & 0xf != 3",
    "ip[2:2] - ((ip[0] & 0xf) << 2) - ((tcp[12] & 0xf0) >> 2) > 100",
    "ether[0] & 1 = 0 and len / (ip[9] + 1) % 7 = 3",
    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0 and less 600",
    "icmp[icmptype] == icmp-echo or arp or ether proto 0x88cc",
    "ip[6:2] & 0x1fff = 0 and -ip[1] < 20 and (ip[4] ^ ip[5] | 8) * 3 > 20",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Any expression on any frame: the same verdict as libpcap's, where that can be told the
    /// frame's length.
    #[test]
    fn the_interpreter_agrees_with_libpcap(
        expression in prop::sample::select(EXPRESSIONS),
        ether_type in prop::sample::select(vec![0x0800_u16, 0x86dd, 0x8100, 0x8847, 0x0806]),
        protocol in prop::sample::select(vec![1_u8, 6, 17, 58]),
        mut frame in prop::collection::vec(any::<u8>(), 0..120),
        optimize in any::<bool>(),
    ) {
        if frame.len() > 34 {
            frame[12..14].copy_from_slice(&ether_type.to_be_bytes());
            frame[14] = 0x45;
            frame[20] &= 0xe0;
            frame[21] &= 3;
            frame[23] = protocol;
        }
        let handle = pcap::Capture::dead(pcap::Linktype::ETHERNET).unwrap();
        let theirs = handle.compile(expression, optimize).unwrap();
        let ours = Program::new(theirs.get_instructions()).unwrap();
        let wire_len = u32::try_from(frame.len()).unwrap();
        prop_assert_eq!(ours.accepts(&frame, wire_len), theirs.filter(&frame));
    }
}

/// What libpcap takes a time for that grows with the square of the length is refused by its weight,
/// however it is written; lists of hosts and networks are not.
#[test]
fn operators_weigh_as_words_do() {
    for (begin, again, end) in [
        ("ip[0", "+0", "]=1"),
        ("ip[0", "-0", "]=1"),
        ("ip[0", "/1", "]=1"),
        ("ip[0", "&1", "]=1"),
        ("ip[0]=1", "|1", ""),
        ("ip[0]=", "-", "1"),
        ("len=1", "<<1", ""),
        ("", "!", "ip"),
        ("", "not ", "ip"),
        ("len", "+(1)", "=0"),
    ] {
        let expression = format!("{begin}{}{end}", again.repeat(30_000));
        assert!(weight(&expression) > WEIGHT_MAX, "{begin}{again}{end}");
    }
    for one in [
        "host 2001:db8::1 or ",
        "net 10.0.0.0/8||",
        "host a-host or ",
    ] {
        let expression = one.repeat(1000);
        assert!(weight(&expression) <= WEIGHT_MAX, "{one}");
    }
}
