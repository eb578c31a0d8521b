//! What the capturing program knew beside the packets: who it is, how late it was, what was lost.
//!
//! A recording of Flowpin's own has the time of each half second, so that what ends by
//! time ends in the recording when it ended in the run. Other programs write statistics at the
//! end, whose time says nothing about the packets.

use super::interface::next_option;
use crate::format::Order;

/// The beginning of our name as the application that wrote a section.
pub(crate) const FLOWPIN: &str = "Flowpin";

/// An interface statistics block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    pub(super) interface: u32,
    pub(super) ticks: u64,
    /// Packets lost so far, by the interface and by the system.
    pub(super) dropped: u64,
}

impl Statistics {
    /// Interface, ticks (high, low), options.
    pub(super) fn parse(content: &[u8], order: Order) -> Option<Self> {
        let mut options = content.get(12..)?;
        let mut dropped = 0_u64;
        while let Some((code, value, rest)) = next_option(options, order) {
            match code {
                OPTION_END => break,
                INTERFACE_DROPPED | SYSTEM_DROPPED if value.len() == 8 => {
                    dropped = dropped.saturating_add(order.u64_at(value, 0));
                }
                _ => {}
            }
            options = rest;
        }
        let (high, low) = (order.u32_at(content, 4), order.u32_at(content, 8));
        Some(Self {
            interface: order.u32_at(content, 0),
            ticks: u64::from(high) << 32 | u64::from(low),
            dropped,
        })
    }
}

/// Whether Flowpin wrote the section with this header: byte order, version, length, options.
pub(super) fn is_own(content: &[u8], order: Order) -> bool {
    let mut options = content.get(16..).unwrap_or_default();
    while let Some((code, value, rest)) = next_option(options, order) {
        match code {
            OPTION_END => break,
            APPLICATION => return value.starts_with(FLOWPIN.as_bytes()),
            _ => options = rest,
        }
    }
    false
}

const OPTION_END: u16 = 0;
/// `shb_userappl`.
const APPLICATION: u16 = 4;
/// `isb_ifdrop`.
const INTERFACE_DROPPED: u16 = 5;
/// `isb_osdrop`.
const SYSTEM_DROPPED: u16 = 7;
