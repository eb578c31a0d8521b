//! What single packets and first bytes show of a connection.

use super::Packet;
use super::state::Connection;
use flowpin_packet::{PacketKind, TcpFlags};

/// The protocol whose first bytes these are, where two protocols may meet on one connection: a
/// server of SSH answers a client of HTTP.
pub(super) fn greeting(bytes: &[u8]) -> Option<&'static str> {
    let begins = [
        (&b"SSH-"[..], "ssh"),
        (b"HTTP/1.", "http"),
        (b"GET ", "http"),
        (b"POST ", "http"),
        (b"HEAD ", "http"),
        (b"EHLO ", "smtp"),
        (b"HELO ", "smtp"),
        (b"\x16\x03", "tls"),
    ];
    let mut begins = begins.iter();
    let found = begins.find(|(begin, _)| bytes.starts_with(begin));
    found.map(|(_, name)| *name)
}

/// What a packet shows of its connection's state.
pub(super) fn follow(connection: &mut Connection, packet: &Packet<'_>, to_server: bool) {
    if packet.meta.kind != PacketKind::Tcp {
        let other = Connection::FIRST
            .get(usize::from(to_server))
            .copied()
            .unwrap_or(0);
        if connection.has(other) {
            connection.note(Connection::ESTABLISHED);
        }
        return;
    }
    let flags = packet.meta.tcp_flags;
    let [client, server] = &mut connection.sides;
    let (mine, theirs) = match to_server {
        true => (client, server),
        false => (server, client),
    };
    mine.sends(packet.meta.seq, packet.meta.payload_len);
    if flags.has(TcpFlags::ACK) {
        theirs.acknowledged = Some(packet.meta.ack);
    }
    match (
        to_server,
        flags.has(TcpFlags::SYN),
        flags.has(TcpFlags::ACK),
    ) {
        (true, true, _) => connection.note(Connection::SYN),
        (false, true, true) => connection.note(Connection::ANSWERED),
        (true, false, true) if connection.has(Connection::ANSWERED) => {
            connection.note(Connection::ESTABLISHED);
        }
        _ => {}
    }
}
