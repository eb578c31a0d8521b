//! A packet in a block: its header as the kernel writes it (linux/if_packet.h, `tpacket3_hdr`).

use crate::word;
use flowpin_packet::Timestamp;

/// A packet, where the kernel put it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// When the kernel got it.
    pub time: Timestamp,
    /// Its length on the wire, without the VLAN tag that the kernel took out.
    pub wire_len: u32,
    /// Its bytes, as far as they were kept.
    pub bytes: &'a [u8],
    /// The VLAN tag that the kernel took out, as it stood in the frame (from byte 12 on): protocol
    /// and control information.
    pub vlan: Option<[u8; 4]>,
}

impl<'a> Packet<'a> {
    /// The packet at a place of a block, and how far it is to the next one (0: none). None if
    /// that is no packet, which the kernel does not write.
    pub(crate) fn at(block: &'a [u8], place: usize) -> Option<(Self, usize)> {
        let header = block.get(place..)?.first_chunk::<HEADER_LEN>()?;
        let word = |at| word(header, at);
        let half = |at: usize| {
            let bytes = header.get(at..).and_then(|rest| rest.first_chunk());
            u16::from_ne_bytes(bytes.copied().unwrap_or_default())
        };
        let start = place + usize::from(half(24));
        let bytes = block.get(start..start.checked_add(word(12) as usize)?)?;
        let status = word(20);
        let vlan = (status & libc::TP_STATUS_VLAN_VALID != 0).then(|| {
            let protocol = match half(36) {
                0 => VLAN,
                protocol if status & libc::TP_STATUS_VLAN_TPID_VALID != 0 => protocol,
                _ => VLAN,
            };
            #[expect(clippy::cast_possible_truncation, reason = "16 bits in a word")]
            let control = word(32) as u16;
            let [a, b] = protocol.to_be_bytes();
            let [c, d] = control.to_be_bytes();
            [a, b, c, d]
        });
        let packet = Self {
            time: Timestamp::new(u64::from(word(4)), word(8)),
            wire_len: word(16),
            bytes,
            vlan,
        };
        Some((packet, word(0) as usize))
    }
}

const HEADER_LEN: usize = 48;
/// The protocol of a VLAN tag, unless the kernel names another (IEEE 802.1Q).
const VLAN: u16 = 0x8100;

#[cfg(test)]
mod tests {
    use super::Packet;

    /// A block with one packet, as the kernel would write it.
    fn block(status: u32, snap_len: u32) -> Vec<u8> {
        let mut block = vec![0; 256];
        let mut put = |at: usize, bytes: &[u8]| {
            block[48 + at..48 + at + bytes.len()].copy_from_slice(bytes);
        };
        for (at, word) in [
            (4, 7),
            (8, 9),
            (12, snap_len),
            (16, 1500),
            (20, status),
            (32, 5),
        ] {
            put(at, &u32::to_ne_bytes(word));
        }
        put(24, &80u16.to_ne_bytes());
        put(36, &0x88a8u16.to_ne_bytes());
        put(80, b"frame");
        block
    }

    #[test]
    fn a_packet_has_the_kernels_fields() {
        let block = block(
            libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_VLAN_TPID_VALID,
            5,
        );
        let (packet, next) = Packet::at(&block, 48).unwrap();
        assert_eq!((packet.time.secs(), packet.time.subsec_nanos()), (7, 9));
        assert_eq!(
            (packet.bytes, packet.wire_len, next),
            (&b"frame"[..], 1500, 0)
        );
        assert_eq!(packet.vlan, Some([0x88, 0xa8, 0, 5]));
    }

    /// Without its validity bits there is no tag, or an ordinary one.
    #[test]
    fn a_tag_is_believed_as_far_as_the_kernel_says() {
        let plain = block(0, 5);
        assert_eq!(Packet::at(&plain, 48).unwrap().0.vlan, None);
        let tagged = block(libc::TP_STATUS_VLAN_VALID, 5);
        assert_eq!(
            Packet::at(&tagged, 48).unwrap().0.vlan,
            Some([0x81, 0, 0, 5])
        );
    }

    #[test]
    fn what_reaches_beyond_its_block_is_no_packet() {
        assert!(Packet::at(&block(0, 200), 48).is_none());
        assert!(Packet::at(&block(0, u32::MAX), 48).is_none());
        assert!(Packet::at(&[0; 100], 60).is_none());
    }
}
