//! How a parser goes on after what it was given.

/// How a parser goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It wants more of the connection.
    More,
    /// It has released the connection: its number is free.
    Nothing,
    /// The connection is of another protocol after this many of the given bytes, in both
    /// directions.
    Successor(Successor, usize),
}

/// What a connection becomes when it leaves its first protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// The inside of a tunnel (CONNECT): any protocol.
    Tunnel,
    /// RFC 6455.
    WebSocket,
    /// RFC 9113, after `Upgrade: h2c` or its preface.
    Http2,
    /// RFC 2817.
    Tls,
    /// Another protocol that `Upgrade` names.
    Other,
}

/// What a parser takes over from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continues {
    /// What the connection became.
    pub successor: Successor,
    /// The protocol that its records are then of; also what `--parse` calls them.
    pub protocol: &'static str,
}
