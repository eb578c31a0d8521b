//! AF_XDP: packets of one receive queue, handed over by a program before the kernel's protocols
//! get them.
//!
//! ```text
//!  queue ─► program ─► socket of that queue ─► frames (shared memory) ─► Packet, Packet, …
//!           (the host no longer gets the packet)
//! ```
//!
//! A [`Grip`] is the program on an interface; an [`XdpSocket`] is one queue of it. What finds no
//! free frame is dropped by the kernel and counted once ([`RingStats`]).

mod bpf;
mod host;
mod program;
mod shared;

use crate::interface::{self, Link};
use crate::packet::Packet;
use crate::ring::RingStats;
use crate::state::State;
use crate::{SocketError, driver, socket};
use flowpin_packet::Timestamp;
use host::HostPackets;
use program::{Attached, STAMP_LEN};
use shared::{FRAME_LEN, Fill, Frames, Receive};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// An interface whose packets go to sockets, as long as there is one of these.
#[derive(Clone, Debug)]
pub struct Grip(Arc<Held>);

#[derive(Debug)]
struct Held {
    // Detached before the socket that made the interface promiscuous is closed.
    attached: Attached,
    /// Receives nothing: for what is asked of the interface, and what happens to it, of which
    /// AF_XDP sockets do not hear.
    asking: File,
    /// What nobody takes; none if the system has no socket for it.
    host: Option<HostPackets>,
    interface: String,
    index: i32,
    queues: u32,
}

impl Grip {
    /// Takes hold of an interface: from here on packets go to sockets, of queues that have one.
    ///
    /// # Errors
    /// No permission, no such interface, frames that are not Ethernet, or what the system says.
    pub fn new(interface: &str, promiscuous: bool) -> Result<Self, SocketError> {
        let failed = |what| move |source| refused(interface, what, source);
        let index = interface::index(interface)?;
        let asking = socket::open(true).map_err(failed("no packet socket"))?;
        socket::bind(&asking, index).map_err(failed("its link"))?;
        let hardware = socket::hardware(&asking).map_err(failed("its link"))?;
        let queues = queue_count(&asking, interface);
        drop(asking);
        if Link::of(hardware) != Some(Link::Ethernet) {
            return Err(SocketError::NotForXdp {
                interface: interface.to_owned(),
            });
        }
        let asking = socket::open(true).map_err(failed("no packet socket"))?;
        if promiscuous && hardware != libc::ARPHRD_LOOPBACK {
            socket::be_promiscuous(&asking, index).map_err(failed("promiscuous mode"))?;
        }
        socket::bind_silently(&asking, index).map_err(failed("its link"))?;
        let attached = Attached::new(interface, index.cast_unsigned(), queues);
        let attached = attached.map_err(failed("no XDP program"))?;
        Ok(Self(Arc::new(Held {
            attached,
            asking,
            host: HostPackets::new(index).ok(),
            interface: interface.to_owned(),
            index,
            queues,
        })))
    }

    /// How many receive queues the interface has.
    pub fn queues(&self) -> u32 {
        self.0.queues
    }

    /// What it could not have, and what it takes away: one line each.
    pub fn notes(&self) -> Vec<String> {
        let name = &self.0.interface;
        let mut notes = self.0.attached.notes.clone();
        let addresses = interface::addresses(name);
        if !addresses.is_empty() {
            notes.push(format!(
                "{name} has the address {}: AF_XDP takes what it receives away from this host",
                addresses.join(", ")
            ));
        }
        notes
    }
}

/// One receive queue's packets.
#[derive(Debug)]
pub struct XdpSocket {
    // Unmapped before the socket is closed, as mappings keep it open.
    receive: Receive,
    fill: Fill,
    frames: Frames,
    socket: File,
    /// How many frames there are.
    count: u32,
    snap_len: u32,
    /// The packet to be taken next.
    next: Option<Next>,
    /// Its bytes, if it has several parts.
    joined: Vec<u8>,
    /// What the clock of stamps is ahead of that of packets.
    clock_ahead: u64,
    last: Timestamp,
    taken: u64,
    /// How packets come here, in words.
    how: &'static str,
    note: Option<String>,
    // The last one detaches the program, behind its sockets: packets go to the host meanwhile.
    grip: Grip,
}

/// A packet that was looked at.
#[derive(Clone, Copy, Debug)]
struct Next {
    first: shared::Descriptor,
    parts: u32,
    wire_len: u32,
    time: Timestamp,
}

impl XdpSocket {
    /// Opens a socket on a queue, with so many bytes of memory for packets that wait.
    ///
    /// # Errors
    /// There is no such queue, another socket has it, or what the system says.
    pub fn open(grip: &Grip, queue: u16, snap_len: u32, bytes: u64) -> Result<Self, SocketError> {
        let Held {
            interface, queues, ..
        } = &*grip.0;
        if u32::from(queue) >= *queues {
            return Err(SocketError::NoSuchQueue {
                interface: interface.clone(),
                queue,
                count: *queues,
            });
        }
        let failed = |what| move |source| refused(interface, what, source);
        let memory = failed("no memory for its frames (--ring)");
        let count = (bytes / FRAME_LEN as u64).clamp(FRAMES_MIN, FRAMES_MAX);
        // A power of two, and not more than was given.
        let count = 1_u32 << count.ilog2();
        raise_limit(u64::from(count) * FRAME_LEN as u64);
        let socket = socket::open_xdp().map_err(failed("no AF_XDP socket"))?;
        let frames = Frames::new(count).map_err(&memory)?;
        let set = |name, value: &u32| socket::set(&socket, libc::SOL_XDP, name, value);
        socket::set(
            &socket,
            libc::SOL_XDP,
            libc::XDP_UMEM_REG,
            &frames.registration(),
        )
        .map_err(&memory)?;
        for name in [libc::XDP_UMEM_FILL_RING, libc::XDP_RX_RING] {
            set(name, &count).map_err(&memory)?;
        }
        // Nothing is sent, and yet the kernel wants a ring for what was.
        set(libc::XDP_UMEM_COMPLETION_RING, &1).map_err(&memory)?;
        let offsets = socket::xdp_offsets(&socket).map_err(failed("its rings"))?;
        let receive = Receive::map(&socket, offsets.rx, count).map_err(&memory)?;
        let fill = Fill::map(&socket, offsets.fr, count).map_err(&memory)?;
        let (how, note) =
            bind(&socket, grip, queue).map_err(|source| match source.raw_os_error() {
                Some(libc::EBUSY) => SocketError::QueueTaken {
                    interface: interface.clone(),
                    queue,
                },
                _ => failed("no packets of it")(source),
            })?;
        let attached = &grip.0.attached;
        attached
            .put(queue.into(), socket.as_fd())
            .map_err(failed("no packets of it"))?;
        Ok(Self {
            receive,
            fill,
            frames,
            socket,
            count,
            snap_len,
            next: None,
            joined: Vec::new(),
            clock_ahead: socket::clock_ahead(),
            last: Timestamp::default(),
            taken: 0,
            how,
            note,
            grip: grip.clone(),
        })
    }

    /// What its frames begin with.
    pub const fn link(&self) -> Link {
        Link::Ethernet
    }

    /// How packets come here: "native, copied" and the like.
    pub const fn how(&self) -> &'static str {
        self.how
    }

    /// What it could not have.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The next packet, if there is one now; it is the same until [`XdpSocket::take`].
    #[inline]
    pub fn head(&mut self) -> Option<Packet<'_>> {
        if self.next.is_none() {
            self.next = self.look();
        }
        let next = self.next?;
        let bytes = match next.parts {
            1 => self.frames.bytes(next.first).unwrap_or_default(),
            _ => &self.joined,
        };
        let kept = bytes.len().min(self.snap_len as usize);
        Some(Packet {
            time: next.time,
            wire_len: next.wire_len,
            bytes: bytes.get(..kept).unwrap_or_default(),
            vlan: None,
        })
    }

    /// Looks at what the kernel has handed over.
    fn look(&mut self) -> Option<Next> {
        let first = self.receive.descriptor(0)?;
        let (mut parts, mut wire_len, mut last) = (1, first.len, first);
        if first.goes_on {
            self.joined.clear();
            self.join(first);
            while last.goes_on {
                // The kernel hands over packets, not parts.
                last = self.receive.descriptor(parts)?;
                self.join(last);
                wire_len = wire_len.saturating_add(last.len);
                parts += 1;
            }
        }
        // Clocks of several processors may differ by a little; the order is that of the queue.
        let time = self.time(first).max(self.last);
        self.last = time;
        Some(Next {
            first,
            parts,
            wire_len,
            time,
        })
    }

    fn join(&mut self, part: shared::Descriptor) {
        let bytes = self.frames.bytes(part).unwrap_or_default();
        let room = JOINED_MAX.saturating_sub(self.joined.len());
        let bytes = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.joined.extend_from_slice(bytes);
    }

    /// When a packet came: as the program noted it, or now.
    fn time(&self, first: shared::Descriptor) -> Timestamp {
        let stamp = first.place.checked_sub(STAMP_LEN as u64);
        let stamp = stamp.and_then(|place| {
            self.frames.bytes(shared::Descriptor {
                place,
                len: STAMP_LEN as u32,
                goes_on: false,
            })
        });
        let stamp = stamp.and_then(|bytes| bytes.first_chunk().copied());
        match stamp.map(u64::from_ne_bytes) {
            Some(time) if time > 0 => Timestamp(time.saturating_sub(self.clock_ahead)),
            _ => Timestamp::now(),
        }
    }

    /// Takes the packet that [`XdpSocket::head`] has shown.
    #[inline]
    pub fn take(&mut self) {
        let Some(next) = self.next.take() else {
            return;
        };
        self.frames.clear_before(next.first, STAMP_LEN);
        for part in 0..next.parts {
            if let Some(descriptor) = self.receive.descriptor(part) {
                self.fill.put(descriptor.place);
            }
        }
        self.receive.take(next.parts);
        self.fill.publish();
        self.taken += 1;
    }

    /// Packets of its interface that went to the host, as no socket has their queue: the same for
    /// all its sockets.
    pub fn uncaptured(&self) -> u64 {
        self.grip.0.host.as_ref().map_or(0, HostPackets::count)
    }

    /// How many quarters of its frames wait to be read.
    pub fn quarters_filled(&self) -> usize {
        (self.receive.waiting() / (self.count / 4).max(1)) as usize
    }

    /// What became of all packets so far.
    pub fn stats(&mut self) -> RingStats {
        self.clock_ahead = socket::clock_ahead();
        // It fails for a socket that is gone only: then nothing is added. A ring of free frames
        // that was found empty is told apart, and not added: the packet is among the dropped.
        let dropped = socket::xdp_statistics(&self.socket)
            .map_or(0, |one| one.rx_dropped.saturating_add(one.rx_ring_full));
        RingStats {
            received: self.taken.saturating_add(dropped),
            dropped,
        }
    }

    /// What the interface is like now; none if it has been removed, or another one has its name.
    pub fn state(&self) -> Option<State> {
        let held = &*self.grip.0;
        State::of(&held.asking, (&held.interface, held.index))
    }

    /// For poll(2): has an error when something happens to the interface.
    pub fn alarm(&self) -> BorrowedFd<'_> {
        self.grip.0.asking.as_fd()
    }

    /// What went wrong since the last call: `ENETDOWN` when the interface goes down, once.
    pub fn take_error(&self) -> Option<io::Error> {
        socket::error(&self.socket).or_else(|| socket::error(&self.grip.0.asking))
    }
}

impl AsFd for XdpSocket {
    /// For poll(2): readable when there is a packet.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Binds a socket to a queue, in the best way that its driver has: which it is, and why it is not
/// a better one.
fn bind(socket: &File, grip: &Grip, queue: u16) -> io::Result<(&'static str, Option<String>)> {
    let held = &*grip.0;
    let attached = &held.attached;
    let parts = if attached.has_parts {
        libc::XDP_USE_SG
    } else {
        0
    };
    let ways = [
        libc::XDP_ZEROCOPY | libc::XDP_USE_NEED_WAKEUP | parts,
        libc::XDP_COPY | libc::XDP_USE_NEED_WAKEUP | parts,
        // Before Linux 6.6, and before 5.4.
        libc::XDP_COPY | libc::XDP_USE_NEED_WAKEUP,
        libc::XDP_COPY,
    ];
    // Without the driver's own program there is nothing but copying.
    let first = usize::from(!attached.is_native);
    let mut refused = None;
    for way in ways.into_iter().skip(first) {
        match bind_when_free(socket, (held.index.cast_unsigned(), queue.into()), way) {
            Ok(()) => {
                let is_copied = way & libc::XDP_COPY != 0;
                let how = match (attached.is_native, is_copied) {
                    (true, false) => "native, not copied",
                    (true, true) => "native, copied",
                    (false, _) => "generic, copied",
                };
                let note = refused.map(|error: io::Error| {
                    format!(
                        "{}: its driver has no zero-copy ({error}): the kernel copies each frame",
                        held.interface
                    )
                });
                return Ok((how, note));
            }
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => return Err(error),
            Err(error) => refused = Some(refused.unwrap_or(error)),
        }
    }
    Err(refused.unwrap_or_else(|| io::ErrorKind::Unsupported.into()))
}

/// The kernel lets go of a queue some time after its socket was closed.
fn bind_when_free(socket: &File, queue: (u32, u32), way: u16) -> io::Result<()> {
    let since = Instant::now();
    loop {
        match socket::bind_xdp(socket, queue, way) {
            Err(error)
                if error.raw_os_error() == Some(libc::EBUSY) && since.elapsed() < PATIENCE =>
            {
                thread::sleep(Duration::from_millis(2));
            }
            done => return done,
        }
    }
}

/// Receive queues of an interface.
fn queue_count(socket: &File, interface: &str) -> u32 {
    driver::receive_queues(socket, interface).unwrap_or_else(|| {
        let folder = fs::read_dir(format!("/sys/class/net/{interface}/queues"));
        let names = folder.into_iter().flatten().flatten();
        let queues = names.filter(|one| one.file_name().to_string_lossy().starts_with("rx-"));
        u32::try_from(queues.count()).unwrap_or(1).max(1)
    })
}

/// Frames are locked in memory. Whoever may not raise the limit has what it is.
fn raise_limit(bytes: u64) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_MEMLOCK) {
        let wanted = soft.saturating_add(bytes);
        let _raised = setrlimit(Resource::RLIMIT_MEMLOCK, wanted, hard.max(wanted))
            .or_else(|_| setrlimit(Resource::RLIMIT_MEMLOCK, wanted.min(hard), hard));
    }
}

fn refused(interface: &str, what: &'static str, source: io::Error) -> SocketError {
    let interface = interface.to_owned();
    match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => SocketError::NotPermittedXdp { interface },
        Some(libc::EBUSY | libc::EEXIST) => SocketError::ProgramThere { interface },
        Some(libc::ENOBUFS) => SocketError::NotLocked { interface },
        Some(libc::EAFNOSUPPORT) => SocketError::WithoutXdp { interface },
        _ => SocketError::System {
            interface,
            what,
            source,
        },
    }
}

/// Longer packets are cut.
const JOINED_MAX: usize = 128 << 10;
/// Frames of a socket: enough for the kernel's batches; not more than descriptors of a ring.
const FRAMES_MIN: u64 = 256;
const FRAMES_MAX: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_millis(500);
