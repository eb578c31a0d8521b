//! What HTTP hands a connection over to: said by the connection's own record.

use flowpin_testkit::build::talk;
use flowpin_testkit::product;
use serde_json::Value;

/// The `http` event and the connection's, for any number of cores.
fn events(turns: &[(bool, f64, &[u8])]) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcap");
    std::fs::write(&path, talk(8123, turns).unwrap()).unwrap();
    let mut first = None;
    for shape in ["1x1", "2x3"] {
        let capture = path.to_str().unwrap();
        let words = [
            "run",
            "-q",
            "-r",
            capture,
            "--output",
            "-",
            "--pipeline",
            shape,
        ];
        let outcome = product::run(&words).unwrap();
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert_eq!(*first.get_or_insert(outcome.stdout.clone()), outcome.stdout);
    }
    let text = String::from_utf8(first.unwrap()).unwrap();
    let all: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let one = |kind: &str| {
        let found = all.iter().filter(|event| event["event_type"] == kind);
        let found: Vec<_> = found.cloned().collect();
        assert_eq!(found.len(), 1, "{kind}: {text}");
        found[0].clone()
    };
    (one("http"), one("flow"))
}

/// RFC 6455 §4: behind the answer 101 both sides speak WebSocket, also where its first frames come
/// in the answer's segment.
#[test]
fn a_connection_that_goes_on_as_websocket_says_so() {
    let asks = b"GET /chat HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    let agrees = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
        Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\
        \x81\x05hello";
    let frame = b"\x81\x85\x01\x02\x03\x04iginn";
    let (http, flow) = events(&[(true, 0.1, asks), (false, 0.1, agrees), (true, 0.1, frame)]);
    assert_eq!(http["http"]["status"], 101);
    assert_eq!(flow["app_proto"], "websocket");
    assert_eq!(flow["app_proto_orig"], "http");
}

/// RFC 7540 §3.2: behind the answer 101 both sides speak HTTP/2, the client after its preface.
#[test]
fn a_connection_that_goes_on_as_http2_says_so() {
    let asks = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\n\
        Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n";
    let agrees = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\
        \0\0\0\x04\0\0\0\0\0";
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let (http, flow) = events(&[
        (true, 0.1, asks),
        (false, 0.1, agrees),
        (true, 0.1, preface),
    ]);
    assert_eq!(http["http"]["status"], 101);
    assert_eq!(flow["app_proto"], "http2");
    assert_eq!(flow["app_proto_orig"], "http");
}

/// A server that does not agree goes on as HTTP.
#[test]
fn a_connection_that_may_not_go_on_otherwise_stays_http() {
    let asks = b"GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    let (http, flow) = events(&[
        (true, 0.1, asks),
        (
            false,
            0.1,
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
    ]);
    assert_eq!(http["http"]["status"], 200);
    assert_eq!(flow["app_proto"], "http");
}
