//! Packets of an interface that no AF_XDP socket takes: they go to the host, and are counted.
//!
//! The program on the interface cannot count them: of queues that are added while it is there, some
//! drivers (veth) do not run it.

use crate::filter::Instruction;
use crate::socket;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what an interface receives for the host.
#[derive(Debug)]
pub(super) struct HostPackets {
    /// Nobody reads it: what finds no room in its short queue is counted all the same.
    socket: File,
    seen: AtomicU64,
}

impl HostPackets {
    /// Of the interface with this number.
    pub(super) fn new(index: i32) -> io::Result<Self> {
        let socket = socket::open(true)?;
        socket::attach(&socket, &INCOMING)?;
        // As short as the kernel has it.
        socket::set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &1)?;
        socket::bind(&socket, index)?;
        Ok(Self {
            socket,
            seen: AtomicU64::new(0),
        })
    }

    /// How many so far.
    pub(super) fn count(&self) -> u64 {
        // It fails for a socket that is gone only. The kernel counts those without room, too, and
        // begins again at 0.
        let (new, _) = socket::statistics(&self.socket).unwrap_or((0, 0));
        // Relaxed: a number that stands for itself.
        self.seen.fetch_add(new.into(), Ordering::Relaxed) + u64::from(new)
    }
}

/// Passes the first byte of what came from outside: not what this host sends, to others or itself.
const INCOMING: [Instruction; 4] = [
    #[expect(
        clippy::cast_sign_loss,
        reason = "the kernel's own places are negative"
    )]
    instruction(0x30, 0, (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32),
    instruction(0x35, 1, OUTGOING),
    instruction(0x06, 0, 1),
    instruction(0x06, 0, 0),
];

const fn instruction(code: u16, if_true: u8, constant: u32) -> Instruction {
    Instruction {
        code,
        if_true,
        if_false: 0,
        constant,
    }
}

/// `PACKET_OUTGOING`; above it are those that come back to who sent them.
const OUTGOING: u32 = 4;
