//! Fibre: FDDI, and IP over Fibre Channel (RFC 2625). Both carry LLC.
//!
//! ```text
//!  FDDI           │ frame control │ destination (6) │ source (6) │ LLC …
//!  Fibre Channel  │ destination (8) │ source (8) │ LLC …
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse_fddi(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let frame_control = bytes.first().ok_or(refuse(Reason::Truncated, 0))?;
    // Class (synchronous or not), long addresses, and the format bits of LLC.
    let next = if frame_control & 0x70 == 0x50 {
        Next::Llc
    } else {
        Next::Opaque
    };
    LinkFrame::behind(bytes, 13, next)
}

pub(super) fn parse_channel(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    LinkFrame::behind(bytes, 16, Next::Llc)
}

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(link: LinkType, bytes: &[u8]) -> Result<(Next, usize), Malformed> {
        let frame = LinkFrame::parse(link, bytes)?;
        Ok((frame.next(), frame.header_len()))
    }

    /// Frame control tells LLC from the ring's own frames.
    #[test]
    fn fddi_carries_llc() {
        let mut bytes = [0; 20];
        bytes[0] = 0x51;
        assert_eq!(parse(LinkType::Fddi, &bytes), Ok((Next::Llc, 13)));
        bytes[0] = 0xc2;
        assert_eq!(parse(LinkType::Fddi, &bytes), Ok((Next::Opaque, 13)));
        assert_eq!(
            parse(LinkType::Fddi, &bytes[..12]),
            Err(refuse(Reason::Truncated, 0))
        );
        assert_eq!(
            parse(LinkType::Fddi, &[]),
            Err(refuse(Reason::Truncated, 0))
        );
    }

    /// The network header has two addresses of eight bytes.
    #[test]
    fn fibre_channel_carries_llc() {
        assert_eq!(parse(LinkType::IpOverFc, &[0; 16]), Ok((Next::Llc, 16)));
        assert_eq!(
            parse(LinkType::IpOverFc, &[0; 15]),
            Err(refuse(Reason::Truncated, 0))
        );
    }
}
