//! Protocol layers, and the tunnels among them: one line for each.

named_enum! {
    /// A protocol layer whose header can be refused.
    Layer {
        /// The link type's own header (SLL, null, …).
        Link = "link",
        /// Ethernet II, 802.3, LLC and SNAP.
        Ethernet = "ethernet",
        /// 802.1Q and 802.1ad tags.
        Vlan = "vlan",
        /// MPLS label stack.
        Mpls = "mpls",
        /// PPPoE session header.
        Pppoe = "pppoe",
        /// PPP.
        Ppp = "ppp",
        /// IEEE 802.11.
        Ieee80211 = "ieee80211",
        /// ARP.
        Arp = "arp",
        /// IPv4.
        Ipv4 = "ipv4",
        /// IPv6 fixed header.
        Ipv6 = "ipv6",
        /// An IPv6 extension header.
        Ipv6Extension = "ipv6_extension",
        /// A fragment of either family.
        Fragment = "fragment",
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
        /// SCTP.
        Sctp = "sctp",
        /// ICMP.
        Icmp = "icmp",
        /// ICMPv6.
        Icmpv6 = "icmpv6",
        /// IP authentication header.
        Ah = "ah",
        /// GRE and ERSPAN.
        Gre = "gre",
        /// L2TP.
        L2tp = "l2tp",
        /// Network Service Header.
        Nsh = "nsh",
        /// CAPWAP.
        Capwap = "capwap",
        /// Teredo.
        Teredo = "teredo",
        /// VXLAN.
        Vxlan = "vxlan",
        /// GENEVE.
        Geneve = "geneve",
        /// GTP-U.
        Gtpu = "gtpu",
        /// Tunnels inside tunnels.
        Nesting = "nesting",
        /// AYIYA.
        Ayiya = "ayiya",
        /// WireGuard.
        Wireguard = "wireguard",
        /// TCP's streams: segments that are well formed and do not fit what came before.
        Stream = "stream",
        /// LISP's data plane.
        Lisp = "lisp",
    }
}

/// The kinds of tunnels: all that is known about one is in its line.
macro_rules! tunnel_kinds {
    ($($(#[$meta:meta])* $kind:ident = $name:literal, $zeek:literal, $scope:ident;)*) => {
        /// A kind of tunnel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum TunnelKind { $($(#[$meta])* $kind,)* }

        impl TunnelKind {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// The name in records: the word of EVE JSON and CSV.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Zeek's `Tunnel::Type`; in the same pattern for kinds that Zeek has no word for.
            pub const fn zeek_name(self) -> &'static str {
                match self { $(Self::$kind => concat!("Tunnel::", $zeek),)* }
            }

            /// What the number in the header stands for.
            pub const fn number_scope(self) -> NumberScope {
                match self { $(Self::$kind => NumberScope::$scope,)* }
            }
        }
    };
}

/// What the number in a tunnel's header (VNI, TEID, key, session) stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberScope {
    /// The network or the mirror session: both directions have the same number, and another number
    /// is another tunnel between the same addresses.
    Network,
    /// A service path: the tunnel, but only where it has no outer addresses.
    Path,
    /// One end: each side chooses its own. Also where there is no number.
    Side,
}

// name in records, Zeek's word, scope of the number. New kinds go last: the position of a line
// counts in the identifiers of tunnels.
tunnel_kinds! {
    /// IPv4 or IPv6 in IP (RFC 2003, RFC 2473, RFC 4213).
    Ip = "ip", "IP", Side;
    /// GRE (RFC 2784, RFC 2890), also with PPTP's version 1.
    Gre = "gre", "GRE", Side;
    /// ERSPAN II or III over GRE.
    Erspan = "erspan", "ERSPAN", Network;
    /// L2TP over UDP or IP (RFC 2661, RFC 3931).
    L2tp = "l2tp", "L2TP", Side;
    /// Network Service Header (RFC 8300).
    Nsh = "nsh", "NSH", Path;
    /// CAPWAP data (RFC 5415).
    Capwap = "capwap", "CAPWAP", Side;
    /// Teredo (RFC 4380).
    Teredo = "teredo", "TEREDO", Side;
    /// VXLAN (RFC 7348), with GPE.
    Vxlan = "vxlan", "VXLAN", Network;
    /// GENEVE (RFC 8926).
    Geneve = "geneve", "GENEVE", Network;
    /// GTP-U (3GPP TS 29.281).
    Gtpu = "gtpu", "GTPv1", Side;
    /// AYIYA.
    Ayiya = "ayiya", "AYIYA", Side;
    /// LISP's data plane (RFC 9300), with GPE.
    Lisp = "lisp", "LISP", Network;
}

#[cfg(test)]
mod tests {
    use super::TunnelKind;
    use std::collections::HashSet;

    /// Tables of words are indexed by a kind's number, and two kinds with one word could not be
    /// told apart in records.
    #[test]
    fn every_kind_has_its_number_and_words_of_its_own() {
        let (mut names, mut zeek_names) = (HashSet::new(), HashSet::new());
        for (index, kind) in TunnelKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, index);
            assert!(names.insert(kind.name()), "{kind:?}");
            assert!(zeek_names.insert(kind.zeek_name()), "{kind:?}");
        }
    }

    /// The number is a part of each tunnel's identifier, so that a kind between two others would
    /// change the identifiers of those after it.
    #[test]
    fn numbers_stay_the_same() {
        let names: Vec<_> = TunnelKind::ALL.iter().map(|kind| kind.name()).collect();
        let first = "ip gre erspan l2tp nsh capwap teredo vxlan geneve gtpu ayiya";
        assert!(names.join(" ").starts_with(first));
    }
}
