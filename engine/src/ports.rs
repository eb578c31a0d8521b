//! Sums by port.

use crate::sums::{FoldHash, Traffic};
use std::collections::HashMap;

/// By protocol and port.
type ByPort = HashMap<(u8, u16), Traffic, FoldHash>;

/// Sums by TCP's and UDP's ports: nearly all connections, so no hash is asked for them.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    /// By port, TCP's and behind them UDP's: one more than the place in `rows`.
    places: Box<[u32]>,
    rows: Vec<Traffic>,
}

impl Ports {
    pub(crate) fn new() -> Self {
        Self {
            places: vec![0; 2 * PORTS].into_boxed_slice(),
            rows: Vec::new(),
        }
    }

    /// Adds a connection's traffic: here, or to `others`.
    #[inline]
    pub(crate) fn count(&mut self, port: (u8, u16), traffic: &Traffic, others: &mut ByPort) {
        let (protocol, number) = port;
        let place = match protocol {
            TCP => self.places.get_mut(usize::from(number)),
            UDP => self.places.get_mut(PORTS + usize::from(number)),
            _ => None,
        };
        if let Some(place) = place {
            if *place == 0 {
                self.rows.push(Traffic::default());
                *place = u32::try_from(self.rows.len()).unwrap_or(0);
            }
            if let Some(sums) = self.rows.get_mut((*place as usize).wrapping_sub(1)) {
                sums.add(traffic);
            }
        } else if has_ports(protocol) {
            others.entry(port).or_default().add(traffic);
        }
    }

    /// Moves all that is here to `others`.
    pub(crate) fn settle(&mut self, others: &mut ByPort) {
        let Self { places, rows } = core::mem::take(self);
        if rows.is_empty() {
            return;
        }
        for (protocol, places) in [TCP, UDP].into_iter().zip(places.chunks(PORTS)) {
            for (port, &place) in (0..=u16::MAX).zip(places) {
                let row = (place as usize).checked_sub(1);
                if let Some(traffic) = row.and_then(|row| rows.get(row)) {
                    others.entry((protocol, port)).or_default().add(traffic);
                }
            }
        }
    }
}

/// Whether a protocol's endpoints have port numbers (TCP, UDP, DCCP, SCTP, UDP-Lite).
pub(crate) const fn has_ports(protocol: u8) -> bool {
    matches!(protocol, TCP | UDP | 33 | 132 | 136)
}

/// Port numbers of a protocol.
const PORTS: usize = 1 << 16;
const TCP: u8 = 6;
const UDP: u8 = 17;
