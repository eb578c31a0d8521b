//! What is odd about records and handshakes, by name.

use crate::hello::ClientHello;
use flowpin_wire::Cursor;

flowpin_parser::anomalies! {
    RecordType = "tls_record_type_unknown",
        "A record of an unknown type, where the next record of a handshake would begin.";
    RecordVersion = "tls_record_version_odd",
        "A record of another major version than 3, likewise.";
    RecordTooLong = "tls_record_too_long", "A record longer than any version allows.";
    HandshakeMalformed = "tls_handshake_malformed", "A hello whose lengths contradict each other.";
    CertificateCut = "tls_certificate_cut",
        "A certificate, or one of its parts, that ends within its length.";
    CertificateMalformed = "tls_certificate_malformed",
        "A certificate that lacks a part, or whose lengths contradict each other.";
    NameRepeated = "tls_server_name_repeated", "A client's hello with several server names.";
    NameType = "tls_server_name_type_odd", "A server name of another type than a host.";
    NameLength = "tls_server_name_length_odd",
        "A server name that is empty, or longer than the place for it.";
    Heartbeat = "tls_heartbeat", "A heartbeat before anything is encrypted.";
    HeartbeatOverflow = "tls_heartbeat_overflow",
        "A heartbeat that claims more payload than it has: who answers it tells what is in memory.";
    HeartbeatPadding = "tls_heartbeat_padding", "A heartbeat with less padding than 16 bytes.";
}

/// Anomalies of a connection: each is told once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Odd {
    all: Anomalies,
    /// In the order in which they came, which is the same however the stream is cut.
    untold: [Option<Anomaly>; Anomaly::ALL.len()],
}

impl Odd {
    pub(crate) fn add(&mut self, anomaly: Anomaly) {
        if self.all.add(anomaly)
            && let Some(place) = self.untold.iter_mut().find(|one| one.is_none())
        {
            *place = Some(anomaly);
        }
    }

    /// What was not told yet.
    #[inline]
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Anomaly> {
        core::mem::take(&mut self.untold).into_iter().flatten()
    }
}

/// RFC 6066 §3: one list with one host name.
pub(crate) fn of_names(hello: &ClientHello<'_>) -> Option<Anomaly> {
    if hello.repeats_name {
        return Some(Anomaly::NameRepeated);
    }
    let mut cursor = Cursor::over(hello.names?);
    let mut read = || {
        let list = cursor.len16()?;
        let kind = cursor.u8()?;
        let name = cursor.len16()?;
        Some((list, kind, name, cursor.take(name)?))
    };
    match read() {
        Some((list, kind, name, _)) if name > 0 && list >= name.saturating_add(3) => {
            (kind != 0).then_some(Anomaly::NameType)
        }
        _ => Some(Anomaly::NameLength),
    }
}

/// RFC 6520 §4: type, length of the payload, payload, at least 16 bytes of padding. A longer
/// payload than the record has must not be answered.
pub(crate) fn of_heartbeat(start: [u8; 3], record_len: usize) -> Option<Anomaly> {
    let [_, high, low] = start;
    let claimed = usize::from(u16::from_be_bytes([high, low]));
    let behind = record_len.saturating_sub(3);
    if claimed > behind {
        return Some(Anomaly::HeartbeatOverflow);
    }
    let padding = behind.saturating_sub(claimed);
    (padding < 16).then_some(Anomaly::HeartbeatPadding)
}

#[cfg(test)]
mod tests {
    use super::{Anomaly, of_heartbeat, of_names};
    use crate::Tls;
    use crate::fuzz::tests::{client_hello, message, record, server_hello, sized};
    use crate::fuzz::{AMPLE, trial};
    use crate::hello::ClientHello;
    use flowpin_packet::Timestamp;
    use flowpin_parser::{Next, Parser};
    use flowpin_record::{MessageSchema, MessageSink, Value};

    #[derive(Default)]
    struct Told(Vec<&'static str>);

    impl MessageSink for Told {
        fn message(&mut self, _: &MessageSchema, _: Timestamp, _: &[Value<'_>]) {}

        fn anomaly(&mut self, event: &'static str) {
            self.0.push(event);
        }
    }

    /// What is told of a client's hello and what the server sends, in parts of `cut` bytes.
    fn told(server: &[u8], cut: usize) -> Vec<&'static str> {
        let mut tls = trial(&Tls::new, AMPLE).unwrap();
        let mut sink = Told::default();
        let handle = tls.begin(0).unwrap();
        let hello = record(22, &client_hello("a.example"));
        let turns = [(true, hello.as_slice()), (false, server)];
        let parts = turns
            .iter()
            .flat_map(|(to_server, bytes)| bytes.chunks(cut).map(|part| (*to_server, part)));
        for (to_server, part) in parts {
            if tls.data(handle, Timestamp(1), to_server, part, &mut sink) == Next::Nothing {
                break;
            }
        }
        tls.finish(&mut sink);
        sink.0
    }

    /// Each by its name, once, however the bytes are cut. Of the certificates, one has an element
    /// whose length is cut off, and one an element that is longer than all that is there.
    #[test]
    fn records_and_messages_are_told_by_name() {
        let hello = record(22, &server_hello());
        let listed = |certificate: &[u8]| {
            let list = sized::<3>(&sized::<3>(certificate));
            record(22, &message(11, &list))
        };
        let behind = |record: Vec<u8>| [hello.clone(), record].concat();
        let heartbeat = record(24, &[1, 0x40, 0]);
        for (server, expected) in [
            (hello.clone(), &[][..]),
            (behind(record(99, b"x")), &["tls_record_type_unknown"]),
            (
                behind(b"\x16\x02\x00\x00\x01x".to_vec()),
                &["tls_record_version_odd"],
            ),
            (
                behind(b"\x16\x03\x03\xff\xff".to_vec()),
                &["tls_record_too_long"],
            ),
            (
                behind([heartbeat.clone(), heartbeat].concat()),
                &["tls_heartbeat", "tls_heartbeat_overflow"],
            ),
            (
                behind(record(24, &[[1, 0, 4].as_slice(), &[7; 19]].concat())),
                &["tls_heartbeat", "tls_heartbeat_padding"],
            ),
            (
                behind(listed(&[0x30, 5, 0x30, 0x84, 0xff, 0xff, 0xff])),
                &["tls_certificate_cut"],
            ),
            (
                behind(listed(&[0x30, 6, 0x30, 0x84, 0xff, 0xff, 0xff, 0xfa])),
                &["tls_certificate_malformed"],
            ),
            (
                record(22, &message(2, &[3, 3, 7])),
                &["tls_handshake_malformed"],
            ),
            (
                b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
                &["tls_record_version_odd"],
            ),
        ] {
            for cut in [1, 3, 7, 2000] {
                let mut told = told(&server, cut);
                told.sort_unstable();
                assert_eq!(told, expected, "{server:?} by {cut}");
            }
        }
    }

    /// Every name in a record is explained in the user documentation.
    #[test]
    fn every_anomaly_is_in_the_documentation() {
        let page = include_str!("../../../../docs/user/anomalies.md");
        for anomaly in Anomaly::ALL {
            let row = format!("| `{}` | {} |", anomaly.name(), anomaly.explanation());
            assert!(page.contains(&row), "{row}");
        }
    }

    /// The example of CVE-2014-0160: three bytes that claim 16,384.
    #[test]
    fn heartbeats_claim_what_they_have() {
        let overflow = Some(Anomaly::HeartbeatOverflow);
        assert_eq!(of_heartbeat([1, 0x40, 0], 3), overflow);
        assert_eq!(of_heartbeat([1, 0, 1], 3), overflow);
        let padding = Some(Anomaly::HeartbeatPadding);
        assert_eq!(of_heartbeat([1, 0, 4], 3 + 4 + 15), padding);
        assert_eq!(of_heartbeat([1, 0, 4], 3 + 4 + 16), None);
    }

    #[test]
    fn server_names_are_one_host() {
        let named = |names: &'static [u8]| {
            of_names(&ClientHello {
                names: Some(names),
                ..ClientHello::default()
            })
        };
        assert_eq!(named(b"\0\x04\0\0\x01a"), None);
        assert_eq!(named(b"\0\x04\x01\0\x01a"), Some(Anomaly::NameType));
        for odd in [
            &b""[..],
            b"\0\x03\0\0\0",
            b"\0\x04\0\0\x02a",
            b"\0\x03\0\0\x01a",
            b"\0\x04\0",
        ] {
            assert_eq!(named(odd), Some(Anomaly::NameLength), "{odd:?}");
        }
        assert_eq!(of_names(&ClientHello::default()), None);
    }
}
