//! What a section says about one interface.

use super::clock::Clock;
use crate::format::Order;
use crate::link;
use flowpin_packet::LinkType;

/// An interface description block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    pub(super) link_number: u16,
    pub(super) link: LinkType,
    /// 0 is no limit.
    pub(super) snap_len: u32,
    pub(super) clock: Clock,
    /// Packets that the capturing system lost so far, as its statistics say.
    pub(super) dropped: u64,
}

impl Interface {
    /// Link type, reserved, snap length, options. Options that do not fit end the list: the
    /// lengths of packets do not depend on them.
    pub(super) fn parse(content: &[u8], order: Order) -> Option<Self> {
        let mut options = content.get(8..)?;
        let mut resolution = DEFAULT_RESOLUTION;
        let mut offset_secs = 0;
        while let Some((code, value, rest)) = next_option(options, order) {
            match (code, value) {
                (OPTION_END, _) => break,
                (OPTION_RESOLUTION, [byte, ..]) => resolution = *byte,
                (OPTION_TIME_OFFSET, value) if value.len() >= 8 => {
                    offset_secs = order.u64_at(value, 0).cast_signed();
                }
                _ => {}
            }
            options = rest;
        }
        let link_number = order.u16_at(content, 0);
        Some(Self {
            link_number,
            link: link::link_type(link_number),
            snap_len: order.u32_at(content, 4),
            clock: Clock::new(resolution, offset_secs),
            dropped: 0,
        })
    }
}

/// Code, value, and what follows behind the padding.
pub(super) fn next_option(options: &[u8], order: Order) -> Option<(u16, &[u8], &[u8])> {
    let (head, rest) = options.split_at_checked(4)?;
    let len = usize::from(order.u16_at(head, 2));
    let value = rest.get(..len)?;
    let rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
    Some((order.u16_at(head, 0), value, rest))
}

const OPTION_END: u16 = 0;
/// if_tsresol.
const OPTION_RESOLUTION: u16 = 9;
/// if_tsoffset.
const OPTION_TIME_OFFSET: u16 = 14;
/// Microseconds.
const DEFAULT_RESOLUTION: u8 = 6;
