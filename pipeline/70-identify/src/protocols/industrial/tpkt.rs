//! ISO transport over TCP. RFC 1006 §6, X.224 §13: what S7, MMS and RDP begin with.

use crate::Look;

/// What a connection over TPKT shows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A connection request or confirm with transport selectors, of these lengths.
    Selectors(u8, u8),
    /// Data: the payload begins here.
    Data(usize),
    /// Something else.
    Other,
}

/// Reads a TPKT with its X.224 header; `None` if bytes are missing.
pub(super) fn read(look: &Look<'_>, at: usize) -> Option<(Shown, usize)> {
    let mut cursor = look.cursor(at);
    let version = cursor.be16()?;
    let len = cursor.len16()?;
    let header = cursor.u8()?;
    let kind = cursor.u8()?;
    if version != 0x0300 || len < 7 {
        return Some((Shown::Other, at));
    }
    let next = at.checked_add(len)?;
    match kind {
        0xe0 | 0xd0 => {
            cursor.take(5)?;
            if usize::from(header).checked_add(5)? != len {
                return Some((Shown::Other, at));
            }
            let (mut calling, mut called) = (0, 0);
            while cursor.at() < next {
                let name = cursor.u8()?;
                let size = cursor.u8()?;
                match name {
                    0xc1 => calling = size,
                    0xc2 => called = size,
                    0xc0 if size == 1 => {}
                    _ => return Some((Shown::Other, at)),
                }
                cursor.take(usize::from(size))?;
            }
            Some((Shown::Selectors(calling, called), next))
        }
        0xf0 if header == 2 => {
            cursor.u8()?;
            Some((Shown::Data(cursor.at()), next))
        }
        _ => Some((Shown::Other, at)),
    }
}
