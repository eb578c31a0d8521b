//! Streams that go on as something else.

/// What a connection becomes when it stops being HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// The other end of a tunnel (CONNECT): any protocol.
    Tunnel,
    /// RFC 6455.
    WebSocket,
    /// RFC 9113, after `Upgrade: h2c` or its preface.
    Http2,
    /// RFC 2817.
    Tls,
    /// Something else that `Upgrade` named.
    Other,
}

impl Successor {
    /// Reads the value of `Upgrade`.
    pub(crate) fn read(value: &[u8]) -> Self {
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
            Self::WebSocket
        } else if names(b"h2c") {
            Self::Http2
        } else if names(b"TLS/") {
            Self::Tls
        } else {
            Self::Other
        }
    }
}
