//! What is counted of one connection.

use crate::plan::Ledger;

/// What was counted of a connection; pairs are client, server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    pub(crate) packets: [u32; 2],
    pub(crate) frame_bytes: [u64; 2],
    pub(crate) payload_bytes: [u64; 2],
    pub(crate) missing_bytes: u64,
    pub(crate) planned_packets: u32,
    pub(crate) planned_bytes: u32,
    /// Promised, not yet come true.
    pub(crate) straddles: i32,
    pub(crate) chunks: i32,
}

impl Tally {
    /// Takes note of what is expected.
    pub(crate) fn plan(&mut self, packets: u32, bytes: u32) {
        self.planned_packets = packets;
        self.planned_bytes = bytes;
    }

    /// What came out otherwise.
    pub(crate) fn correct(&self, ledger: &mut Ledger) {
        let packets: u32 = self.packets.iter().sum();
        let bytes: u64 = self.frame_bytes.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "bytes of one connection")]
        ledger.correct(
            f64::from(packets) - f64::from(self.planned_packets),
            bytes as f64 - f64::from(self.planned_bytes),
            -f64::from(self.straddles),
            -f64::from(self.chunks),
        );
    }
}
