//! What Suricata calls what anomaly records tell of, where it knows the same thing.
//!
//! EVE's `anomaly.event` has these names, and the rule keywords `decode-event`, `stream-event` and
//! `app-layer-event` ask by them. What it does not know has our name there. One table for each
//! kind: the first row of something of ours is its name in records, and all rows of a name answer
//! the rules that ask for it.
//!
//! Source: the events that Suricata's documentation and its own rules (`rules/*-events.rules`,
//! version 8) name.

use crate::AnomalyRecord;
use flowpin_packet::{Layer, Malformed, Reason};

/// Whom an event of a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
    /// Either.
    Either,
}

impl Sender {
    /// Whether it is the one whose bytes were sent to the server (`true`), or to the client; what a
    /// connection's end shows may be either's.
    pub fn is(self, to_server: Option<bool>) -> bool {
        match (self, to_server) {
            (Self::Either, _) | (_, None) => true,
            (Self::Client, Some(to_server)) => to_server,
            (Self::Server, Some(to_server)) => !to_server,
        }
    }
}

/// Suricata's name for a packet that was refused or is odd, without `decoder.` before it.
pub fn packet_event(what: Malformed, is_ipv6: bool) -> Option<&'static str> {
    let mut rows = PACKETS.iter();
    let row = rows.find(|(name, layer, reason)| {
        (*layer, *reason) == (what.layer, what.reason) && is_of_version(name, *layer, is_ipv6)
    });
    row.map(|row| row.0)
}

/// Whether a packet that was refused or is odd is this event to rules.
pub fn is_packet_event(event: &str, what: Malformed, is_ipv6: bool) -> bool {
    PACKETS.iter().any(|(name, layer, reason)| {
        *name == event
            && (*layer, *reason) == (what.layer, what.reason)
            && is_of_version(name, *layer, is_ipv6)
    })
}

/// What of packets is this event: our names, and whether of IPv6 alone (`true`), or of all others
/// alone.
pub fn packets_of_event(event: &str) -> impl Iterator<Item = (Layer, Reason, Option<bool>)> {
    let rows = PACKETS.iter().filter(move |row| row.0 == event);
    rows.map(|&(name, layer, reason)| {
        let version = (layer == Layer::Fragment).then(|| name.starts_with("ipv6."));
        (layer, reason, version)
    })
}

/// Fragments are one layer to us.
fn is_of_version(name: &str, layer: Layer, is_ipv6: bool) -> bool {
    layer != Layer::Fragment || name.starts_with("ipv6.") == is_ipv6
}

/// An event of headers that rules may ask for and that has no records: it is looked for where they
/// do, in packets that are accepted.
pub fn header_event(event: &str) -> Option<&'static str> {
    HEADERS.iter().copied().find(|&one| one == event)
}

/// Suricata's name for an odd TCP segment, without `stream.` before it.
pub fn segment_event(reason: Reason) -> Option<&'static str> {
    let row = SEGMENTS.iter().find(|row| row.1 == reason);
    row.map(|row| row.0)
}

/// What of a TCP segment is this event, if segments can be it.
pub fn segment_of_event(event: &str) -> Option<Reason> {
    let row = SEGMENTS.iter().find(|row| row.0 == event);
    row.map(|row| row.1)
}

/// Suricata's name for what is odd about a message, without the protocol's before it.
pub fn message_event(own: &str, to_server: Option<bool>) -> Option<&'static str> {
    let mut rows = MESSAGES.iter();
    let row = rows.find(|row| row.0 == own && row.2.is(to_server));
    row.map(|row| row.1)
}

/// What of messages is this event: our names, and whose messages.
pub fn messages_of_event(event: &str) -> impl Iterator<Item = (&'static str, Sender)> {
    let rows = MESSAGES.iter().filter(move |row| row.1 == event);
    rows.map(|&(own, _, sender)| (own, sender))
}

/// What EVE calls an anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName {
    /// Suricata's name, or ours, in small letters.
    pub name: &'static str,
    /// Whether it is written in capital letters: Suricata's parsers in C do.
    pub is_capital: bool,
}

impl EventName {
    /// What EVE calls an anomaly; none where Suricata does not know the same thing.
    pub fn of(record: &AnomalyRecord) -> Option<Self> {
        let what = record.what;
        let name = match &record.app {
            Some(app) => message_event(app.name, app.to_server)?,
            None if what.layer == Layer::Stream => segment_event(what.reason)?,
            None => {
                let is_ipv6 = record.addresses.is_some_and(|(source, _)| source.is_ipv6());
                packet_event(what, is_ipv6)?
            }
        };
        let app = record.app.map_or("", |app| app.in_tools.suricata(6));
        let is_capital = matches!(app, "http" | "smtp" | "tls");
        Some(Self { name, is_capital })
    }
}

#[rustfmt::skip]
const PACKETS: &[(&str, Layer, Reason)] = &[
    ("ethernet.pkt_too_small", Layer::Ethernet, Reason::Truncated),
    ("vlan.header_too_small", Layer::Vlan, Reason::Truncated),
    ("mpls.header_too_small", Layer::Mpls, Reason::Truncated),
    ("ppp.pkt_too_small", Layer::Ppp, Reason::Truncated),
    ("ppp.wrong_type", Layer::Ppp, Reason::IllegalValue),
    ("pppoe.pkt_too_small", Layer::Pppoe, Reason::Truncated),
    ("ipv4.pkt_too_small", Layer::Ipv4, Reason::Truncated),
    ("ipv4.hlen_too_small", Layer::Ipv4, Reason::LengthTooSmall),
    ("ipv4.iplen_smaller_than_hlen", Layer::Ipv4, Reason::LengthTooSmall),
    ("ipv4.trunc_pkt", Layer::Ipv4, Reason::LengthBeyondPacket),
    ("ipv4.wrong_ip_version", Layer::Ipv4, Reason::WrongVersion),
    ("ipv4.opt_invalid_len", Layer::Ipv4, Reason::OptionLength),
    ("ipv4.opt_eol_required", Layer::Ipv4, Reason::OptionCut),
    ("ipv4.opt_malformed", Layer::Ipv4, Reason::OptionMalformed),
    ("ipv4.opt_duplicate", Layer::Ipv4, Reason::OptionRepeated),
    ("ipv6.pkt_too_small", Layer::Ipv6, Reason::Truncated),
    ("ipv6.trunc_pkt", Layer::Ipv6, Reason::LengthBeyondPacket),
    ("ipv6.wrong_ip_version", Layer::Ipv6, Reason::WrongVersion),
    ("ipv6.trunc_exthdr", Layer::Ipv6Extension, Reason::Truncated),
    ("ipv6.trunc_exthdr", Layer::Ipv6Extension, Reason::LengthBeyondPacket),
    ("ipv6.exthdr_useless_fh", Layer::Fragment, Reason::Atomic),
    ("ipv6.frag_invalid_length", Layer::Fragment, Reason::IllegalValue),
    ("ipv6.frag_overlap", Layer::Fragment, Reason::Overlap),
    ("ipv6.frag_overlap", Layer::Fragment, Reason::OverlapDiffers),
    ("ipv6.frag_overlap", Layer::Fragment, Reason::Teardrop),
    ("ipv6.frag_pkt_too_large", Layer::Fragment, Reason::TooLong),
    ("ipv4.frag_overlap", Layer::Fragment, Reason::Overlap),
    ("ipv4.frag_overlap", Layer::Fragment, Reason::OverlapDiffers),
    ("ipv4.frag_overlap", Layer::Fragment, Reason::Teardrop),
    ("ipv4.frag_pkt_too_large", Layer::Fragment, Reason::TooLong),
    ("icmpv4.pkt_too_small", Layer::Icmp, Reason::Truncated),
    ("icmpv4.pkt_too_small", Layer::Icmp, Reason::LengthTooSmall),
    ("icmpv6.pkt_too_small", Layer::Icmpv6, Reason::Truncated),
    ("icmpv6.pkt_too_small", Layer::Icmpv6, Reason::LengthTooSmall),
    ("tcp.pkt_too_small", Layer::Tcp, Reason::Truncated),
    ("tcp.invalid_optlen", Layer::Tcp, Reason::LengthTooSmall),
    ("tcp.hlen_too_small", Layer::Tcp, Reason::LengthBeyondPacket),
    ("udp.hlen_too_small", Layer::Udp, Reason::Truncated),
    ("udp.len_invalid", Layer::Udp, Reason::LengthTooSmall),
    ("udp.pkt_too_small", Layer::Udp, Reason::LengthBeyondPacket),
    ("sctp.pkt_too_small", Layer::Sctp, Reason::Truncated),
    ("sctp.pkt_too_small", Layer::Sctp, Reason::LengthTooSmall),
    ("gre.pkt_too_small", Layer::Gre, Reason::Truncated),
    ("gre.wrong_version", Layer::Gre, Reason::WrongVersion),
    ("nsh.header_too_small", Layer::Nsh, Reason::Truncated),
    ("nsh.unsupported_version", Layer::Nsh, Reason::WrongVersion),
    ("nsh.bad_header_length", Layer::Nsh, Reason::LengthTooSmall),
    ("too_many_layers", Layer::Nesting, Reason::TooDeep),
];

const HEADERS: &[&str] = &[
    "gre.pkt_too_small",
    "icmpv4.unknown_type",
    "icmpv6.experimentation_type",
    "icmpv6.unassigned_type",
    "ipv4.icmpv6",
    "ipv6.data_after_none_header",
    "ipv6.dstopts_only_padding",
    "ipv6.dstopts_unknown_opt",
    "ipv6.exthdr_ah_res_not_null",
    "ipv6.exthdr_dupl_ah",
    "ipv6.exthdr_dupl_dh",
    "ipv6.exthdr_dupl_fh",
    "ipv6.exthdr_dupl_hh",
    "ipv6.exthdr_dupl_rh",
    "ipv6.exthdr_invalid_optlen",
    "ipv6.fh_non_zero_reserved_field",
    "ipv6.hopopts_only_padding",
    "ipv6.hopopts_unknown_opt",
    "ipv6.icmpv4",
    "ipv6.rh_type_0",
    "ipv6.zero_len_padn",
    "tcp.opt_duplicate",
    "tcp.opt_invalid_len",
];

#[rustfmt::skip]
const SEGMENTS: &[(&str, Reason)] = &[
    ("3whs_synack_with_wrong_ack", Reason::SynAckMismatch),
    ("est_packet_out_of_window", Reason::OutOfWindow),
    ("est_syn_resend_diff_seq", Reason::SynInConnection),
    ("pkt_invalid_ack", Reason::InvalidAck),
    ("pkt_invalid_timestamp", Reason::OldTimestamp),
    ("reassembly_overlap_different_data", Reason::OverlapDiffers),
    ("rst_invalid_ack", Reason::InvalidReset),
    ("suspected_rst_inject", Reason::CloseIgnored),
];

use Sender::{Client, Either, Server};

#[rustfmt::skip]
const MESSAGES: &[(&str, &str, Sender)] = &[
    ("dns_bad_length", "malformed_data", Either),
    ("dns_bad_rdata", "malformed_data", Either),
    ("dns_count_mismatch", "malformed_data", Either),
    ("dns_label_too_long", "malformed_data", Either),
    ("dns_name_too_long", "malformed_data", Either),
    ("dns_pointer_loop", "malformed_data", Either),
    ("dns_truncated_message", "malformed_data", Either),
    ("dns_truncated_name", "malformed_data", Either),
    ("dns_unknown_opcode", "invalid_opcode", Either),
    ("dns_z_flag", "z_flag_set", Either),
    ("http_auth_unknown", "request_auth_unrecognized", Client),
    ("http_checksum_wrong", "gzip_decompression_failed", Either),
    ("http_chunk_size_invalid", "invalid_request_chunk_len", Client),
    ("http_chunk_size_invalid", "invalid_response_chunk_len", Server),
    ("http_coding_in_old_version", "response_chunked_old_proto", Server),
    ("http_coding_odd", "response_abnormal_transfer_encoding", Server),
    ("http_coding_unknown", "invalid_transfer_encoding_value_in_request", Client),
    ("http_coding_unknown", "invalid_transfer_encoding_value_in_response", Server),
    ("http_coding_without_chunked", "invalid_transfer_encoding_value_in_request", Client),
    ("http_colon_missing", "request_field_missing_colon", Client),
    ("http_colon_missing", "response_field_missing_colon", Server),
    ("http_early_response", "unable_to_match_response_to_request", Either),
    ("http_encoding_invalid", "gzip_decompression_failed", Either),
    ("http_encoding_unknown", "abnormal_ce_header", Either),
    ("http_encodings_too_many", "too_many_encoding_layers", Either),
    ("http_expands_too_much", "compression_bomb", Either),
    ("http_field_indented", "invalid_request_field_folding", Client),
    ("http_field_indented", "invalid_response_field_folding", Server),
    ("http_head_too_long", "request_field_too_long", Client),
    ("http_head_too_long", "response_field_too_long", Server),
    ("http_host_contradicts", "host_header_ambiguous", Client),
    ("http_host_missing", "missing_host_header", Client),
    ("http_length_invalid", "invalid_content_length_field_in_request", Client),
    ("http_length_invalid", "invalid_content_length_field_in_response", Server),
    ("http_length_repeated", "duplicate_content_length_field_in_request", Client),
    ("http_length_repeated", "duplicate_content_length_field_in_response", Server),
    ("http_lengths_contradict", "duplicate_content_length_field_in_request", Client),
    ("http_lengths_contradict", "duplicate_content_length_field_in_response", Server),
    ("http_line_too_long", "request_field_too_long", Client),
    ("http_line_too_long", "response_field_too_long", Server),
    ("http_name_empty", "request_header_invalid", Client),
    ("http_name_empty", "response_header_invalid", Server),
    ("http_name_odd", "request_header_invalid", Client),
    ("http_name_odd", "response_header_invalid", Server),
    ("http_not_a_request", "request_body_unexpected", Client),
    ("http_status_odd", "response_invalid_status", Server),
    ("http_version_missing", "request_line_missing_protocol", Client),
    ("http_version_odd", "response_invalid_protocol", Server),
    ("mime_encoding_invalid", "mime_invalid_base64", Client),
    ("mime_boundary_invalid", "mime_long_boundary", Client),
    ("mime_head_too_long", "mime_long_header_value", Client),
    ("mime_quoted_invalid", "mime_invalid_qp", Client),
    ("request_command_too_long", "request_command_too_long", Either),
    ("response_command_too_long", "response_command_too_long", Either),
    ("smtp_bad_chunk_size", "invalid_bdat", Either),
    ("ssh_banner_missing", "invalid_banner", Either),
    ("ssh_banner_too_long", "long_banner", Either),
    ("ssh_packet_length_odd", "invalid_record", Either),
    ("ssh_packet_too_long", "long_kex_record", Either),
    ("tls_certificate_cut", "certificate_invalid_length", Either),
    ("tls_certificate_cut", "invalid_handshake_message", Either),
    ("tls_certificate_malformed", "invalid_certificate", Either),
    ("tls_certificate_malformed", "invalid_handshake_message", Either),
    ("tls_handshake_malformed", "invalid_handshake_message", Either),
    ("tls_heartbeat", "heartbeat_message", Either),
    ("tls_heartbeat_overflow", "overflow_heartbeat_message", Either),
    ("tls_heartbeat_padding", "invalid_heartbeat_message", Either),
    ("tls_record_too_long", "invalid_ssl_record", Either),
    ("tls_record_type_unknown", "invalid_record_type", Either),
    ("tls_record_version_odd", "invalid_record_version", Either),
    ("tls_server_name_length_odd", "invalid_sni_length", Either),
    ("tls_server_name_repeated", "multiple_sni_extensions", Either),
    ("tls_server_name_type_odd", "invalid_sni_type", Either),
];

#[cfg(test)]
mod tests {
    use super::*;
    use flowpin_packet::bad;

    /// Names in records are the first rows; fragments have the name of their version.
    #[test]
    fn packets_have_suricatas_names() {
        let overlap = bad(Layer::Fragment, Reason::Overlap, 0);
        assert_eq!(packet_event(overlap, true), Some("ipv6.frag_overlap"));
        assert_eq!(packet_event(overlap, false), Some("ipv4.frag_overlap"));
        assert!(!is_packet_event("ipv6.frag_overlap", overlap, false));
        let short = bad(Layer::Ipv4, Reason::LengthTooSmall, 0);
        assert_eq!(packet_event(short, false), Some("ipv4.hlen_too_small"));
        assert!(is_packet_event(
            "ipv4.iplen_smaller_than_hlen",
            short,
            false
        ));
        assert_eq!(
            packet_event(bad(Layer::Lisp, Reason::Truncated, 0), false),
            None
        );
    }

    /// A message that is too small is that whether its packet ends there or the capture does.
    #[test]
    fn small_messages_have_one_name() {
        for (layer, name) in [
            (Layer::Icmp, "icmpv4.pkt_too_small"),
            (Layer::Icmpv6, "icmpv6.pkt_too_small"),
            (Layer::Sctp, "sctp.pkt_too_small"),
        ] {
            for reason in [Reason::Truncated, Reason::LengthTooSmall] {
                assert!(is_packet_event(name, bad(layer, reason, 0), false));
            }
        }
    }

    /// Of HTTP, the name says whose message it was; at the end of a connection it may be either's.
    #[test]
    fn messages_have_names_by_their_sender() {
        let own = "http_colon_missing";
        let request = "request_field_missing_colon";
        assert_eq!(message_event(own, Some(true)), Some(request));
        assert_eq!(
            message_event(own, Some(false)),
            Some("response_field_missing_colon")
        );
        assert_eq!(message_event(own, None), Some(request));
        assert_eq!(message_event("http_version_odd", Some(true)), None);
        let all: Vec<_> = messages_of_event(request).collect();
        assert_eq!(all, [(own, Client)]);
    }
}
