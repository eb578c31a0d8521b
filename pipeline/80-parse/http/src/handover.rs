//! Connections that change to another protocol.

use flowpin_parser::Successor;

/// Reads the value of `Upgrade`.
pub(crate) fn successor(value: &[u8]) -> Successor {
    let names = |name: &[u8]| {
        value
            .split(|&byte| byte == b',')
            .map(<[u8]>::trim_ascii)
            .any(|one| {
                one.get(..name.len())
                    .is_some_and(|begin| begin.eq_ignore_ascii_case(name))
            })
    };
    if names(b"websocket") {
        Successor::WebSocket
    } else if names(b"h2c") {
        Successor::Http2
    } else if names(b"TLS/") {
        Successor::Tls
    } else {
        Successor::Other
    }
}
