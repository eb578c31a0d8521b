//! pcapng (draft-ietf-opsawg-pcapng): blocks, in sections, of several interfaces.
//!
//! ```text
//!  block    type │ length │ content, padded to 4 │ length again
//!  section  SHB  IDB… { EPB | SPB | PB | others }…  next SHB: new byte order, new interfaces
//! ```
//!
//! Blocks whose content is not needed are skipped without being held, however long.

mod clock;
mod interface;
mod quick;
mod statistics;

use super::classic::place;
use super::{CAPTURED_LEN_MAX, DamageKind, Next, Order, Peek};
use flowpin_packet::{Frame, InterfaceNames, Timestamp};
use interface::{Interface, name_of};
pub(crate) use quick::Quick;
pub(crate) use statistics::FLOWPIN;
use statistics::Statistics;

/// Where in a pcapng file we are.
#[derive(Debug, Default)]
pub(crate) struct Pcapng {
    order: Order,
    /// The section's interfaces, by number.
    interfaces: Vec<Interface>,
    /// Where interfaces of all captures have their names.
    names: InterfaceNames,
    /// Interfaces whose names found no room there.
    pub(crate) unnamed: u64,
    /// A block in the middle of which we are.
    skip: Option<Skip>,
    last_link: (u16, Order),
    /// For blocks without a time of their own.
    last_time: Timestamp,
    /// LINKTYPE_ numbers described so far, each once.
    pub(crate) links: Vec<u16>,
    /// The section is a recording of our own.
    is_own: bool,
    /// How late it was when the last statistics of such a recording were written, until it is
    /// taken.
    silence: Option<Timestamp>,
    /// Packets that were lost while earlier sections were captured.
    dropped_before: u64,
    /// Blocks of types that the standard does not name.
    pub(crate) unknown_blocks: u64,
}

/// A block that is passed over.
#[derive(Clone, Copy, Debug)]
struct Skip {
    /// Bytes to go before the trailing length.
    left: usize,
    /// What the trailing length must be.
    len: u32,
}

/// The fields that all packet blocks share, whatever their layout.
struct Packet {
    interface: u32,
    ticks: Option<u64>,
    captured_len: u32,
    len: u32,
    /// Where in the content the frame starts.
    data_at: usize,
}

impl Pcapng {
    /// `None`: not pcapng. `Some(None)`: cut off before that can be told for sure.
    pub(crate) fn identify(head: &[u8], names: &InterfaceNames) -> Option<Option<Self>> {
        let block_type = head.first_chunk::<4>()?;
        if u32::from_be_bytes(*block_type) != SECTION_HEADER {
            return None;
        }
        let Some(magic) = head.get(8..).and_then(|rest| rest.first_chunk()) else {
            return Some(None);
        };
        section_order(*magic).map(|order| {
            Some(Self {
                order,
                names: names.clone(),
                ..Self::default()
            })
        })
    }

    pub(crate) const fn last_link(&self) -> (u16, Order) {
        self.last_link
    }

    /// Up to when nothing came after the last packet, if that is written and was not taken yet.
    #[inline]
    pub(crate) const fn take_silence(&mut self) -> Option<Timestamp> {
        self.silence.take()
    }

    /// Packets that were lost while this was captured, as far as it says so.
    pub(crate) fn dropped(&self) -> u64 {
        let dropped = self.interfaces.iter().map(|interface| interface.dropped);
        dropped.fold(self.dropped_before, u64::saturating_add)
    }

    /// The next packet at or behind `*pos`.
    pub(crate) fn next(&mut self, bytes: &[u8], pos: &mut usize) -> Next {
        loop {
            let step = match self.skip {
                Some(skip) => self.skip_on(skip, bytes, pos),
                None => self.block(bytes, pos),
            };
            match step {
                Ok(Some(next)) => return next,
                Ok(None) => {}
                Err(kind) => return Next::Damaged(kind),
            }
        }
    }

    /// The time of the packet that stands at `pos`, if it is one with a time.
    pub(crate) fn peek(&self, bytes: &[u8], pos: usize) -> Peek {
        let head = bytes.get(pos..).unwrap_or_default();
        if self.skip.is_some() || head.len() < PACKET_HEAD_LEN {
            return Peek::Need(PACKET_HEAD_LEN);
        }
        let word = |at| self.order.u32_at(head, at);
        let number = match word(0) {
            ENHANCED_PACKET => word(8),
            OBSOLETE_PACKET => u32::from(self.order.u16_at(head, 8)),
            _ => return Peek::Nothing,
        };
        let ticks = u64::from(word(12)) << 32 | u64::from(word(16));
        match self.interfaces.get(number as usize) {
            Some(interface) => Peek::Time(interface.clock.time(ticks)),
            None => Peek::Nothing,
        }
    }

    /// One block: a packet or a need is handed out, another block is taken in.
    fn block(&mut self, bytes: &[u8], pos: &mut usize) -> Result<Option<Next>, DamageKind> {
        let start = *pos;
        let rest = bytes.get(start..).unwrap_or_default();
        let Some(head) = rest.get(..BLOCK_LEN_MIN) else {
            return Ok(Some(Next::Need(BLOCK_LEN_MIN)));
        };
        // The type of a section header reads the same in both orders.
        if self.order.u32_at(head, 0) == SECTION_HEADER {
            let magic = head.get(8..).and_then(|rest| rest.first_chunk());
            self.order = section_order(magic.copied().unwrap_or_default())
                .ok_or(DamageKind::SectionOrder)?;
        }
        let block_type = self.order.u32_at(head, 0);
        let len = self.order.u32_at(head, 4);
        if (len as usize) < BLOCK_LEN_MIN || !len.is_multiple_of(4) {
            return Err(DamageKind::BlockLength(len));
        }
        if !(is_held(block_type) || block_type == STATISTICS && len <= STATISTICS_LEN_MAX) {
            self.unknown_blocks += u64::from(!is_known(block_type));
            let left = len as usize - TRAILER_LEN;
            self.skip = Some(Skip { left, len });
            return Ok(None);
        }
        if len > BLOCK_LEN_MAX {
            return Err(DamageKind::BlockTooLong(len));
        }
        let Some(block) = rest.get(..len as usize) else {
            return Ok(Some(Next::Need(len as usize)));
        };
        let behind = self.order.u32_at(block, len as usize - TRAILER_LEN);
        if behind != len {
            return Err(DamageKind::BlockTrailer(len, behind));
        }
        let content = block.get(8..block.len() - TRAILER_LEN).unwrap_or_default();
        let next = self.content(block_type, content, start)?;
        *pos = start + len as usize;
        Ok(next)
    }

    /// What a block says that is held whole.
    fn content(
        &mut self,
        block_type: u32,
        content: &[u8],
        start: usize,
    ) -> Result<Option<Next>, DamageKind> {
        match block_type {
            SECTION_HEADER => self.section(content)?,
            INTERFACE => self.interface(content)?,
            STATISTICS => self.statistics(content),
            ENHANCED_PACKET => return self.packet(self.enhanced(content)?, content, start),
            SIMPLE_PACKET => return self.packet(self.simple(content)?, content, start),
            _ => return self.packet(self.obsolete(content)?, content, start),
        }
        Ok(None)
    }

    fn section(&mut self, content: &[u8]) -> Result<(), DamageKind> {
        if content.len() < 16 {
            return Err(DamageKind::BlockFields(SECTION_HEADER));
        }
        let (major, minor) = (self.order.u16_at(content, 4), self.order.u16_at(content, 6));
        if major != 1 {
            return Err(DamageKind::SectionVersion(major, minor));
        }
        self.dropped_before = self.dropped();
        self.interfaces.clear();
        self.is_own = statistics::is_own(content, self.order);
        Ok(())
    }

    fn interface(&mut self, content: &[u8]) -> Result<(), DamageKind> {
        let (mut interface, name) =
            Interface::parse(content, self.order).ok_or(DamageKind::BlockFields(INTERFACE))?;
        if self.interfaces.len() >= INTERFACE_COUNT_MAX as usize {
            return Err(DamageKind::TooManyInterfaces(INTERFACE_COUNT_MAX));
        }
        if !self.links.contains(&interface.link_number) && self.links.len() < LINK_COUNT_MAX {
            self.links.push(interface.link_number);
        }
        if let Some(name) = name_of(name, self.is_own) {
            let number = self.names.number(name);
            self.unnamed += u64::from(number.is_none());
            interface.id = number.unwrap_or_default();
        }
        self.interfaces.push(interface);
        Ok(())
    }

    /// Takes in statistics. Those that make no sense say nothing: no packet depends on them.
    fn statistics(&mut self, content: &[u8]) {
        let Some(statistics) = Statistics::parse(content, self.order) else {
            return;
        };
        let Some(interface) = self.interfaces.get_mut(statistics.interface as usize) else {
            return;
        };
        interface.dropped = statistics.dropped;
        if self.is_own {
            self.silence = Some(interface.clock.time(statistics.ticks));
        }
    }

    /// Interface, ticks (high, low), captured length, length, frame.
    fn enhanced(&self, content: &[u8]) -> Result<Packet, DamageKind> {
        if content.len() < 20 {
            return Err(DamageKind::BlockFields(ENHANCED_PACKET));
        }
        let word = |at| self.order.u32_at(content, at);
        Ok(Packet {
            interface: word(0),
            ticks: Some(u64::from(word(4)) << 32 | u64::from(word(8))),
            captured_len: word(12),
            len: word(16),
            data_at: 20,
        })
    }

    /// Length, frame: of interface 0, cut at its snap length, without a time.
    fn simple(&self, content: &[u8]) -> Result<Packet, DamageKind> {
        if content.len() < 4 {
            return Err(DamageKind::BlockFields(SIMPLE_PACKET));
        }
        let len = self.order.u32_at(content, 0);
        let snap_len = self.interfaces.first().map_or(0, |i| i.snap_len);
        // Draft §4.4: a snap length of 0 is no limit.
        let limit = if snap_len == 0 { u32::MAX } else { snap_len };
        Ok(Packet {
            interface: 0,
            ticks: None,
            captured_len: len.min(limit),
            len,
            data_at: 4,
        })
    }

    /// The packet block of the first drafts: interface and drops in 16 bits each.
    fn obsolete(&self, content: &[u8]) -> Result<Packet, DamageKind> {
        let interface = u32::from(self.order.u16_at(content, 0));
        let packet = self.enhanced(content);
        let packet = packet.map_err(|_| DamageKind::BlockFields(OBSOLETE_PACKET))?;
        Ok(Packet {
            interface,
            ..packet
        })
    }

    /// The frame of a packet block.
    fn packet(
        &mut self,
        packet: Packet,
        content: &[u8],
        start: usize,
    ) -> Result<Option<Next>, DamageKind> {
        let Some(interface) = self.interfaces.get(packet.interface as usize) else {
            let count = u32::try_from(self.interfaces.len()).unwrap_or(u32::MAX);
            return Err(DamageKind::NoSuchInterface(packet.interface, count));
        };
        if packet.captured_len > CAPTURED_LEN_MAX {
            return Err(DamageKind::PacketTooLong(packet.captured_len));
        }
        let room = content.len() - packet.data_at;
        if packet.captured_len as usize > room {
            let room = u32::try_from(room).unwrap_or(u32::MAX);
            return Err(DamageKind::PacketBeyondBlock(packet.captured_len, room));
        }
        if let Some(ticks) = packet.ticks {
            self.last_time = interface.clock.time(ticks);
        }
        self.last_link = (interface.link_number, self.order);
        let frame = Frame {
            start: place(start + 8 + packet.data_at),
            captured_len: packet.captured_len,
            wire_len: packet.len.max(packet.captured_len),
            link: interface.link,
            interface: interface.id,
            time: self.last_time,
        };
        Ok(Some(Next::Frame(frame, start)))
    }

    /// Passes over the rest of a block; its trailing length is checked all the same.
    fn skip_on(
        &mut self,
        skip: Skip,
        bytes: &[u8],
        pos: &mut usize,
    ) -> Result<Option<Next>, DamageKind> {
        let here = bytes.len().saturating_sub(*pos).min(skip.left);
        *pos += here;
        let left = skip.left - here;
        self.skip = Some(Skip { left, ..skip });
        let rest = bytes.get(*pos..).unwrap_or_default();
        if left > 0 || rest.len() < TRAILER_LEN {
            return Ok(Some(Next::Need(rest.len().max(TRAILER_LEN))));
        }
        let behind = self.order.u32_at(rest, 0);
        if behind != skip.len {
            return Err(DamageKind::BlockTrailer(skip.len, behind));
        }
        *pos += TRAILER_LEN;
        self.skip = None;
        Ok(None)
    }

    /// Whether the bytes may end here: not in the middle of a block.
    pub(crate) const fn may_end(&self) -> bool {
        self.skip.is_none()
    }
}

/// The order in which a section's byte-order magic was written.
fn section_order(magic: [u8; 4]) -> Option<Order> {
    match magic {
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(Order::Little),
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(Order::Big),
        _ => None,
    }
}

/// Whether a block's content is needed.
const fn is_held(block_type: u32) -> bool {
    matches!(
        block_type,
        SECTION_HEADER | INTERFACE | ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET
    )
}

/// Whether the standard (or its registry) names a block: name resolution 4, interface
/// statistics 5, journal export 9, decryption secrets 10, custom 0xbad and 0x40000bad.
const fn is_known(block_type: u32) -> bool {
    is_held(block_type) || matches!(block_type, 4 | 5 | 9 | 10 | 0xbad | 0x4000_0bad)
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const STATISTICS: u32 = 5;

/// Type, both lengths.
const BLOCK_LEN_MIN: usize = 12;
const TRAILER_LEN: usize = 4;
/// Type, length, interface, time.
const PACKET_HEAD_LEN: usize = 20;
/// A packet of 256 KiB with as many bytes of options again, and then some.
const BLOCK_LEN_MAX: u32 = 1 << 20;
/// Statistics are a few numbers; a longer block says something else, and is passed over.
const STATISTICS_LEN_MAX: u32 = 4096;
const INTERFACE_COUNT_MAX: u32 = 65_536;
/// Link types that a report lists.
const LINK_COUNT_MAX: usize = 64;
