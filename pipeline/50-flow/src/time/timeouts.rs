//! How long after its last packet a connection ends, by tool and by state.
//!
//! Zeek's time-outs are those of its base configuration (`tcp_attempt_delay`, `tcp_close_delay`,
//! `tcp_inactivity_timeout`, `udp_inactivity_timeout`, …), Suricata's those of `flow-timeouts` in
//! its default configuration. With Zeek's, an unanswered attempt and a closed connection end at a
//! fixed time after the attempt and the close, whatever follows; all others count from the last
//! packet.
//!
//! A connection closed by a RST ends as soon as any closed one, although its receiver may have
//! ignored the RST and the connection may continue: later packets then begin another record, in the
//! middle. Keeping each until it would have timed out means 300 seconds instead of 5, for a large
//! share of all connections in some networks; and ports reused within that time could not be
//! distinguished from forged SYNs.

use flowpin_config::Timeouts;

/// The kind of time-out that applies to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// TCP: an unanswered SYN.
    Attempt,
    /// TCP: answered, but not established.
    TcpNew,
    TcpEstablished,
    /// TCP: both sides closed, or one reset.
    TcpClosed,
    UdpNew,
    UdpEstablished,
    IcmpNew,
    IcmpEstablished,
    OtherNew,
    OtherEstablished,
}

/// The time-outs of a run.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    after_ns: [u64; 16],
    fixed: u16,
}

impl Rules {
    pub(crate) fn new(timeouts: Timeouts) -> Self {
        // In the order of `Class`.
        let (secs, fixed): ([u64; 10], u16) = match timeouts {
            Timeouts::Zeek => (
                [5, 300, 300, 5, 60, 60, 60, 60, 60, 60],
                1 << Class::Attempt as u8 | 1 << Class::TcpClosed as u8,
            ),
            Timeouts::Suricata => ([60, 60, 600, 60, 30, 300, 30, 300, 30, 300], 0),
            Timeouts::None => ([u64::MAX; 10], 0),
        };
        let mut after_ns = [u64::MAX; 16];
        for (to, from) in after_ns.iter_mut().zip(secs) {
            *to = from.saturating_mul(1_000_000_000);
        }
        Self { after_ns, fixed }
    }

    /// How long a connection of this class lives without a packet, in nanoseconds.
    #[inline]
    pub(crate) fn after_ns(&self, class: Class) -> u64 {
        self.after_ns[class as usize & 15]
    }

    /// As [`Rules::after_ns`], for all classes.
    pub(crate) const fn all_after_ns(&self) -> [u64; 16] {
        self.after_ns
    }

    /// The shortest of all: no connection times out earlier.
    pub(crate) fn shortest_ns(&self) -> u64 {
        self.after_ns.iter().copied().min().unwrap_or(0)
    }

    /// Whether packets leave the deadline unchanged.
    #[inline]
    pub(crate) fn is_fixed(&self, class: Class) -> bool {
        self.fixed >> (class as u8) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Rules, Timeouts};

    /// The table is in the order of the classes: a mistake would give UDP the limits of TCP.
    #[test]
    fn the_published_limits_hold() {
        let zeek = Rules::new(Timeouts::Zeek);
        assert_eq!(zeek.after_ns(Class::TcpEstablished), 300_000_000_000);
        assert_eq!(zeek.after_ns(Class::TcpClosed), 5_000_000_000);
        assert_eq!(zeek.after_ns(Class::UdpNew), 60_000_000_000);
        assert!(zeek.is_fixed(Class::Attempt) && !zeek.is_fixed(Class::TcpNew));
        let suricata = Rules::new(Timeouts::Suricata);
        assert_eq!(suricata.after_ns(Class::TcpEstablished), 600_000_000_000);
        assert_eq!(suricata.after_ns(Class::UdpEstablished), 300_000_000_000);
        assert_eq!(suricata.after_ns(Class::OtherEstablished), 300_000_000_000);
        assert!(!suricata.is_fixed(Class::TcpClosed));
        assert_eq!(
            Rules::new(Timeouts::None).after_ns(Class::Attempt),
            u64::MAX
        );
    }
}
