//! Small bit sets on packets.

macro_rules! bit_set {
    ($(#[$meta:meta])* $name:ident : $int:ty {
        $($(#[$cmeta:meta])* $constant:ident = $value:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $int);

        impl $name {
            $($(#[$cmeta])* pub const $constant: Self = Self($value);)*

            /// Whether every bit of `other` is set.
            #[inline]
            pub const fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether any bit of `other` is set.
            #[inline]
            pub const fn has_any(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// Both sets' bits.
            #[inline]
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// `self` without the bits of `other`.
            #[inline]
            #[must_use]
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }
        }
    };
}

bit_set! {
    /// The control bits of a TCP header (RFC 9293 §3.1; ECN: RFC 3168).
    TcpFlags: u8 {
        /// No more data from sender.
        FIN = 0x01,
        /// Synchronise sequence numbers.
        SYN = 0x02,
        /// Reset the connection.
        RST = 0x04,
        /// Push.
        PSH = 0x08,
        /// The acknowledgement field counts.
        ACK = 0x10,
        /// The urgent pointer counts.
        URG = 0x20,
        /// ECN echo.
        ECE = 0x40,
        /// Congestion window reduced.
        CWR = 0x80,
    }
}

bit_set! {
    /// What dispatch found out about a packet.
    PacketFlags: u16 {
        /// The addresses of the key are IPv6.
        IPV6 = 1,
        /// The packet travels from the key's higher endpoint to its lower one.
        HIGH_TO_LOW = 1 << 1,
        /// The capture holds fewer bytes than were on the wire.
        SNAPPED = 1 << 2,
        /// The transport checksum does not hold (never set when checksums are not verified).
        BAD_CHECKSUM = 1 << 3,
        /// The transport checksum is the partial sum that the sender's adapter would complete.
        OFFLOADED_CHECKSUM = 1 << 4,
        /// At least one VLAN tag stands before the network header.
        VLAN = 1 << 5,
        /// At least one tunnel was peeled.
        TUNNELLED = 1 << 6,
        /// The bytes are a datagram made from fragments: look in the batch's extra bytes.
        REASSEMBLED = 1 << 7,
        /// A fragment that could not wait for the others (over a cap): keyed by addresses only.
        LONE_FRAGMENT = 1 << 8,
        /// `time` is earlier than the stream's: the capture is not in order here.
        OUT_OF_ORDER = 1 << 9,
        /// The transport header is still to be read (`--cut capture`): only the key is set.
        UNDECODED = 1 << 10,
    }
}
