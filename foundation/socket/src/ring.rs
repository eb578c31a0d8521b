//! One socket and its ring: packets in the order in which the kernel got them.

use crate::filter::Passes;
use crate::interface::{self, Link};
use crate::memory::Memory;
use crate::packet::Packet;
use crate::state::State;
use crate::{Instruction, SocketError, driver, socket, word};
use flowpin_cpu::prefetch;
use flowpin_packet::Timestamp;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// What to capture, and how.
#[derive(Clone, Debug)]
pub struct RingOptions {
    /// The interface's name.
    pub interface: String,
    /// Of this receive queue only, from 0.
    pub queue: Option<u16>,
    /// Bytes kept of each frame.
    pub snap_len: u32,
    /// Frames for other stations too.
    pub promiscuous: bool,
    /// Bytes that the kernel may hold before it drops, in all rings. Some more or less: whole
    /// blocks.
    pub ring_bytes: u64,
    /// Rings that the kernel fills side by side.
    pub rings: u16,
    /// Milliseconds after which a block with a packet is handed over though it is not full.
    pub timeout_ms: u32,
}

/// The packets of an interface, or of one of its queues.
#[derive(Debug)]
pub struct Ring {
    // Unmapped before the socket is closed.
    memory: Memory,
    socket: File,
    interface: String,
    index: i32,
    link: Link,
    /// What passes beside the filter.
    passes: Passes,
    /// The block to look at, and where in it the next packet is; none before its first.
    block: usize,
    place: Option<usize>,
    /// How far it is from there to the one after it.
    next: usize,
    /// Packets left in that block.
    left: u32,
    stats: RingStats,
}

/// What became of the packets that passed the filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingStats {
    /// Those that the kernel got, dropped ones included.
    pub received: u64,
    /// Those for which the ring had no room.
    pub dropped: u64,
}

impl Ring {
    /// Opens sockets on an interface, one a ring. `filter` makes the program that frames of its
    /// link must pass; an empty one lets all pass.
    ///
    /// Several divide the packets: by receive queue if there are as many, else by hosts, so that a
    /// card with one queue has several as well. Until all are there none has packets.
    ///
    /// # Errors
    /// No permission, no such interface, frames that are not decoded, or what the system says.
    pub fn open<E: From<SocketError>>(
        options: &RingOptions,
        filter: impl FnOnce(Link) -> Result<Vec<Instruction>, E>,
    ) -> Result<Vec<Self>, E> {
        let facts = Facts::of(options)?;
        let filter = filter(facts.link)?;
        if options.rings <= 1 {
            let program = facts.passes.program(&filter);
            return Ok(vec![Self::one(options, &facts, &program)?]);
        }
        let mut all = Vec::with_capacity(options.rings.into());
        let mut group = None;
        for _ in 0..options.rings {
            // Nothing passes while there are rings that would get the same packet.
            let ring = Self::one(options, &facts, &NOTHING)?;
            let by_queue = facts.queue_count >= u32::from(options.rings);
            let joined = socket::join(&ring.socket, group, by_queue).map_err(failed(
                &options.interface,
                "no further ring of it (--rings)",
            ))?;
            group = Some(joined);
            all.push(ring);
        }
        for ring in &all {
            ring.refilter(&filter)?;
        }
        Ok(all)
    }

    /// Opens one of an interface's rings.
    fn one(
        options: &RingOptions,
        facts: &Facts,
        program: &[Instruction],
    ) -> Result<Self, SocketError> {
        let failed = |what| failed(&options.interface, what);
        let socket = socket::open(facts.link != Link::Ip).map_err(failed("no packet socket"))?;
        // Before it is bound, so that nothing comes that does not pass.
        socket::attach(&socket, program).map_err(failed("its filter"))?;
        let bytes = options.ring_bytes / u64::from(options.rings.max(1));
        let block_count = (bytes / u64::from(BLOCK_LEN)).max(BLOCKS_MIN);
        let block_count = u32::try_from(block_count).unwrap_or(u32::MAX);
        socket::ring(&socket, BLOCK_LEN, block_count, options.timeout_ms.max(1))
            .map_err(failed("no memory for its ring (--ring)"))?;
        let memory = Memory::map(&socket, BLOCK_LEN as usize, block_count as usize)
            .map_err(failed("no memory for its ring (--ring)"))?;
        if options.promiscuous && !facts.is_loopback {
            let done = socket::be_promiscuous(&socket, facts.index);
            done.map_err(failed("promiscuous mode"))?;
        }
        socket::bind(&socket, facts.index).map_err(failed("no packets of it"))?;
        Ok(Self {
            memory,
            socket,
            interface: options.interface.clone(),
            index: facts.index,
            link: facts.link,
            passes: facts.passes,
            block: 0,
            place: None,
            next: 0,
            left: 0,
            stats: RingStats::default(),
        })
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// What its frames begin with.
    pub const fn link(&self) -> Link {
        self.link
    }

    /// Frames must pass another program from here on; an empty one lets all pass. Those that wait
    /// have passed the one before, and none is lost between the two.
    ///
    /// # Errors
    /// What the system says, such as that the program is too long for it; the one before stays.
    pub fn refilter(&self, filter: &[Instruction]) -> Result<(), SocketError> {
        let program = self.passes.program(filter);
        socket::attach(&self.socket, &program).map_err(|source| SocketError::System {
            interface: self.interface.clone(),
            what: "its filter",
            source,
        })
    }

    /// The next packet, if there is one now; it is the same until [`Ring::take`].
    pub fn head(&mut self) -> Option<Packet<'_>> {
        loop {
            if self.place.is_none() {
                let block = self.memory.block(self.block)?;
                self.left = word(block, PACKETS_AT);
                self.place = Some(word(block, FIRST_AT) as usize);
            }
            if self.left > 0 {
                break;
            }
            self.next_block();
        }
        let block = self.memory.block(self.block)?;
        match Packet::at(block, self.place?) {
            Some((packet, next)) => {
                self.next = next;
                Some(packet)
            }
            // The kernel does not write that: the block is given up.
            None => {
                self.left = 0;
                None
            }
        }
    }

    /// Takes the packet that [`Ring::head`] has shown.
    pub fn take(&mut self) {
        let Some(place) = self.place else {
            return;
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.next == 0 {
            self.next_block();
        } else {
            self.place = Some(place + self.next);
        }
    }

    /// Takes the next packet, and those at hand behind it that came before `until`, as long as
    /// `put` wants more.
    // PERF: the state of the ring stays in registers, and what the kernel wrote on another core is
    // asked for ahead.
    #[inline]
    pub fn take_until(&mut self, until: Timestamp, mut put: impl FnMut(&Packet<'_>) -> bool) {
        let (mut wants_more, mut is_first) = (true, true);
        while wants_more && self.head().is_some() {
            let (Some(block), Some(mut place)) = (self.memory.block(self.block), self.place) else {
                return;
            };
            while wants_more && self.left > 0 {
                let Some((packet, next)) = Packet::at(block, place) else {
                    self.left = 0;
                    break;
                };
                if !is_first && packet.time >= until {
                    self.place = Some(place);
                    return;
                }
                is_first = false;
                prefetch::read_at(block, place + 2 * next);
                wants_more = put(&packet);
                place += next;
                self.left = if next == 0 { 0 } else { self.left - 1 };
            }
            self.place = Some(place);
            if self.left == 0 {
                self.next_block();
            }
        }
    }

    fn next_block(&mut self) {
        self.memory.give_back(self.block);
        self.block = (self.block + 1) % self.memory.block_count().max(1);
        (self.place, self.left) = (None, 0);
    }

    /// How many quarters of the ring wait to be read.
    pub fn quarters_filled(&self) -> usize {
        let count = self.memory.block_count().max(1);
        let is_filled = |quarter: &usize| {
            let ahead = (count - 1) * quarter / 4;
            self.memory.block((self.block + ahead) % count).is_some()
        };
        (1..=4).take_while(is_filled).count()
    }

    /// What became of all packets so far.
    pub fn stats(&mut self) -> RingStats {
        // It fails for a socket that is gone only: then nothing is added.
        if let Ok((received, dropped)) = socket::statistics(&self.socket) {
            self.stats.received += u64::from(received);
            self.stats.dropped += u64::from(dropped);
        }
        self.stats
    }

    /// What the interface is like now; none if it has been removed, or another one has its name.
    pub fn state(&self) -> Option<State> {
        State::of(&self.socket, (&self.interface, self.index))
    }

    /// What went wrong since the last call: `ENETDOWN` when the interface goes down, once.
    pub fn take_error(&self) -> Option<io::Error> {
        socket::error(&self.socket)
    }
}

/// What must be known of an interface before its first ring.
struct Facts {
    index: i32,
    link: Link,
    is_loopback: bool,
    passes: Passes,
    queue_count: u32,
}

impl Facts {
    fn of(options: &RingOptions) -> Result<Self, SocketError> {
        let interface = &options.interface;
        let failed = |what| failed(interface, what);
        let index = interface::index(interface)?;
        // Which header frames have is known of a bound socket only.
        let looking = socket::open(true).map_err(failed("no packet socket"))?;
        socket::bind(&looking, index).map_err(failed("its link"))?;
        let hardware = socket::hardware(&looking).map_err(failed("its link"))?;
        let queue = queue(&looking, options)?;
        let link = Link::of(hardware).ok_or_else(|| SocketError::Undecoded {
            interface: interface.clone(),
            hardware,
        })?;
        let is_loopback = hardware == libc::ARPHRD_LOOPBACK;
        Ok(Self {
            index,
            link,
            is_loopback,
            passes: Passes {
                incoming_only: is_loopback,
                queue,
                snap_len: options.snap_len,
            },
            queue_count: driver::receive_queues(&looking, interface).unwrap_or(1),
        })
    }
}

/// What the system said, where `what` was tried.
fn failed(interface: &str, what: &'static str) -> impl FnOnce(io::Error) -> SocketError {
    let interface = interface.to_owned();
    move |source| match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => SocketError::NotPermitted { interface },
        _ => SocketError::System {
            interface,
            what,
            source,
        },
    }
}

/// The kernel's number for the queue that is wanted.
fn queue(socket: &File, options: &RingOptions) -> Result<Option<u32>, SocketError> {
    let Some(queue) = options.queue else {
        return Ok(None);
    };
    let interface = &options.interface;
    match driver::receive_queues(socket, interface) {
        Some(count) if u32::from(queue) >= count => Err(SocketError::NoSuchQueue {
            interface: interface.clone(),
            queue,
            count,
        }),
        // Drivers note the queue from 1 on, as 0 is none. This one does not: the sender's queue,
        // which is the receiver's too, stays in the packet, from 0 on.
        _ if driver::name(socket, interface) == "veth" => Ok(Some(queue.into())),
        _ => Ok(Some(u32::from(queue) + 1)),
    }
}

impl AsFd for Ring {
    /// For poll(2): readable when there is a packet.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A program that no frame passes.
const NOTHING: [Instruction; 1] = [Instruction {
    code: 0x06,
    if_true: 0,
    if_false: 0,
    constant: 0,
}];

/// Long enough for a frame of 64 KiB, which offloading makes, with its headers; short enough that
/// hundreds of them are kept while nothing is read, as each holds only what came in one time-out.
const BLOCK_LEN: u32 = 128 << 10;
const BLOCKS_MIN: u64 = 8;

/// Where in a block's header (linux/if_packet.h, `tpacket_hdr_v1`) the number of its packets is.
const PACKETS_AT: usize = 12;
/// And the place of the first.
const FIRST_AT: usize = 16;
