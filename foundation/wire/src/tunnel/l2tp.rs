//! L2TP versions 2 (RFC 2661) and 3 (RFC 3931), over UDP and directly over IP.
//!
//! ```text
//!  version 2   │T L - - S - O P … 2│ length? │ tunnel │ session │ Ns, Nr? │ offset? │ PPP …
//!  version 3   │T … 3│ reserved │ session (4) │ cookie (0, 4, 8) │ sublayer (0, 4) │ frame …
//!  over IP                      │ session (4) │ cookie …          session 0: control message
//! ```
//!
//! A version 3 header does not tell whether cookie and sublayer are there, nor what follows:
//! both were agreed upon in control messages. Only an Ethernet frame is recognised, by its looks.

use super::check_carried;
use crate::Next;
use crate::bytes::{be16, be32, captured};
use crate::link::{PppFrame, looks_like_ethernet};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// Which L2TP, and over what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum L2tpVersion {
    /// Version 2, over UDP.
    V2,
    /// Version 3, over UDP.
    V3,
    /// Version 3, directly over IP.
    V3OverIp,
}

/// An L2TP header and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct L2tpHeader<'a> {
    version: L2tpVersion,
    tunnel_id: u16,
    session_id: u32,
    next: Next,
    header_len: u16,
    payload: &'a [u8],
}

impl<'a> L2tpHeader<'a> {
    /// The UDP port.
    pub const PORT: u16 = 1701;

    /// Splits a UDP payload of which `wire_len` bytes were on the wire, if it is L2TP without
    /// doubt.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::WrongVersion`]; [`Reason::IllegalValue`] for reserved
    /// bits, a control message without its fields, or a payload that is not PPP;
    /// [`Reason::LengthBeyondPacket`] and [`Reason::LengthTooSmall`] for the length field.
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let flags = be16(bytes, 0).ok_or(refuse(Reason::Truncated, 0))?;
        match flags & 0xf {
            2 => version_2(bytes, wire_len, flags),
            3 => version_3(bytes, flags),
            _ => Err(refuse(Reason::WrongVersion, 1)),
        }
    }

    /// Splits the payload of IP protocol 115.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below four bytes.
    pub fn parse_over_ip(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let session_id = be32(bytes, 0).ok_or(refuse(Reason::Truncated, 0))?;
        Ok(behind_session(bytes, 4, session_id, L2tpVersion::V3OverIp))
    }

    /// Version, and what it runs over.
    #[inline]
    pub const fn version(&self) -> L2tpVersion {
        self.version
    }

    /// Version 2: the tunnel at the receiver. Differs by direction.
    #[inline]
    pub const fn tunnel_id(&self) -> u16 {
        self.tunnel_id
    }

    /// The session at the receiver. Differs by direction; 0 in version 3's control messages.
    #[inline]
    pub const fn session_id(&self) -> u32 {
        self.session_id
    }

    /// What the payload is. Control messages are opaque.
    #[inline]
    pub const fn next(&self) -> Next {
        self.next
    }

    /// What follows the header.
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

fn version_2(bytes: &[u8], wire_len: usize, flags: u16) -> Result<L2tpHeader<'_>, Malformed> {
    // RFC 2661 §3.1: reserved bits are 0; control messages have L and S, and neither O nor P.
    let control = flags & CONTROL != 0;
    if flags & RESERVED != 0 || control && flags & 0x4b00 != LENGTH | SEQUENCE {
        return Err(refuse(Reason::IllegalValue, 0));
    }
    let short = refuse(Reason::Truncated, 2);
    let mut offset = 2usize;
    let mut field = || -> Result<u16, Malformed> {
        let value = be16(bytes, offset).ok_or(short)?;
        offset = offset.saturating_add(2);
        Ok(value)
    };
    let length = if flags & LENGTH == 0 {
        None
    } else {
        Some(usize::from(field()?))
    };
    let (tunnel_id, session_id) = (field()?, field()?);
    if flags & SEQUENCE != 0 {
        field()?;
        field()?;
    }
    if flags & OFFSET != 0 {
        let padding = usize::from(field()?);
        offset = offset.saturating_add(padding);
    }
    let len = length.unwrap_or(wire_len);
    if len > wire_len {
        return Err(refuse(Reason::LengthBeyondPacket, 2));
    }
    if len < offset {
        return Err(refuse(Reason::LengthTooSmall, 2));
    }
    let payload = captured(bytes, len).get(offset..).ok_or(short)?;
    let header_len = u16::try_from(offset).unwrap_or(u16::MAX);
    let next = if control {
        Next::Opaque
    } else {
        carried_ppp(payload, header_len)?
    };
    Ok(L2tpHeader {
        version: L2tpVersion::V2,
        tunnel_id,
        session_id: u32::from(session_id),
        next,
        header_len,
        payload,
    })
}

/// Checks that a data message carries PPP: IP with its own version, or one of PPP's protocols.
fn carried_ppp(payload: &[u8], offset: u16) -> Result<Next, Malformed> {
    let ppp = PppFrame::parse(payload).map_err(|inner| refuse(inner.reason, offset))?;
    match ppp.next() {
        // Control protocols (RFC 1661 §2) begin at 0x8021; compressed and multilink packets.
        Next::Opaque
            if ppp.protocol() < 0x8000 && !matches!(ppp.protocol(), 0x3d | 0xfb | 0xfd) =>
        {
            Err(refuse(Reason::IllegalValue, offset))
        }
        next => check_carried(next, ppp.payload(), Layer::L2tp, offset).map(|()| Next::Ppp),
    }
}

fn version_3(bytes: &[u8], flags: u16) -> Result<L2tpHeader<'_>, Malformed> {
    if flags & CONTROL != 0 {
        // RFC 3931 §3.2.1: as version 2's, with a connection of four bytes instead of two ids.
        if flags & 0x7ff0 != LENGTH | SEQUENCE {
            return Err(refuse(Reason::IllegalValue, 0));
        }
        let payload = bytes.get(12..).ok_or(refuse(Reason::Truncated, 2))?;
        return Ok(L2tpHeader {
            version: L2tpVersion::V3,
            tunnel_id: 0,
            session_id: 0,
            next: Next::Opaque,
            header_len: 12,
            payload,
        });
    }
    // RFC 3931 §4.1.2.1: all other flags and the next two bytes are reserved.
    if flags != 3 || be16(bytes, 2).is_some_and(|reserved| reserved != 0) {
        return Err(refuse(Reason::IllegalValue, 0));
    }
    let session_id = be32(bytes, 4).ok_or(refuse(Reason::Truncated, 2))?;
    if session_id == 0 {
        return Err(refuse(Reason::IllegalValue, 4));
    }
    Ok(behind_session(bytes, 8, session_id, L2tpVersion::V3))
}

/// Looks for a frame behind cookie and sublayer of any legal length.
fn behind_session(
    bytes: &[u8],
    session_end: u16,
    session_id: u32,
    version: L2tpVersion,
) -> L2tpHeader<'_> {
    let behind = |skipped: u16| {
        let header_len = session_end.saturating_add(skipped);
        (
            header_len,
            bytes.get(usize::from(header_len)..).unwrap_or_default(),
        )
    };
    let frame = [0, 4, 8, 12]
        .into_iter()
        .map(behind)
        .find(|(_, rest)| session_id != 0 && looks_like_ethernet(rest));
    let next = if frame.is_some() {
        Next::Ethernet
    } else {
        Next::Opaque
    };
    let (header_len, payload) = frame.unwrap_or_else(|| behind(0));
    L2tpHeader {
        version,
        tunnel_id: 0,
        session_id,
        next,
        header_len,
        payload,
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::L2tp, reason, offset)
}

const CONTROL: u16 = 0x8000;
const LENGTH: u16 = 0x4000;
const SEQUENCE: u16 = 0x0800;
const OFFSET: u16 = 0x0200;
const RESERVED: u16 = 0x34f0;

#[cfg(test)]
mod tests {
    use super::{L2tpHeader, L2tpVersion, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    fn parse(bytes: &[u8]) -> L2tpHeader<'_> {
        L2tpHeader::parse(bytes, bytes.len()).unwrap()
    }

    /// Every optional field of version 2, and the padding that the offset announces.
    #[test]
    fn version_2_carries_ppp() {
        let plain = [0, 2, 0, 5, 0, 6, 0xff, 3, 0, 0x21, 0x45];
        let got = parse(&plain);
        assert_eq!(
            (got.tunnel_id(), got.session_id(), got.next()),
            (5, 6, Next::Ppp)
        );
        assert_eq!((got.header_len(), got.version()), (6, L2tpVersion::V2));
        let all = [
            0x4a, 2, 0, 20, 0, 5, 0, 6, 0, 1, 0, 2, 0, 2, 9, 9, 0xc0, 0x21, 1, 1,
            /* trailer */ 7,
        ];
        assert_eq!(
            (parse(&all).header_len(), parse(&all).payload()),
            (16, &all[16..20])
        );
    }

    /// Control messages of both versions are L2TP, but carry no frame.
    #[test]
    fn control_messages_are_opaque() {
        let v2 = [0xc8, 2, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0];
        let v3 = [0xc8, 3, 0, 12, 0, 0, 0, 9, 0, 0, 0, 0];
        assert_eq!(parse(&v2).next(), Next::Opaque);
        assert_eq!(parse(&v3).next(), Next::Opaque);
        let got = L2tpHeader::parse_over_ip(&[0, 0, 0, 0, 0xc8, 3]).unwrap();
        assert_eq!((got.next(), got.session_id()), (Next::Opaque, 0));
    }

    /// Version 3 does not tell where the frame begins: it is found behind any legal cookie.
    #[test]
    fn version_3_finds_the_frame() {
        for skipped in [0, 4, 8, 12] {
            let mut frame = vec![0xee; skipped];
            frame.extend([0x02; 12]);
            frame.extend([0x08, 0x06, 0, 1]);
            let udp = [&[0, 3, 0, 0, 0, 0, 0, 7][..], &frame].concat();
            let got = parse(&udp);
            assert_eq!(
                (got.next(), got.header_len()),
                (Next::Ethernet, 8 + skipped)
            );
            let ip = [&[0, 0, 0, 7][..], &frame].concat();
            let got = L2tpHeader::parse_over_ip(&ip).unwrap();
            assert_eq!(
                (got.next(), got.header_len()),
                (Next::Ethernet, 4 + skipped)
            );
        }
        assert_eq!(parse(&[0, 3, 0, 0, 0, 0, 0, 7, 1, 2]).next(), Next::Opaque);
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| L2tpHeader::parse(bytes, bytes.len()).unwrap_err();
        assert_eq!(parse(&[0]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&[0, 1, 0, 0, 0, 0]), refuse(Reason::WrongVersion, 1));
        assert_eq!(
            parse(&[0x04, 2, 0, 0, 0, 0]),
            refuse(Reason::IllegalValue, 0)
        );
        assert_eq!(
            parse(&[0x80, 2, 0, 0, 0, 0]),
            refuse(Reason::IllegalValue, 0)
        );
        assert_eq!(parse(&[0, 2, 0, 0, 0]), refuse(Reason::Truncated, 2));
        assert_eq!(
            parse(&[0x40, 2, 0, 9, 0, 0, 0, 0]),
            refuse(Reason::LengthBeyondPacket, 2)
        );
        assert_eq!(
            parse(&[0x40, 2, 0, 7, 0, 0, 0, 0]),
            refuse(Reason::LengthTooSmall, 2)
        );
        assert_eq!(
            parse(&[0, 2, 0, 0, 0, 0, 0x13, 0x37]),
            refuse(Reason::IllegalValue, 6)
        );
        assert_eq!(
            parse(&[0, 2, 0, 0, 0, 0, 0, 0x21, 0x60]),
            refuse(Reason::IllegalValue, 6)
        );
        assert_eq!(
            parse(&[0, 3, 0, 1, 0, 0, 0, 1]),
            refuse(Reason::IllegalValue, 0)
        );
        assert_eq!(
            parse(&[0, 3, 0, 0, 0, 0, 0, 0]),
            refuse(Reason::IllegalValue, 4)
        );
        assert_eq!(parse(&[0, 3, 0, 0, 0]), refuse(Reason::Truncated, 2));
        assert_eq!(parse(&[0xc8, 3, 0, 12, 0]), refuse(Reason::Truncated, 2));
        assert_eq!(parse(&[0x80, 3, 0, 12, 0]), refuse(Reason::IllegalValue, 0));
    }
}
