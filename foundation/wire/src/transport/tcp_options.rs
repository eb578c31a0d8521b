//! TCP options, one by one.
//!
//! Ends at the first option that is broken: what came before it counts.

use crate::bytes::be32;
use flowpin_packet::Seq;

/// One option of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Maximum segment size (RFC 9293 §3.7.1).
    MaximumSegmentSize(u16),
    /// Window scale shift count (RFC 7323 §2.2), as it stands: values above 14 count as 14.
    WindowScale(u8),
    /// Selective acknowledgement permitted (RFC 2018 §2).
    SackPermitted,
    /// Selective acknowledgement: whole blocks of eight bytes ([`SackBlock`]).
    Sack(&'a [u8]),
    /// Time stamps (RFC 7323 §3.2): value, echo reply.
    Timestamps(u32, u32),
    /// Fast open (RFC 7413 §4.1.1): the cookie, empty in a request.
    FastOpen(&'a [u8]),
    /// Another option: kind and value.
    Other(u8, &'a [u8]),
}

/// A block of a selective acknowledgement: received from `left` up to, not including, `right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: Seq,
    /// The sequence number behind the block.
    pub right: Seq,
}

impl SackBlock {
    /// The blocks in the value of [`TcpOption::Sack`].
    pub fn blocks(value: &[u8]) -> impl Iterator<Item = Self> + '_ {
        value.chunks_exact(8).filter_map(|block| {
            Some(Self {
                left: Seq(be32(block, 0)?),
                right: Seq(be32(block, 4)?),
            })
        })
    }
}

/// Goes through the options of a TCP header, without padding.
#[derive(Clone, Copy, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> TcpOptions<'a> {
    /// Over the bytes between the fixed header and the payload.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = TcpOption<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (kind, value) = loop {
            match self.rest {
                [NO_OPERATION, rest @ ..] => self.rest = rest,
                [END, ..] | [] | [_] => return None,
                // The length counts kind and length.
                [kind, len, rest @ ..] => {
                    let value_len = usize::from(*len).checked_sub(2)?;
                    let (value, rest) = rest.split_at_checked(value_len)?;
                    self.rest = rest;
                    break (*kind, value);
                }
            }
        };
        Some(match (kind, value) {
            (2, &[high, low]) => TcpOption::MaximumSegmentSize(u16::from_be_bytes([high, low])),
            (3, &[shift]) => TcpOption::WindowScale(shift),
            (4, []) => TcpOption::SackPermitted,
            (5, _) if value.len().is_multiple_of(8) => TcpOption::Sack(value),
            (8, &[a, b, c, d, e, f, g, h]) => TcpOption::Timestamps(
                u32::from_be_bytes([a, b, c, d]),
                u32::from_be_bytes([e, f, g, h]),
            ),
            (34, _) => TcpOption::FastOpen(value),
            _ => TcpOption::Other(kind, value),
        })
    }
}

impl core::iter::FusedIterator for TcpOptions<'_> {}

const END: u8 = 0;
const NO_OPERATION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::{SackBlock, TcpOption, TcpOptions};
    use flowpin_packet::Seq;

    fn options(bytes: &[u8]) -> Vec<TcpOption<'_>> {
        TcpOptions::new(bytes).collect()
    }

    /// The options of an ordinary SYN.
    #[test]
    fn a_syn_tells_its_options() {
        let bytes = [
            2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7, 34, 6, 1, 2, 3, 4, 0,
        ];
        assert_eq!(
            options(&bytes),
            [
                TcpOption::MaximumSegmentSize(1460),
                TcpOption::SackPermitted,
                TcpOption::Timestamps(1, 2),
                TcpOption::WindowScale(7),
                TcpOption::FastOpen(&[1, 2, 3, 4]),
            ]
        );
    }

    /// Selective acknowledgements come in pairs of edges.
    #[test]
    fn sack_blocks_have_two_edges() {
        let bytes = [1, 1, 5, 10, 0, 0, 0, 5, 0, 0, 0, 9];
        let [TcpOption::Sack(value)] = options(&bytes)[..] else {
            panic!("one option")
        };
        let blocks: Vec<_> = SackBlock::blocks(value).collect();
        assert_eq!(
            blocks,
            [SackBlock {
                left: Seq(5),
                right: Seq(9)
            }]
        );
    }

    /// A length that is wrong for its kind does not end the list, but is not believed.
    #[test]
    fn an_option_of_wrong_length_is_another_option() {
        assert_eq!(
            options(&[2, 3, 9, 3, 3, 1]),
            [TcpOption::Other(2, &[9]), TcpOption::WindowScale(1)]
        );
    }

    /// A length that leads nowhere ends the list: no loop, nothing invented.
    #[test]
    fn a_broken_length_ends_the_list() {
        for broken in [
            &[3, 3, 1, 8, 0][..],
            &[3, 3, 1, 8, 1],
            &[3, 3, 1, 8, 10, 0],
            &[3, 3, 1, 8],
        ] {
            assert_eq!(options(broken), [TcpOption::WindowScale(1)]);
        }
    }
}
