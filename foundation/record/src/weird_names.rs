//! What Zeek calls what anomaly records tell of, where it knows the same thing.
//!
//! Rules and dashboards that were written for `weird.log` look for Zeek's names; the other formats
//! have ours, which tell more things apart.

use crate::AnomalyRecord;
use flowpin_packet::{Layer, Malformed, Reason};

/// Zeek's name and what it says in addition, if that is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weird {
    pub(crate) name: &'static str,
    pub(crate) addl: &'static str,
}

/// What `weird.log` has of an anomaly.
pub(crate) fn of(record: &AnomalyRecord) -> Weird {
    let (name, addl) = match record.app {
        Some(app) => of_message(app.name).unwrap_or((app.name, "")),
        None => (of_packet(record.what), ""),
    };
    Weird { name, addl }
}

/// The analyzer that tells of it in Zeek; empty for those that Zeek has not.
pub(crate) fn source(record: &AnomalyRecord) -> &'static str {
    let Some(app) = record.app else {
        return match record.what.layer {
            // Of options it names none.
            Layer::Ipv6Extension if is_option(record.what.reason) => "",
            Layer::Ethernet => "ETHERNET",
            Layer::Vlan => "VLAN",
            Layer::Mpls => "MPLS",
            Layer::Pppoe => "PPPOE",
            Layer::Arp => "ARP",
            Layer::Ipv4 | Layer::Ipv6 | Layer::Ipv6Extension => "IP",
            Layer::Tcp => "TCP",
            Layer::Udp => "UDP",
            Layer::Icmp | Layer::Icmpv6 => "ICMP",
            Layer::Gre => "GRE",
            Layer::Teredo => "TEREDO",
            Layer::Vxlan => "VXLAN",
            Layer::Geneve => "GENEVE",
            Layer::Gtpu => "GTPV1",
            Layer::Ayiya => "AYIYA",
            _ => "",
        };
    };
    match app.protocol {
        "http" | "http-proxy" | "http-connect" | "soap" => "HTTP",
        "dns" | "mdns" | "llmnr" => "DNS",
        "ftp" => "FTP",
        "smtp" | "lmtp" => "SMTP",
        "tls" => "SSL",
        "dtls" => "DTLS",
        "sip" => "SIP",
        "redis" => "REDIS",
        _ => "",
    }
}

const fn is_option(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::OptionCut | Reason::OptionLength | Reason::OptionRepeated
    )
}

fn of_packet(what: Malformed) -> &'static str {
    use Layer::{
        Arp, Ethernet, Fragment, Icmp, Icmpv6, Ipv4, Ipv6, Ipv6Extension, Nesting, Stream, Tcp, Udp,
    };
    use Reason as R;
    match (what.layer, what.reason) {
        (Ethernet, R::Truncated) => "truncated_ethernet_frame",
        (Ipv4 | Ipv6, R::Truncated) => "truncated_IP",
        (Ipv4 | Ipv6 | Ipv6Extension, R::LengthTooSmall | R::LengthBeyondPacket) => {
            "invalid_IP_header_size"
        }
        (Ipv4 | Ipv6, R::WrongVersion) => "unknown_ip_version",
        (Ipv4, R::Checksum) => "bad_IP_checksum",
        (Tcp, R::Checksum) => "bad_TCP_checksum",
        (Udp, R::Checksum) => "bad_UDP_checksum",
        (Icmp | Icmpv6, R::Checksum) => "bad_ICMP_checksum",
        (Arp, R::Truncated) => "truncated_ARP",
        (Nesting, R::TooDeep) => "exceeded_tunnel_max_depth",
        (Tcp | Udp | Icmp | Icmpv6, R::Truncated) | (Icmp | Icmpv6, R::LengthTooSmall) => {
            "truncated_header"
        }
        (Tcp, R::LengthTooSmall | R::LengthBeyondPacket) => "bad_TCP_header_len",
        (Udp, R::LengthTooSmall | R::LengthBeyondPacket) => "UDP_datagram_length_mismatch",
        (Fragment, R::Overlap | R::Duplicate) => "fragment_overlap",
        (Fragment, R::OverlapDiffers) => "fragment_inconsistency",
        (Fragment, R::LengthConflict | R::Teardrop) => "fragment_size_inconsistency",
        (Fragment, R::TooLong) => "excessively_large_fragment",
        (Fragment, R::Tiny) => "excessively_small_fragment",
        (Ipv6Extension, R::OptionCut) => "bad_ipv6_dest_opt_len",
        (Ipv6Extension, R::OptionLength) => "bad_home_addr_len",
        (Ipv6Extension, R::OptionRepeated) => "multiple_home_addr_opts",
        (Icmpv6, R::RouterAdvertisementShort) => "icmp6_ra_bad_opt_offset",
        (Icmpv6, R::NeighborSolicitationShort) => "icmp6_ns_bad_opt_offset",
        (Icmpv6, R::NeighborAdvertisementShort) => "icmp6_na_bad_opt_offset",
        (Icmpv6, R::RedirectShort) => "icmp6_redirect_bad_opt_offset",
        (Icmpv6, R::ListenerReportShort) => "truncated_ICMPv6_MLDv2_record",
        (Stream, R::SynInConnection) => "SYN_inside_connection",
        (Stream, R::SynAckMismatch) => "bad_SYN_ack",
        (Stream, R::DataOnSyn) => "SYN_with_data",
        (Stream, R::InvalidFin) => "inappropriate_FIN",
        (Stream, R::FinChanged) => "FIN_advanced_last_seq",
        _ => what.reason.name(),
    }
}

/// By our names, in their order.
fn of_message(name: &str) -> Option<(&'static str, &'static str)> {
    let place = MESSAGES
        .binary_search_by(|(own, ..)| (*own).cmp(name))
        .ok()?;
    MESSAGES.get(place).map(|&(_, zeek, addl)| (zeek, addl))
}

#[rustfmt::skip]
const MESSAGES: &[(&str, &str, &str)] = &[
    ("dns_label_too_long", "DNS_label_too_long", ""),
    ("dns_name_too_long", "DNS_NAME_too_long", ""),
    ("dns_pointer_loop", "DNS_label_forward_compress_offset", ""),
    ("dns_truncated_message", "DNS_truncated_len_lt_hdr_len", ""),
    ("dns_truncated_name", "DNS_label_len_gt_pkt", ""),
    ("http_bare_line_feed", "line_terminated_with_single_LF", ""),
    ("http_bare_return", "line_terminated_with_single_CR", ""),
    ("http_chunk_size_invalid", "HTTP_bad_chunk_size", ""),
    ("http_coding_not_last", "HTTP_chunked_multi", ""),
    ("http_early_response", "HTTP_response_before_request", ""),
    ("http_length_and_chunked", "HTTP_content_length_and_chunked", ""),
    ("http_length_invalid", "HTTP_bad_content_length", ""),
    ("http_not_a_request", "bad_HTTP_request", ""),
    ("http_not_a_response", "bad_HTTP_reply", ""),
    ("http_nul_byte", "NUL_in_line", ""),
    ("http_uri_missing", "missing_HTTP_uri", ""),
    ("http_version_changed", "HTTP_version_mismatch", ""),
    ("request_command_too_long", "FTP_max_command_length_exceeded", ""),
    ("response_command_too_long", "FTP_reply_msg_too_long", ""),
    ("smtp_bad_chunk_size", "smtp_invalid_bdat_command", "BDAT argument bad length"),
    ("smtp_rcpt_without_mail", "smtp_mail_transaction_invalid", "rcpt to missing mail from"),
];

#[cfg(test)]
mod tests {
    use super::{MESSAGES, of_packet};
    use flowpin_packet::{Layer, Reason, bad};

    /// Zeek's name where it knows the same thing, ours elsewhere.
    #[test]
    fn packets_have_zeeks_names() {
        for (layer, reason, name) in [
            (Layer::Tcp, Reason::Checksum, "bad_TCP_checksum"),
            (
                Layer::Ipv6Extension,
                Reason::LengthBeyondPacket,
                "invalid_IP_header_size",
            ),
            (Layer::Nesting, Reason::TooDeep, "exceeded_tunnel_max_depth"),
            (Layer::Mpls, Reason::TooDeep, "too_deep"),
        ] {
            assert_eq!(of_packet(bad(layer, reason, 0)), name);
        }
    }

    /// It is searched by halves.
    #[test]
    fn the_table_is_in_order() {
        assert!(MESSAGES.is_sorted_by(|one, other| one.0 < other.0));
    }
}
