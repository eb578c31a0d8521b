//! Where packets come from: a ring of copies, or an AF_XDP socket of one queue.

use super::LiveOptions;
use super::port::PortLink;
use flowpin_config::Interface;
use flowpin_packet::Timestamp;
use flowpin_socket::{Grip, Instruction, Packet, Ring, RingStats, SocketError, State, XdpSocket};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// One source of packets, in the order in which the kernel got them.
#[derive(Debug)]
pub(super) enum Intake {
    Ring(Box<Ring>),
    Xdp(Box<XdpSocket>),
}

impl Intake {
    pub(super) const fn link(&self) -> PortLink {
        match self {
            Self::Ring(ring) => PortLink::of_ring(ring.link()),
            Self::Xdp(socket) => PortLink {
                number: socket.link().number(),
                in_kernel: false,
            },
        }
    }

    /// For poll(2): readable when there is a packet.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Self::Ring(ring) => ring.as_fd(),
            Self::Xdp(socket) => socket.as_fd(),
        }
    }

    /// For poll(2), where errors of the interface are told apart from packets.
    pub(super) fn alarm(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Ring(_) => None,
            Self::Xdp(socket) => Some(socket.alarm()),
        }
    }

    /// The next packet, if there is one now; it is the same until [`Intake::take`].
    #[inline]
    pub(super) fn head(&mut self) -> Option<Packet<'_>> {
        match self {
            Self::Ring(ring) => ring.head(),
            Self::Xdp(socket) => socket.head(),
        }
    }

    #[inline]
    pub(super) fn take(&mut self) {
        match self {
            Self::Ring(ring) => ring.take(),
            Self::Xdp(socket) => socket.take(),
        }
    }

    /// Takes the next packet, and perhaps those behind it that came before `until`, while `put`
    /// wants more.
    #[inline]
    pub(super) fn take_until(
        &mut self,
        until: Timestamp,
        mut put: impl FnMut(&Packet<'_>) -> bool,
    ) {
        match self {
            Self::Ring(ring) => ring.take_until(until, put),
            Self::Xdp(socket) => {
                if let Some(packet) = socket.head() {
                    put(&packet);
                }
                socket.take();
            }
        }
    }

    /// Packets must pass another program of the kernel's, which AF_XDP does not run.
    pub(super) fn refilter(&self, filter: &[Instruction]) -> Result<(), SocketError> {
        match self {
            Self::Ring(ring) => ring.refilter(filter),
            Self::Xdp(_) => Ok(()),
        }
    }

    /// How many quarters of it wait to be read.
    pub(super) fn quarters_filled(&self) -> usize {
        match self {
            Self::Ring(ring) => ring.quarters_filled(),
            Self::Xdp(socket) => socket.quarters_filled(),
        }
    }

    pub(super) fn stats(&mut self) -> RingStats {
        match self {
            Self::Ring(ring) => ring.stats(),
            Self::Xdp(socket) => socket.stats(),
        }
    }

    /// Packets of its interface that no socket has.
    pub(super) fn uncaptured(&self) -> u64 {
        match self {
            Self::Ring(_) => 0,
            Self::Xdp(socket) => socket.uncaptured(),
        }
    }

    /// Whether queues that are added are not captured from.
    pub(super) const fn leaves_new_queues(&self) -> bool {
        matches!(self, Self::Xdp(_))
    }

    pub(super) fn take_error(&self) -> Option<io::Error> {
        match self {
            Self::Ring(ring) => ring.take_error(),
            Self::Xdp(socket) => socket.take_error(),
        }
    }

    pub(super) fn state(&self) -> Option<State> {
        match self {
            Self::Ring(ring) => ring.state(),
            Self::Xdp(socket) => socket.state(),
        }
    }
}

/// Interfaces that AF_XDP holds: once each, however many of their queues are named.
#[derive(Debug, Default)]
pub(super) struct Grips {
    held: Vec<(String, Grip)>,
    /// What they could not have, and how packets come.
    pub(super) notes: Vec<String>,
}

impl Grips {
    /// Opens an interface's sockets: of the queue that is named, or of all.
    pub(super) fn open(
        &mut self,
        interface: &Interface,
        options: &LiveOptions,
    ) -> Result<Vec<Intake>, SocketError> {
        let name = &interface.name;
        let known = self.held.iter().find(|(held, _)| held == name);
        let grip = match known {
            Some((_, grip)) => grip.clone(),
            None => {
                let grip = Grip::new(name, options.promiscuous)?;
                self.notes.extend(grip.notes());
                self.held.push((name.clone(), grip.clone()));
                grip
            }
        };
        let queues = match interface.queue {
            Some(queue) => queue..=queue,
            None => 0..=u16::try_from(grip.queues() - 1).unwrap_or(u16::MAX),
        };
        let bytes = options.ring_bytes / queues.len().max(1) as u64;
        let mut sockets = Vec::with_capacity(queues.len());
        for queue in queues {
            let socket = XdpSocket::open(&grip, queue, options.snap_len, bytes)?;
            if sockets.is_empty() {
                self.notes.extend(socket.note().map(str::to_owned));
                self.notes
                    .push(format!("{interface}: AF_XDP, {}", socket.how()));
            }
            sockets.push(Intake::Xdp(Box::new(socket)));
        }
        Ok(sockets)
    }
}
