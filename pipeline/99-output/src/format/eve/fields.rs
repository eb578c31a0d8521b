//! Every field of EVE JSON, for the documentation. A test holds this and the writers together.

/// Path and meaning of each field, by event type.
pub(crate) const FIELDS: &[(&str, &[(&str, &str)])] = &[
    ("flow", FLOW),
    ("anomaly", ANOMALY),
    ("tunnel", TUNNEL),
    ("scan", SCAN),
    ("flood", FLOOD),
    ("host_pair", HOST_PAIR),
];

/// Those that every message of an application protocol has besides its own.
pub(crate) const MESSAGE_FIELDS: &[(&str, &str)] = &[
    ("timestamp", "Capture time of what it tells of."),
    ("flow_id", "The upper 53 bits of `flowpin.uid`."),
    (
        "in_iface",
        "Interface that the connection's first packet came by, of an `alert` its own packet; only \
         if the capture names it: live, and in pcapng.",
    ),
    (
        "pcap_cnt",
        "Number of the packet that completed it; not if the connection's end did.",
    ),
    ("event_type", "As the heading."),
    (
        "vlan",
        "VLAN identifiers of the connection's first packet, outermost first; only if tagged.",
    ),
    (
        "src_ip",
        "Address of the client (who opened the connection); of `dns` responses and `fileinfo`: of \
         who sent it.",
    ),
    ("src_port", "Its port."),
    ("dest_ip", "Address of the other side."),
    ("dest_port", "Its port."),
    ("ip_v", "4 or 6."),
    ("proto", "Protocol, as Suricata spells it."),
    (
        "tx_id",
        "Which message of its connection it is, from 0, all kinds counted.",
    ),
    (
        "app_proto",
        "Application protocol, by the connection's bytes.",
    ),
    ("community_id", "Community ID of the connection."),
    ("flowpin.uid", "The connection's identifier in all formats."),
    (
        "flowpin.queue",
        "The receive queue, if one alone was captured (`-i eth1@2`).",
    ),
];

const FLOW: &[(&str, &str)] = &[
    (
        "timestamp",
        "Stream time at which the record was due: of the packet that ended the connection, or \
         last packet and time-out.",
    ),
    ("flow_id", "The upper 53 bits of `flowpin.uid`."),
    (
        "in_iface",
        "Interface that the first packet came by; only if the capture names it: live, and in \
         pcapng.",
    ),
    (
        "event_type",
        "`flow`; `flow_interim` for sums so far of a connection that goes on (`--interim`), which \
         must not be added to those of `flow`.",
    ),
    (
        "vlan",
        "VLAN identifiers of the first packet, outermost first; only if tagged.",
    ),
    ("src_ip", "Address of the client (who opened)."),
    (
        "src_port",
        "Its port; not for ICMP and protocols without ports.",
    ),
    ("dest_ip", "Address of the server."),
    ("dest_port", "Its port."),
    ("ip_v", "4 or 6."),
    ("proto", "Protocol, as Suricata spells it."),
    (
        "app_proto",
        "Application protocol, by the connection's bytes, in Suricata's words; only if identified.",
    ),
    (
        "app_proto_orig",
        "What it was before it changed: `smtp` before STARTTLS.",
    ),
    ("icmp_type", "ICMP: type of the first packet."),
    ("icmp_code", "ICMP: its code."),
    (
        "response_icmp_type",
        "ICMP: type of the reply, if there was one.",
    ),
    ("response_icmp_code", "ICMP: its code."),
    ("flow.pkts_toserver", "Packets from the client."),
    ("flow.pkts_toclient", "Packets from the server."),
    ("flow.bytes_toserver", "Bytes of the client's frames."),
    ("flow.bytes_toclient", "Bytes of the server's frames."),
    ("flow.start", "Capture time of the first packet."),
    ("flow.end", "Latest capture time of any packet."),
    ("flow.age", "Difference of the whole seconds of both."),
    ("flow.state", "`new`, `established`, `closed`."),
    (
        "flow.reason",
        "`timeout`, `forced`, `shutdown`, `tcp_reuse`; finer: `flowpin.reason`.",
    ),
    (
        "flow.alerted",
        "Whether a rule has alerted of it: also if a threshold left the alert out, but not for \
         rules that hosts' bits or written sets decide.",
    ),
    ("community_id", "Community ID, version 1."),
    (
        "tcp.tcp_flags",
        "Control bits of both sides, or-ed, hexadecimal.",
    ),
    ("tcp.tcp_flags_ts", "Those of the client."),
    ("tcp.tcp_flags_tc", "Those of the server."),
    ("tcp.syn", "Seen; the same for the next seven."),
    ("tcp.fin", ""),
    ("tcp.rst", ""),
    ("tcp.psh", ""),
    ("tcp.ack", ""),
    ("tcp.urg", ""),
    ("tcp.ecn", ""),
    ("tcp.cwr", ""),
    ("tcp.state", "Suricata's TCP state."),
    (
        "tcp.ts_gap",
        "Bytes of the client were acknowledged but never captured.",
    ),
    ("tcp.tc_gap", "Bytes of the server were."),
    ("flowpin.uid", "Identifier, as in `conn.log`."),
    (
        "flowpin.queue",
        "The receive queue, if one alone was captured (`-i eth1@2`).",
    ),
    ("flowpin.conn_state", "Zeek's `conn_state`."),
    ("flowpin.history", "Zeek's `history`."),
    (
        "flowpin.reason",
        "Why it was written: `timeout`, `closed`, `reused`, `evicted`, `end_of_input`, `interim`.",
    ),
    (
        "flowpin.first_packet",
        "Position of the first packet in the input, counted before the filter.",
    ),
    (
        "flowpin.payload_toserver",
        "Transport payload from the client, repetitions included.",
    ),
    ("flowpin.payload_toclient", "Likewise from the server."),
    ("flowpin.rtt_us", "TCP: round-trip time of the handshake."),
    ("flowpin.app_rule", "The rule that told `app_proto`."),
    (
        "flowpin.app",
        "Our own name of the protocol, where Suricata's is another.",
    ),
    (
        "flowpin.app_confidence",
        "`sure`: one whole structure; `likely`: weak signs that repeated.",
    ),
    ("flowpin.app_by", "Whose bytes told it: `client`, `server`."),
    ("flowpin.tunnel.kind", "Kind of the innermost tunnel."),
    ("flowpin.tunnel.uid", "Its identifier."),
    (
        "flowpin.missed_bytes",
        "TCP: bytes acknowledged but never captured; here and below only if not 0.",
    ),
    ("flowpin.duplicates", "Frames captured twice."),
    ("flowpin.snapped", "Packets cut short in the capture."),
    (
        "flowpin.bad_checksums",
        "Packets with a bad transport checksum.",
    ),
    (
        "flowpin.icmp_errors",
        "ICMP errors that quote the connection.",
    ),
    (
        "flowpin.interim",
        "Which interim record this is, from 1: its sums so far.",
    ),
    (
        "flowpin.flipped",
        "The direction was turned because only the source port is well known.",
    ),
    ("flowpin.midstream", "TCP: no beginning was seen."),
];

const ANOMALY: &[(&str, &str)] = &[
    ("timestamp", "When the packet was captured."),
    ("flow_id", "The connection, if it belongs to one."),
    (
        "in_iface",
        "Interface that the packet came by (of a message: the connection's first one); only if the \
         capture names it.",
    ),
    ("event_type", "`anomaly`."),
    (
        "pcap_cnt",
        "Position of the packet in the input, counted before the filter; none if a connection's \
         end showed it.",
    ),
    ("src_ip", "Source, if an IP header could be read."),
    ("dest_ip", "Destination, likewise."),
    ("ip_v", "4 or 6, likewise."),
    (
        "src_port",
        "Its source port, if it belongs to a connection.",
    ),
    ("dest_port", "Its destination port, likewise."),
    (
        "anomaly.type",
        "`decode`; `stream` for TCP segments; `applayer` for messages of application protocols.",
    ),
    (
        "anomaly.event",
        "Suricata's name where it knows the same thing; elsewhere `decoder.` or `stream.` and \
         what follows in `flowpin.name`.",
    ),
    (
        "anomaly.layer",
        "`proto_parser`; of `applayer` only, which has no `flowpin.offset`.",
    ),
    ("anomaly.app_proto", "The application protocol, likewise."),
    (
        "flowpin.name",
        "Our name: the layer, `.`, what was wrong. Of `applayer`: the protocol, `_`, what was \
         wrong; protocols' pages list them.",
    ),
    (
        "flowpin.offset",
        "Where, in bytes from the start of that layer.",
    ),
    (
        "flowpin.suppressed",
        "How many more of this kind were not written since the last one that was.",
    ),
    (
        "flowpin.queue",
        "The receive queue, if one alone was captured (`-i eth1@2`).",
    ),
];

const TUNNEL: &[(&str, &str)] = &[
    ("timestamp", "Stream time at which the record was due."),
    ("event_type", "`tunnel`."),
    ("src_ip", "The lower outer address."),
    ("dest_ip", "The higher outer address."),
    ("ip_v", "4 or 6."),
    ("flowpin.tunnel.kind", "What it is."),
    (
        "flowpin.tunnel.uid",
        "Its identifier, as in the connections inside.",
    ),
    (
        "flowpin.tunnel.id",
        "VNI, TEID, key, session or service path.",
    ),
    ("flowpin.tunnel.parent", "The tunnel around it, if any."),
    (
        "flowpin.tunnel.pkts_toserver",
        "Packets inside from the lower address.",
    ),
    (
        "flowpin.tunnel.pkts_toclient",
        "Packets inside from the higher address.",
    ),
    (
        "flowpin.tunnel.bytes_toserver",
        "Bytes of the inner packets, from the lower address.",
    ),
    (
        "flowpin.tunnel.bytes_toclient",
        "Likewise from the higher address.",
    ),
    ("flowpin.tunnel.start", "Capture time of its first packet."),
    ("flowpin.tunnel.end", "Capture time of its last packet."),
];

const SCAN: &[(&str, &str)] = &[
    (
        "timestamp",
        "Stream time at which it was decided: the end of an interval of 1.07 s.",
    ),
    ("event_type", "`scan`."),
    ("src_ip", "Who scans; of several, the first."),
    ("dest_ip", "A vertical scan's host."),
    ("ip_v", "4 or 6."),
    ("proto", "Protocol; not for an IP-protocol scan."),
    (
        "scan.state",
        "`begun`: the alarm; `ongoing`: once for each window; `over`.",
    ),
    (
        "scan.kind",
        "`vertical`: ports of a host; `horizontal`: hosts by one port (four of five targets); \
         `block`: several hosts by several ports each, from two on; `sparse`: both, few of each; \
         `distributed`: a host by many sources.",
    ),
    ("scan.method", "With what it asks, in nmap's words."),
    ("scan.hosts", "Different hosts asked."),
    (
        "scan.ports",
        "Different ports asked; of an IP-protocol scan: protocols.",
    ),
    ("scan.targets", "Different pairs of host and port asked."),
    ("scan.open", "Targets that accepted."),
    ("scan.closed", "Targets that refused."),
    (
        "scan.filtered",
        "Targets that did not answer, or for which a third party refused.",
    ),
    (
        "scan.attempts",
        "New connections tried, repetitions included.",
    ),
    (
        "scan.estimated",
        "Whether the counts are estimates (standard error 2 %) or exact.",
    ),
    (
        "scan.sources",
        "How many ask for the same at the same time; above 1 all but one are decoys, but of a \
         distributed scan.",
    ),
    ("scan.source_samples", "Some of these, the first first."),
    ("scan.host_samples", "The hosts asked first."),
    ("scan.port_samples", "The ports asked first."),
    ("scan.start", "Capture time of its first attempt."),
    ("scan.end", "Capture time of its last attempt."),
    (
        "flowpin.uid",
        "Its identifier, the same in all records of this scan.",
    ),
    (
        "flowpin.first_packet",
        "Number of the packet of its first attempt.",
    ),
];

const FLOOD: &[(&str, &str)] = &[
    (
        "timestamp",
        "Stream time at which it was decided: the end of an interval of 1.07 s.",
    ),
    ("event_type", "`flood`."),
    ("src_ip", "The source seen first; it may be forged."),
    ("dest_ip", "Who is flooded."),
    (
        "dest_port",
        "The port that most of it went to; not for ICMP.",
    ),
    ("ip_v", "4 or 6."),
    ("proto", "Protocol."),
    (
        "flood.state",
        "`begun`: the alarm; `ongoing`: once for each window; `over`.",
    ),
    (
        "flood.kind",
        "`syn`: handshakes never done; `icmp`; `udp`: no answer; `ack`, `rst`: of no connection.",
    ),
    ("flood.sources", "Source addresses, which may be forged."),
    ("flood.source_samples", "The sources seen first."),
    ("flood.packets", "Packets of the flood."),
    (
        "flood.peak_rate",
        "The most packets per second, over about a second.",
    ),
    (
        "flood.estimated",
        "Whether packets and sources are estimates (standard error 4 %) or exact.",
    ),
    ("flood.start", "Capture time of its first packet."),
    ("flood.end", "Capture time of its last packet."),
    (
        "flowpin.uid",
        "Its identifier, the same in all records of this flood.",
    ),
    ("flowpin.first_packet", "Number of its first packet."),
];

const HOST_PAIR: &[(&str, &str)] = &[
    ("timestamp", "Stream time at which it was written."),
    ("event_type", "`host_pair`."),
    ("src_ip", "Who opened the connections."),
    ("dest_ip", "Whom to."),
    ("ip_v", "4 or 6."),
    ("host_pair.connections", "How many connections there are."),
    (
        "host_pair.pkts_toserver",
        "Packets of those who opened them.",
    ),
    ("host_pair.pkts_toclient", "Packets of the other side."),
    (
        "host_pair.bytes_toserver",
        "Bytes of frames of those who opened them.",
    ),
    (
        "host_pair.bytes_toclient",
        "Bytes of frames of the other side.",
    ),
    (
        "host_pair.services",
        "The application protocols, by Flowpin's names, as each connection's own bytes told: the \
         16 that were identified first.",
    ),
    ("host_pair.start", "Capture time of the first packet."),
    ("host_pair.end", "Capture time of the last packet."),
];

#[cfg(test)]
mod tests {
    use super::MESSAGE_FIELDS;
    use flowpin_record::MESSAGE_MEMBERS;

    /// What grammars may not name is what every message's event has.
    #[test]
    fn members_of_all_messages_are_those_that_no_schema_may_have() {
        let members = MESSAGE_FIELDS
            .iter()
            .map(|(path, _)| path.split('.').next());
        let mut members: Vec<_> = members.flatten().collect();
        // `flowpin` has several.
        members.dedup();
        assert_eq!(members, MESSAGE_MEMBERS);
    }
}
