//! Every keyword that is known: evaluated, or refused by name.

use crate::buffers::BUFFERS;
use crate::refused::REFUSED;

/// A keyword of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyword {
    /// As rules spell it.
    pub name: &'static str,
    /// What becomes of it.
    pub status: Status,
}

/// What becomes of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is evaluated; what it means, for the documentation.
    Evaluated(&'static str),
    /// It is read, and decides nothing; why.
    Accepted(&'static str),
    /// A rule with it is refused; why.
    Refused(&'static str),
}

use Status::{Accepted, Evaluated};

/// The keyword of a name, if it is known. Buffers are keywords, too.
pub fn keyword(name: &str) -> Option<Status> {
    let own = KEYWORDS.iter().find(|one| one.name == name);
    if let Some(found) = own {
        return Some(found.status);
    }
    let of_buffer = BUFFERS.iter().find(|one| {
        one.name == name || one.aliases.contains(&name) || one.modifiers.contains(&name)
    });
    if let Some(buffer) = of_buffer {
        return Some(Evaluated(buffer.doc));
    }
    let refused = REFUSED.iter().find(|(_, names)| names.contains(&name));
    refused.map(|&(why, _)| Status::Refused(why))
}

/// The keywords that are refused, each with the reason.
pub fn refused() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = REFUSED.iter();
    all.flat_map(|&(why, names)| names.iter().map(move |&name| (name, why)))
}

const fn of(name: &'static str, doc: &'static str) -> Keyword {
    Keyword {
        name,
        status: Evaluated(doc),
    }
}

const fn accepted(name: &'static str, why: &'static str) -> Keyword {
    Keyword {
        name,
        status: Accepted(why),
    }
}

/// All keywords that are read, without the names of buffers; those that are refused are listed
/// apart, by the reason.
pub static KEYWORDS: &[Keyword] = &[
    of("msg", "What alerts say."),
    of("sid", "The rule's number."),
    of("gid", "The generator's number; 1 if it is left out."),
    of("rev", "The rule's revision."),
    of(
        "classtype",
        "The rule's class, from `classification.config`.",
    ),
    of("priority", "The rule's priority, from 1, the highest."),
    of("reference", "Where more is written."),
    of("metadata", "Keys and values, which alerts repeat."),
    of("target", "Which side is the target."),
    of(
        "requires",
        "What an engine needs for the rule; a rule that needs more is left out.",
    ),
    of("content", "Bytes that stand in the buffer."),
    of("uricontent", "As `content` with `http_uri`."),
    of("nocase", "Letters match in either case."),
    of("offset", "From where on the content may stand."),
    of("depth", "Up to where it may stand, from `offset` on."),
    of(
        "distance",
        "From where on it may stand after the match before.",
    ),
    of("within", "Up to where it may stand, from `distance` on."),
    of("startswith", "It begins the buffer."),
    of("endswith", "It ends the buffer."),
    of("fast_pattern", "It is searched for first."),
    accepted("rawbytes", "Payloads are never changed."),
    accepted(
        "prefilter",
        "Every rule is grouped by its header and conditions.",
    ),
    of("pcre", "A regular expression fits."),
    of("byte_test", "A number in the buffer compares."),
    of(
        "byte_jump",
        "What follows is relative to where a number leads.",
    ),
    of("byte_extract", "A number gets a name."),
    of("byte_math", "A number is computed, and gets a name."),
    of(
        "filename",
        "The file's name has this in it, in either case.",
    ),
    of("fileext", "The file's name ends with a dot and this."),
    of(
        "filesize",
        "How long the file is; of a form's that goes on beyond 100 KiB, at least how long.",
    ),
    of(
        "filemd5",
        "The file's MD5 is in a file of them, or is not (`!`).",
    ),
    of("filesha1", "Its SHA-1, likewise."),
    of("filesha256", "Its SHA-256, likewise."),
    of(
        "dataset",
        "The buffer is in a set (`isset`), or is not (`isnotset`); or it is added (`set`), or \
         taken out (`unset`).",
    ),
    of("datarep", "The buffer's number in such a file compares."),
    of("isdataat", "There are bytes at a place."),
    of("bsize", "How long the buffer is."),
    of(
        "urilen",
        "How long the target of the request is: decoded, or as it was sent.",
    ),
    of(
        "base64_decode",
        "Bytes are decoded; `base64_data` examines them.",
    ),
    of("base64_data", "What follows examines the decoded bytes."),
    of("absent", "The buffer does not exist."),
    of("dotprefix", "Transform: a dot comes before the buffer."),
    of("strip_whitespace", "Transform: without white space."),
    of(
        "compress_whitespace",
        "Transform: runs of white space become one blank.",
    ),
    of("to_lowercase", "Transform: small letters."),
    of("to_uppercase", "Transform: capital letters."),
    of("url_decode", "Transform: `%XX` and `+` decoded."),
    of("xor", "Transform: combined with the bytes of a key."),
    of("from_base64", "Transform: Base64 decoded."),
    of("gunzip", "Transform: gzip decoded."),
    of("zlib_deflate", "Transform: zlib decoded."),
    of("to_md5", "Transform: its MD5, in binary."),
    of("to_sha1", "Transform: its SHA-1, in binary."),
    of("to_sha256", "Transform: its SHA-256, in binary."),
    of(
        "pcrexform",
        "Transform: what the first group of an expression captures.",
    ),
    of(
        "header_lowercase",
        "Transform: names of header lines in small letters.",
    ),
    of(
        "strip_pseudo_headers",
        "Transform: without lines that begin with a colon.",
    ),
    of(
        "flow",
        "The connection's state, the direction, streams or packets.",
    ),
    of("flags", "TCP flags."),
    of("tcp.flags", "TCP flags."),
    of("dsize", "Length of the payload."),
    of("ttl", "Time to live, or hop limit."),
    of("tos", "Type of service, or traffic class."),
    of("id", "Identification of an IPv4 packet."),
    of("ip_proto", "IP protocol number or name."),
    of("sameip", "Both addresses are equal."),
    of("fragbits", "Fragment bits of IPv4."),
    of("fragoffset", "Fragment offset of IPv4."),
    of("seq", "TCP sequence number."),
    of("tcp.seq", "TCP sequence number."),
    of("ack", "TCP acknowledgement number."),
    of("tcp.ack", "TCP acknowledgement number."),
    of("window", "TCP window."),
    of("tcp.window", "TCP window."),
    of("itype", "ICMP type."),
    of("icode", "ICMP code."),
    of(
        "icmp_id",
        "ICMP's identifier: of echoes, of ICMPv4's time stamps, information and masks, too.",
    ),
    of(
        "icmp_seq",
        "The sequence number of the same messages of ICMP.",
    ),
    of("tcp.mss", "TCP's option of the maximum segment size."),
    of("tcp.wscale", "TCP's option of the window's scale."),
    of("icmpv6.mtu", "The MTU of ICMPv6's \"packet too big\"."),
    of("ipopts", "An option of IPv4 is there, by its name."),
    of("l3_proto", "The version of IP: `ipv4` or `ipv6`."),
    of(
        "vlan.id",
        "The VLAN of the packet; a layer from the outside (0) or the inside (-1).",
    ),
    of("vlan.layers", "How many VLAN tags the packet has."),
    of(
        "ipv4-csum",
        "The checksum of IPv4 is `valid`, or `invalid`.",
    ),
    of("tcpv4-csum", "That of TCP over IPv4, likewise."),
    of("udpv4-csum", "That of UDP over IPv4, likewise."),
    of("icmpv4-csum", "That of ICMP, likewise."),
    of("tcpv6-csum", "That of TCP over IPv6, likewise."),
    of("udpv6-csum", "That of UDP over IPv6, likewise."),
    of("icmpv6-csum", "That of ICMPv6, likewise."),
    of(
        "entropy",
        "How evenly the buffer's bytes are distributed, in bits a byte.",
    ),
    of(
        "frame",
        "A part of the stream as it is sent: of SIP `pdu`, `request.line`, `request.headers`, \
         `request.body`, and the same of responses.",
    ),
    of(
        "ssl_version",
        "The server chose one of these versions of TLS, or none of them (`!`).",
    ),
    of(
        "tls_cert_expired",
        "The server's certificate is not valid any more, by the time of the capture.",
    ),
    of("tls_cert_valid", "It still is."),
    of(
        "iprep",
        "The reputation of an address: `iprep:SIDE,CATEGORY,>,30`, or `isset`, `isnotset`; sides \
         are `any`, `src`, `dst`, `both`.",
    ),
    of(
        "asn1",
        "BER has a bit string, a number or an object that overflows decoders.",
    ),
    of(
        "ssh.protoversion",
        "A side's protocol version: `2.0`, or `2_compat` for 2 and 1.99.",
    ),
    of(
        "ssh.softwareversion",
        "`ssh.software` has this in it, in quotes or not.",
    ),
    of(
        "ftpbounce",
        "FTP: `PORT` names another address than the client's.",
    ),
    of("stream_size", "Bytes that the streams have carried so far."),
    of("flow.age", "Seconds since the connection's first packet."),
    of("flow.pkts", "Packets so far, by direction."),
    of("flow.pkts_toserver", "Packets to the server so far."),
    of("flow.pkts_toclient", "Packets to the client so far."),
    of("flow.bytes", "Bytes of frames so far, by direction."),
    of(
        "flow.bytes_toserver",
        "Bytes of frames to the server so far.",
    ),
    of(
        "flow.bytes_toclient",
        "Bytes of frames to the client so far.",
    ),
    of("app-layer-protocol", "What the connection speaks."),
    of(
        "app-layer-event",
        "Something odd about a message, by Suricata's name.",
    ),
    of(
        "decode-event",
        "Something odd about a packet's headers, by Suricata's name.",
    ),
    of("engine-event", "As `decode-event`."),
    of(
        "stream-event",
        "Something odd about a TCP segment, or missing bytes, by Suricata's name.",
    ),
    of("flowbits", "Bits of the connection."),
    of("flowint", "Numbers of the connection."),
    of(
        "threshold",
        "How alerts are counted: `limit`, `threshold`, `both`.",
    ),
    of(
        "detection_filter",
        "Alerts after so many matches in an interval.",
    ),
    of("xbits", "Bits of hosts, or of pairs of hosts, that expire."),
    of("hostbits", "Bits of hosts that expire."),
    of("noalert", "The rule has effects, but does not alert."),
    of("alert", "The rule alerts although `noalert` stands in it."),
    accepted("tag", "Later packets are not recorded."),
    accepted(
        "filestore",
        "Files are written by `--extract`, not by rules.",
    ),
    accepted(
        "tls.store",
        "Certificates are in records (`--format zeek`), not in files.",
    ),
    accepted("tls_store", "As `tls.store`."),
    accepted("bypass", "No connection is left out."),
    accepted("logto", "Alerts have one log."),
    accepted("service", "Snort 3: the protocol is identified by content."),
    accepted("rem", "Snort 3: a remark."),
];

#[cfg(test)]
mod tests {
    use super::{KEYWORDS, keyword};
    use crate::buffers::BUFFERS;
    use crate::refused::REFUSED;
    use std::collections::BTreeSet;

    /// No keyword is in two lists, so that the documentation tells one thing of each.
    #[test]
    fn every_keyword_has_one_status() {
        let mut names = BTreeSet::new();
        let of_buffers = BUFFERS.iter().flat_map(|one| {
            let names = one.aliases.iter().chain(one.modifiers);
            [one.name].into_iter().chain(names.copied())
        });
        let refused = REFUSED.iter().flat_map(|(_, names)| names.iter().copied());
        for name in KEYWORDS
            .iter()
            .map(|one| one.name)
            .chain(of_buffers)
            .chain(refused)
        {
            assert!(names.insert(name), "{name} twice");
            assert!(keyword(name).is_some());
        }
        assert!(keyword("no_such_keyword").is_none());
    }
}
