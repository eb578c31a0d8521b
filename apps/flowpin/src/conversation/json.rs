//! A conversation as JSON lines, with the field names of EVE JSON.

use super::protocol;
use core::net::IpAddr;
use flowpin_engine::{StreamEnd, StreamPlace};
use flowpin_record::{CommunityId, Ports};
use flowpin_words::number;
use serde::Serialize;
use std::io::{self, Write};

/// A line. The source is the sender.
#[derive(Serialize)]
struct Line<'a> {
    timestamp: String,
    flow_id: u64,
    uid: String,
    community_id: String,
    pcap_cnt: u64,
    src_ip: IpAddr,
    src_port: u16,
    dest_ip: IpAddr,
    dest_port: u16,
    proto: &'a str,
    from: &'static str,
    /// Bytes of the stream before this.
    offset: u64,
    #[serde(flatten)]
    what: What,
}

#[derive(Serialize)]
#[serde(untagged)]
enum What {
    Data {
        length: usize,
        /// Base64 (RFC 4648 §4).
        payload: String,
        payload_printable: String,
    },
    Gap {
        gap: u64,
    },
    End {
        end: &'static str,
    },
}

/// A run of bytes.
pub(super) fn data(
    out: &mut impl Write,
    at: &StreamPlace<'_>,
    seed: u16,
    bytes: &[u8],
) -> io::Result<()> {
    let payload_printable = bytes
        .iter()
        .map(|&byte| match byte {
            b'\n' | b'\r' | b'\t' | b' '..=b'~' => char::from(byte),
            _ => '.',
        })
        .collect();
    let what = What::Data {
        length: bytes.len(),
        payload: base64(bytes),
        payload_printable,
    };
    line(out, at, seed, what)
}

/// Bytes that are not in the capture.
pub(super) fn gap(
    out: &mut impl Write,
    at: &StreamPlace<'_>,
    seed: u16,
    len: u64,
) -> io::Result<()> {
    line(out, at, seed, What::Gap { gap: len })
}

/// The end of a direction.
pub(super) fn closed(
    out: &mut impl Write,
    at: &StreamPlace<'_>,
    seed: u16,
    how: StreamEnd,
) -> io::Result<()> {
    let end = match how {
        StreamEnd::Fin => "fin",
        StreamEnd::Reset => "reset",
        StreamEnd::Ended => "ended",
    };
    line(out, at, seed, What::End { end })
}

fn line(out: &mut impl Write, at: &StreamPlace<'_>, seed: u16, what: What) -> io::Result<()> {
    let conversation = at.conversation;
    let (from, to) = conversation.ends(at.to_server);
    let ports = Ports::Pair(from.port(), to.port());
    let community = CommunityId::new(seed, conversation.protocol, from.ip(), to.ip(), ports);
    let line = Line {
        timestamp: number::rfc3339(at.time),
        flow_id: conversation.uid.flow_id(),
        uid: conversation.uid.to_string(),
        community_id: community.to_string(),
        pcap_cnt: at.packet_number,
        src_ip: from.ip(),
        src_port: from.port(),
        dest_ip: to.ip(),
        dest_port: to.port(),
        proto: protocol(conversation),
        from: if at.to_server { "client" } else { "server" },
        offset: at.offset,
        what,
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for nth in 0..4 {
            let digit = (bits >> (18 - 6 * nth) & 63) as usize;
            let letter = DIGITS.get(digit).copied().unwrap_or(b'=');
            out.push(if nth > three.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    out
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::base64;

    /// RFC 4648 §10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
