//! Connections that change their protocol: tunnels, and what a WebSocket carries.

use crate::talk::{Turns, events, run, talk};
use flowpin_config::Format;
use flowpin_counters::Loss;

/// RFC 9110 §9.3.6: behind CONNECT anything may come. The record of the request and that of what
/// it led to are both there, and count on.
#[test]
fn a_tunnel_is_looked_at_anew() {
    let mut hello = vec![22, 3, 1, 0, 47, 1, 0, 0, 43, 3, 3];
    hello.extend([7; 32]);
    hello.extend([0, 0, 4, 0x13, 1, 0x13, 2, 1, 0]);
    hello[4] = u8::try_from(hello.len() - 5).unwrap();
    hello[8] = u8::try_from(hello.len() - 9).unwrap();
    let turns: Turns<'_> = &[
        (
            true,
            b"CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n",
        ),
        (false, b"HTTP/1.1 200 Connection established\r\n\r\n"),
        (true, &hello),
    ];
    for size in [1, 9, 2000] {
        let frames = talk(turns, size, 1);
        let http = events(&frames, "1x1", "http");
        assert!(
            http.len() == 1 && http[0].contains("\"tx_id\":0"),
            "{http:?}"
        );
        let tls = events(&frames, "1x1", "tls");
        assert!(tls.len() == 1 && tls[0].contains("\"tx_id\":1"), "{tls:?}");
        let flow = events(&frames, "1x1", "flow");
        assert!(flow[0].contains("\"app_proto\":\"tls\""), "{flow:?}");
    }
}

/// RFC 6455 §5: what a WebSocket carries may be TLS, masked and in frames of any size.
#[test]
fn tls_inside_a_websocket_is_told() {
    let frame = |part: &[u8], key: Option<[u8; 4]>| {
        let mask = if key.is_some() { 0x80 } else { 0 };
        let key = key.unwrap_or_default();
        let masked = part
            .iter()
            .zip(key.iter().cycle())
            .map(|(byte, key)| byte ^ key);
        let head = vec![0x82, mask | u8::try_from(part.len()).unwrap()];
        let shown = if mask == 0 { &[][..] } else { &key[..] };
        head.into_iter()
            .chain(shown.iter().copied())
            .chain(masked)
            .collect::<Vec<u8>>()
    };
    let mut hello = vec![22, 3, 1, 0, 65, 1, 0, 0, 61, 3, 3];
    hello.extend([7; 32]);
    hello.extend(b"\0\0\x04\x13\x01\x13\x02\x01\0\0\x10\0\0\0\x0c\0\x0a\0\0\x07a.bc.de");
    hello[4] = u8::try_from(hello.len() - 5).unwrap();
    hello[8] = u8::try_from(hello.len() - 9).unwrap();
    let (one, other) = hello.split_at(20);
    let sent = [
        frame(one, Some([1, 2, 3, 4])),
        frame(other, Some([9, 8, 7, 6])),
    ]
    .concat();
    let asks = b"GET /t HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let agrees = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    // The server's first frame may stand in the segment of its answer.
    let agrees = [agrees.as_slice(), &frame(b"\x16\x03\x03", None)].concat();
    let turns: Turns<'_> = &[(true, asks), (false, &agrees), (true, &sent)];
    for size in [1, 7, 2000] {
        let frames = talk(turns, size, 1);
        let tls = events(&frames, "2x2", "tls");
        assert!(
            tls.len() == 1 && tls[0].contains("\"sni\":\"a.bc.de\""),
            "{size}: {tls:?}"
        );
        let flow = events(&frames, "1x1", "flow");
        assert!(flow[0].contains("\"app_proto\":\"websocket\""), "{flow:?}");
    }
    // Anything else is let go.
    let texts = frame(b"\x16 is a text", Some([1, 2, 3, 4]));
    let turns: Turns<'_> = &[(true, asks), (false, &agrees[..56]), (true, &texts)];
    assert_eq!(events(&talk(turns, 2000, 1), "1x1", "tls").len(), 0);
}

/// Each switch of protocols has the stream looked at anew, from within the one before: in one
/// segment there may be thousands.
#[test]
fn a_stream_does_not_change_its_protocol_without_end() {
    let switches = b"HTTP/1.1 101 \r\n\r\n".repeat(3500);
    let turns: Turns<'_> = &[(false, &switches)];
    let folder = tempfile::tempdir().unwrap();
    let report = run(
        &talk(turns, 60_000, 1),
        "2x1",
        &[Format::None],
        folder.path(),
    );
    let losses: Vec<_> = report.losses.iter().collect();
    assert_eq!(losses, [(Loss::IdentifyChanges, 1)]);
}
