//! WireGuard, recognised by its message types and their lengths, and left opaque.

use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// What a WireGuard message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireguardKind {
    /// First message of a handshake.
    Initiation,
    /// Second message of a handshake.
    Response,
    /// Cookie under load.
    CookieReply,
    /// Encrypted packet, or a keep-alive.
    Transport,
}

/// A WireGuard message.
#[derive(Clone, Copy, Debug)]
pub struct WireguardMessage {
    kind: WireguardKind,
}

impl WireguardMessage {
    /// The UDP port in the documentation; any other is as common.
    pub const PORT: u16 = 51820;

    /// Recognises a UDP payload of `wire_len` bytes.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below four bytes; [`Reason::IllegalValue`] for reserved bytes or a
    /// length that does not go with the type; [`Reason::Unsupported`] for another type.
    pub fn parse(bytes: &[u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some(&[message_type, reserved @ ..]) = bytes.first_chunk::<4>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        if reserved != [0; 3] {
            return Err(refuse(Reason::IllegalValue, 1));
        }
        let (kind, legal) = match message_type {
            1 => (WireguardKind::Initiation, wire_len == 148),
            2 => (WireguardKind::Response, wire_len == 92),
            3 => (WireguardKind::CookieReply, wire_len == 64),
            // Header of 16 bytes, payload padded to 16, tag of 16.
            4 => (
                WireguardKind::Transport,
                wire_len >= 32 && wire_len.is_multiple_of(16),
            ),
            _ => return Err(refuse(Reason::Unsupported, 0)),
        };
        if legal {
            Ok(Self { kind })
        } else {
            Err(refuse(Reason::IllegalValue, 0))
        }
    }

    /// What the message is for.
    #[inline]
    pub const fn kind(self) -> WireguardKind {
        self.kind
    }

    /// Always [`Next::Opaque`].
    #[inline]
    pub const fn next(self) -> Next {
        Next::Opaque
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Wireguard, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{WireguardKind, WireguardMessage, refuse};
    use flowpin_packet::Reason;

    /// Type and length must go together.
    #[test]
    fn types_have_their_lengths() {
        let kind = |message_type: u8, len| {
            WireguardMessage::parse(&[message_type, 0, 0, 0], len).map(WireguardMessage::kind)
        };
        assert_eq!(kind(1, 148), Ok(WireguardKind::Initiation));
        assert_eq!(kind(2, 92), Ok(WireguardKind::Response));
        assert_eq!(kind(3, 64), Ok(WireguardKind::CookieReply));
        assert_eq!(kind(4, 32), Ok(WireguardKind::Transport));
        for (message_type, len) in [(1, 147), (2, 91), (3, 65), (4, 16), (4, 33)] {
            assert_eq!(
                kind(message_type, len),
                Err(refuse(Reason::IllegalValue, 0))
            );
        }
        assert_eq!(kind(5, 148), Err(refuse(Reason::Unsupported, 0)));
    }

    /// Reserved bytes are 0.
    #[test]
    fn reserved_bytes_are_refused() {
        let got = WireguardMessage::parse(&[1, 0, 0, 9], 148).unwrap_err();
        assert_eq!(got, refuse(Reason::IllegalValue, 1));
        let got = WireguardMessage::parse(&[1, 0, 0], 148).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 0));
    }
}
