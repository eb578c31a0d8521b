//! ICMP errors: the packet that they quote decides where they count.

use super::{Found, Peel, Step, Watch};
use flowpin_packet::{PacketFlags, PacketKind, TcpFlags};
use flowpin_wire::Next;
use flowpin_wire::transport::IcmpMessage;

/// What an error's descriptor keeps of the error itself; all else is the quoted packet's.
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
    /// Goes on with the packet that `message` quotes. `found` is the message by itself: what
    /// remains if nothing in the quote can be read.
    pub(super) fn quote(&mut self, found: Found, message: &IcmpMessage<'_>) -> Step {
        let quoted_len = message.quoted().len();
        let meta = &found.meta;
        self.error = Some(IcmpError {
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
        self.outer = Some(found);
        self.enter(message.header_len(), None);
        self.captured_end = self.captured_end.min(self.at.saturating_add(quoted_len));
        Step::Next(Next::Ip)
    }

    /// Turns a packet that was read from a quote into the error that quotes it.
    pub(super) fn finish(&self, found: Found) -> Found {
        match self.error {
            // The message itself, if the quote was not legible.
            Some(error) if error.l4_offset != found.meta.l4_offset => error.about(found),
            _ => found,
        }
    }
}

impl IcmpError {
    fn about(&self, mut found: Found) -> Found {
        let meta = &mut found.meta;
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
        found
    }
}
