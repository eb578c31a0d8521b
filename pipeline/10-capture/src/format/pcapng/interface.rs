//! What a section says about one interface.

use super::clock::Clock;
use crate::format::Order;
use flowpin_config::Interface as Queue;
use flowpin_packet::{InterfaceId, InterfaceName, LinkType};

/// An interface description block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    pub(super) link_number: u16,
    pub(super) link: LinkType,
    /// What its packets carry to say that they are its.
    pub(super) id: InterfaceId,
    /// 0 is no limit.
    pub(super) snap_len: u32,
    pub(super) clock: Clock,
    /// Packets that the capturing system lost so far, as its statistics say.
    pub(super) dropped: u64,
}

impl Interface {
    /// Link type, reserved, snap length, options; and its name, of which nothing is known beside.
    /// Options that do not fit end the list: the lengths of packets do not depend on them.
    pub(super) fn parse(content: &[u8], order: Order) -> Option<(Self, &[u8])> {
        let mut options = content.get(8..)?;
        let mut name = &[][..];
        let mut resolution = DEFAULT_RESOLUTION;
        let mut offset_secs = 0;
        while let Some((code, value, rest)) = next_option(options, order) {
            match (code, value) {
                (OPTION_END, _) => break,
                (OPTION_NAME, value) => name = value,
                (OPTION_RESOLUTION, [byte, ..]) => resolution = *byte,
                (OPTION_TIME_OFFSET, value) if value.len() >= 8 => {
                    offset_secs = order.u64_at(value, 0).cast_signed();
                }
                _ => {}
            }
            options = rest;
        }
        let link_number = order.u16_at(content, 0);
        let interface = Self {
            link_number,
            link: LinkType::of_number(link_number),
            id: InterfaceId::NONE,
            snap_len: order.u32_at(content, 4),
            clock: Clock::new(resolution, offset_secs),
            dropped: 0,
        };
        Some((interface, name))
    }
}

/// The name that `if_name` gives. Our own recordings name a queue behind it, as `-i` does.
pub(super) fn name_of(option: &[u8], is_own: bool) -> Option<InterfaceName> {
    // Some programs count the zero at the end of the text.
    let bytes = option.split(|&byte| byte == 0).next()?;
    let name = String::from_utf8_lossy(bytes);
    match name.parse::<Queue>() {
        Ok(Queue { name, queue }) if is_own => InterfaceName::new(&name, queue),
        _ => InterfaceName::new(&name, None),
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
/// if_name.
const OPTION_NAME: u16 = 2;
/// if_tsresol.
const OPTION_RESOLUTION: u16 = 9;
/// if_tsoffset.
const OPTION_TIME_OFFSET: u16 = 14;
/// Microseconds.
const DEFAULT_RESOLUTION: u8 = 6;

#[cfg(test)]
mod tests {
    use super::name_of;

    /// Draft §4.2: if_name is a text of UTF-8, of any bytes where the file is wrong.
    #[test]
    fn names_are_texts_and_of_our_own_recordings_may_have_a_queue() {
        let parts = |bytes: &[u8], is_own| {
            let name = name_of(bytes, is_own)?;
            Some((name.name().to_owned(), name.queue()))
        };
        let eth1 = |queue| Some(("eth1".to_owned(), queue));
        assert_eq!(parts(b"eth1", false), eth1(None));
        assert_eq!(parts(b"eth1\0\0", false), eth1(None));
        assert_eq!(parts(b"eth1@2", true), eth1(Some(2)));
        assert_eq!(parts(b"eth1", true), eth1(None));
        assert_eq!(parts(b"eth1@2", false), Some(("eth1@2".to_owned(), None)));
        assert_eq!(parts(b"\xffx", true), Some(("\u{fffd}x".to_owned(), None)));
        assert_eq!(parts(b"", true), None);
        assert_eq!(parts(b"\0eth1", false), None);
    }
}
