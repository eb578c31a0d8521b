//! ICMP errors: the packet that they quote decides where they count.

use super::{Found, Peel, Step, Watch};
use flowpin_packet::{PacketFlags, PacketKind, PacketMeta, TcpFlags};
use flowpin_wire::Next;
use flowpin_wire::transport::IcmpMessage;

/// The fields of an error's descriptor that are its own; all others are the quoted packet's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IcmpError {
    ip_len: u32,
    payload_len: u32,
    fingerprint: u32,
    l4_offset: u16,
    payload_offset: u16,
    icmp_type: TcpFlags,
    icmp_code: u8,
    protocol: u8,
    flags: PacketFlags,
}

impl<W: Watch> Peel<'_, W> {
    /// Continues with the packet that `message` quotes. The message itself was stored in `found`,
    /// which remains if nothing in the quote can be read.
    pub(super) fn quote(&mut self, message: &IcmpMessage<'_>) -> Step {
        let quoted_len = message.quoted().len();
        self.error = self.found.as_ref().map(|Found { meta, .. }| IcmpError {
            ip_len: meta.ip_len,
            payload_len: meta.payload_len,
            fingerprint: meta.fingerprint,
            l4_offset: meta.l4_offset,
            payload_offset: meta.payload_offset,
            icmp_type: meta.tcp_flags,
            icmp_code: meta.icmp_code,
            protocol: meta.protocol,
            flags: meta.flags,
        });
        self.enter(message.header_len(), None);
        self.captured_end = self.captured_end.min(self.at.saturating_add(quoted_len));
        Step::Next(Next::Ip)
    }

    /// Turns a packet that was read from a quote into the error that quotes it.
    pub(super) fn finish(&mut self) {
        if let (Some(error), Some(found)) = (&self.error, &mut self.found) {
            // The message itself, if the quote was unreadable.
            if error.l4_offset != found.meta.l4_offset {
                error.apply(&mut found.meta);
            }
        }
    }
}

impl IcmpError {
    fn apply(&self, meta: &mut PacketMeta) {
        meta.ip_len = self.ip_len;
        meta.payload_len = self.payload_len;
        meta.fingerprint = self.fingerprint;
        meta.l4_offset = self.l4_offset;
        meta.payload_offset = self.payload_offset;
        meta.tcp_flags = self.icmp_type;
        meta.icmp_code = self.icmp_code;
        meta.kind = PacketKind::IcmpError;
        meta.protocol = self.protocol;
        meta.flags = self.flags;
        (meta.seq, meta.ack, meta.window) = Default::default();
    }
}
