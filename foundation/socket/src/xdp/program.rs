//! The program that hands an interface's packets to sockets, and how it is attached.
//!
//! ```text
//!  packet ─► write the time before it ─► is there a socket for its queue? ─ yes ─► that socket
//!                                                                        └ no ──► the host
//! ```

use super::bpf;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// A program on an interface. Dropped, it is detached.
#[derive(Debug)]
pub(super) struct Attached {
    // Detached before the map of sockets goes.
    _link: OwnedFd,
    map: OwnedFd,
    /// It runs in the driver, before the kernel makes a buffer of its own of a packet.
    pub(super) is_native: bool,
    /// Packets may have several buffers.
    pub(super) has_parts: bool,
    /// Why it is not what it could be: one line each.
    pub(super) notes: Vec<String>,
}

impl Attached {
    /// Attaches the program to an interface with so many queues: in the driver, else before the
    /// kernel's own protocols.
    pub(super) fn new(name: &str, interface: u32, queues: u32) -> io::Result<Self> {
        let map = bpf::socket_map(queues)?;
        let mut notes = Vec::new();
        let mut refused = None;
        // The best first. Kernels before 6.1 have no such clock, before 5.18 no parts.
        for (has_times, has_parts) in [(true, true), (false, true), (false, false)] {
            let flags = if has_parts { MAY_HAVE_PARTS } else { 0 };
            match bpf::load(&program(&map, has_times), flags) {
                Ok(program) => {
                    if !has_times {
                        notes.push(format!(
                            "{name}: this kernel's programs have no clock: times are those at \
                             which packets are read"
                        ));
                    }
                    let (link, is_native) = attach(name, &program, interface, &mut notes)?;
                    return Ok(Self {
                        _link: link,
                        map,
                        is_native,
                        has_parts,
                        notes,
                    });
                }
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => return Err(error),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| io::ErrorKind::Unsupported.into()))
    }

    /// Packets of a queue go to this socket from here on.
    pub(super) fn put(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        bpf::put_socket(&self.map, queue, socket)
    }
}

/// Attaches a program, and whether it is in the driver.
fn attach(
    name: &str,
    program: &OwnedFd,
    interface: u32,
    notes: &mut Vec<String>,
) -> io::Result<(OwnedFd, bool)> {
    let refused = match bpf::attach(program, interface, IN_DRIVER) {
        Ok(link) => return Ok((link, true)),
        Err(error) => error,
    };
    // Another program is there, or we may not: the other way is closed as well.
    if let Some(libc::EBUSY | libc::EEXIST | libc::EPERM) = refused.raw_os_error() {
        return Err(refused);
    }
    let link = bpf::attach(program, interface, GENERIC)?;
    notes.push(format!(
        "{name}: its driver does not run XDP programs ({refused}): the kernel does (generic), \
         which is slower"
    ));
    Ok((link, false))
}

/// The program's instructions (linux/bpf.h).
fn program(map: &OwnedFd, has_times: bool) -> Vec<u64> {
    // R1 is the packet's context; calls keep R6 to R9 only.
    let mut code = vec![copy(R6, R1)];
    if has_times {
        let stamp = [
            set(R2, -(STAMP_LEN as i32)),
            call(ADJUST_META),
            // Drivers that cannot are asked for the socket without.
            jump_unless(R0, 0, 7),
            call(TAI_NANOSECONDS),
            load_word(R1, R6, DATA_META),
            load_word(R2, R6, DATA),
            copy(R3, R1),
            add(R3, STAMP_LEN as i32),
            // Never so; the kernel wants to see it.
            jump_if_above(R3, R2, 1),
            store_long(R1, R0),
        ];
        code.extend(stamp);
    }
    let [low, high] = map_of(R1, map.as_raw_fd());
    code.extend([
        load_word(R2, R6, QUEUE),
        low,
        high,
        set(R3, PASS),
        call(REDIRECT_MAP),
        EXIT,
    ]);
    code
}

/// One instruction: code, registers, offset, number.
const fn instruction(code: u8, to: u8, from: u8, offset: i16, number: i32) -> u64 {
    let [low, high] = offset.to_le_bytes();
    let [a, b, c, d] = number.to_le_bytes();
    u64::from_le_bytes([code, to | from << 4, low, high, a, b, c, d])
}

const fn copy(to: u8, from: u8) -> u64 {
    instruction(0xbf, to, from, 0, 0)
}

const fn set(to: u8, number: i32) -> u64 {
    instruction(0xb7, to, 0, 0, number)
}

const fn add(to: u8, number: i32) -> u64 {
    instruction(0x07, to, 0, 0, number)
}

const fn load_word(to: u8, from: u8, offset: i16) -> u64 {
    instruction(0x61, to, from, offset, 0)
}

const fn store_long(to: u8, from: u8) -> u64 {
    instruction(0x7b, to, from, 0, 0)
}

const fn jump_unless(register: u8, is: i32, how_far: i16) -> u64 {
    instruction(0x55, register, 0, how_far, is)
}

const fn jump_if_above(register: u8, other: u8, how_far: i16) -> u64 {
    instruction(0x2d, register, other, how_far, 0)
}

const fn call(helper: i32) -> u64 {
    instruction(0x85, 0, 0, 0, helper)
}

/// A map by its descriptor (`BPF_PSEUDO_MAP_FD`): two instructions.
const fn map_of(to: u8, descriptor: i32) -> [u64; 2] {
    [instruction(0x18, to, 1, 0, descriptor), 0]
}

const EXIT: u64 = instruction(0x95, 0, 0, 0, 0);

const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const R6: u8 = 6;

/// Where in a packet's context (`xdp_md`) its first byte, what stands before that, and its queue
/// are.
const DATA: i16 = 0;
const DATA_META: i16 = 8;
const QUEUE: i16 = 16;
/// `bpf_redirect_map`, `bpf_xdp_adjust_meta`, `bpf_ktime_get_tai_ns`.
const REDIRECT_MAP: i32 = 51;
const ADJUST_META: i32 = 54;
const TAI_NANOSECONDS: i32 = 208;
/// `XDP_PASS`: what becomes of a packet without a socket.
const PASS: i32 = 2;
/// A time before a packet has so many bytes.
pub(super) const STAMP_LEN: usize = 8;

/// `BPF_F_XDP_HAS_FRAGS`.
const MAY_HAVE_PARTS: u32 = 1 << 5;
/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE`.
const GENERIC: u32 = 1 << 1;
const IN_DRIVER: u32 = 1 << 2;
