//! MPLS label stacks (RFC 3032) and what they most probably carry.
//!
//! A label stack does not say what follows. RFC 4928 keeps the first nibble of other payloads
//! away from 4 and 6, and RFC 4385 gives pseudowires a control word that begins with 0:
//!
//! ```text
//!  nibble 4 → IPv4   6 → IPv6   0 → control word (4 bytes), then Ethernet if it looks so
//!  nibble 1 → associated channel, opaque         else → Ethernet if it looks so
//! ```

use super::looks_like_ethernet;
use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// One entry of a label stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MplsLabel(pub u32);

impl MplsLabel {
    /// The label, 20 bits.
    #[inline]
    pub const fn label(self) -> u32 {
        self.0 >> 12
    }

    /// Whether it is the last one.
    #[inline]
    pub const fn is_bottom(self) -> bool {
        self.0 & 0x100 != 0
    }
}

/// A label stack and what follows.
#[derive(Clone, Copy, Debug)]
pub struct MplsStack<'a> {
    top: MplsLabel,
    bottom: MplsLabel,
    depth: u8,
    header_len: u8,
    next: Next,
    payload: &'a [u8],
}

impl<'a> MplsStack<'a> {
    /// Labels that are read before the packet is refused.
    pub const DEPTH_MAX: u8 = 16;

    /// Reads labels to the bottom of the stack, and a control word behind it.
    ///
    /// # Errors
    /// [`Reason::Truncated`] if the stack has no bottom, [`Reason::TooDeep`] above
    /// [`Self::DEPTH_MAX`] labels.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut rest = bytes;
        let mut top = None;
        let mut depth = 0u8;
        let bottom = loop {
            let offset = u16::from(depth) << 2;
            if depth == Self::DEPTH_MAX {
                return Err(bad(Layer::Mpls, Reason::TooDeep, offset));
            }
            let Some((entry, after)) = rest.split_first_chunk() else {
                return Err(bad(Layer::Mpls, Reason::Truncated, offset));
            };
            let label = MplsLabel(u32::from_be_bytes(*entry));
            rest = after;
            depth = depth.wrapping_add(1);
            top = top.or(Some(label));
            if label.is_bottom() {
                break label;
            }
        };
        let stack_len = depth << 2;
        let (next, skipped) = guess(bottom, rest);
        Ok(Self {
            top: top.unwrap_or(bottom),
            bottom,
            depth,
            header_len: stack_len.saturating_add(skipped),
            next,
            payload: rest.get(usize::from(skipped)..).unwrap_or_default(),
        })
    }

    /// The first label.
    #[inline]
    pub const fn top(&self) -> MplsLabel {
        self.top
    }

    /// The last label: the one that names a pseudowire or a private network.
    #[inline]
    pub const fn bottom(&self) -> MplsLabel {
        self.bottom
    }

    /// How many labels there are.
    #[inline]
    pub const fn depth(&self) -> u8 {
        self.depth
    }

    /// What the payload is, by its looks.
    #[inline]
    pub const fn next(&self) -> Next {
        self.next
    }

    /// What follows the labels and the control word.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the payload starts.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.header_len)
    }
}

/// What follows the stack, and how many bytes of control word stand before it.
fn guess(bottom: MplsLabel, rest: &[u8]) -> (Next, u8) {
    let first = rest.first().copied().unwrap_or(0xff);
    match (bottom.label(), first >> 4) {
        // RFC 3032 §2.1: the explicit null labels name the family.
        (IPV4_EXPLICIT_NULL, 4) => (Next::Ipv4, 0),
        (IPV6_EXPLICIT_NULL, 6) => (Next::Ipv6, 0),
        // A MAC address may begin with 4 or 6 too: an IP header that cannot be one, in front of
        // an Ethernet type that can, is an Ethernet header.
        (_, 4) if (first & 0xf) >= 5 || !looks_like_ethernet(rest) => (Next::Ipv4, 0),
        (_, 6) if (first & 0xf) == 0 || !looks_like_ethernet(rest) => (Next::Ipv6, 0),
        // RFC 4385 §3: nibble 0, then flags, fragmentation bits and length, then a sequence number.
        (_, 0) if rest.get(4..).is_some_and(looks_like_ethernet) => (Next::Ethernet, 4),
        _ if looks_like_ethernet(rest) => (Next::Ethernet, 0),
        _ => (Next::Opaque, 0),
    }
}

const IPV4_EXPLICIT_NULL: u32 = 0;
const IPV6_EXPLICIT_NULL: u32 = 2;

#[cfg(test)]
mod tests {
    use super::MplsStack;
    use crate::Next;
    use flowpin_packet::{Layer, Reason, bad};

    const NOT_LAST: [u8; 4] = [0x00, 0x01, 0x00, 64];
    const LAST: [u8; 4] = [0x00, 0x02, 0x01, 64];

    fn ethernet() -> Vec<u8> {
        let mut frame = vec![0x02; 12];
        frame.extend([0x08, 0x00, 0x45, 0]);
        frame
    }

    /// The stack ends at the bottom bit; the nibble behind names IP.
    #[test]
    fn labels_are_read_to_the_bottom() {
        let bytes = [&NOT_LAST[..], &LAST, &[0x45, 0]].concat();
        let stack = MplsStack::parse(&bytes).unwrap();
        assert_eq!((stack.top().label(), stack.bottom().label()), (0x10, 0x20));
        assert_eq!((stack.depth(), stack.header_len()), (2, 8));
        assert_eq!(
            (stack.next(), stack.payload()),
            (Next::Ipv4, &[0x45, 0][..])
        );
        let bytes = [&LAST[..], &[0x60, 0]].concat();
        assert_eq!(MplsStack::parse(&bytes).unwrap().next(), Next::Ipv6);
    }

    /// RFC 4385: a control word stands before the frame of an Ethernet pseudowire.
    #[test]
    fn a_control_word_is_skipped() {
        let bytes = [&LAST[..], &[0, 0, 0, 7], &ethernet()].concat();
        let stack = MplsStack::parse(&bytes).unwrap();
        assert_eq!((stack.next(), stack.header_len()), (Next::Ethernet, 8));
        assert_eq!(stack.payload(), ethernet());
    }

    /// A frame without control word is known by its type, also if its address begins like IP.
    #[test]
    fn a_frame_without_control_word_is_known_by_its_type() {
        for first in [0x02, 0x40, 0x6c] {
            let mut frame = ethernet();
            frame[0] = first;
            let bytes = [&LAST[..], &frame].concat();
            let stack = MplsStack::parse(&bytes).unwrap();
            assert_eq!(
                (stack.next(), stack.header_len()),
                (Next::Ethernet, 4),
                "{first:#x}"
            );
        }
    }

    /// What looks like nothing known stays closed: also the associated channel.
    #[test]
    fn other_payloads_are_opaque() {
        for payload in [&[0x10, 0, 0, 7][..], &[0, 0, 0, 0, 1, 2], &[]] {
            let bytes = [&LAST[..], payload].concat();
            assert_eq!(MplsStack::parse(&bytes).unwrap().next(), Next::Opaque);
        }
    }

    /// A stack without bottom is refused where the next label should be.
    #[test]
    fn a_stack_without_bottom_is_refused() {
        let got = MplsStack::parse(&[&NOT_LAST[..], &[0, 0]].concat()).unwrap_err();
        assert_eq!(got, bad(Layer::Mpls, Reason::Truncated, 4));
    }

    /// The depth is bounded, so that a packet of labels costs no more than any other.
    #[test]
    fn too_many_labels_are_refused() {
        let got = MplsStack::parse(&NOT_LAST.repeat(20)).unwrap_err();
        assert_eq!(got, bad(Layer::Mpls, Reason::TooDeep, 64));
        let sixteen = [NOT_LAST.repeat(15), LAST.to_vec()].concat();
        assert_eq!(MplsStack::parse(&sixteen).unwrap().depth(), 16);
    }
}
