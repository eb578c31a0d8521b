//! bpf(2): a map of sockets, a program, and the link that attaches one to the other's interface.
//!
//! Its requests are structures that grow with the kernel, so they are written field by field: a
//! shorter one is one whose other fields are 0.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A map from queues to AF_XDP sockets.
pub(super) fn socket_map(places: u32) -> io::Result<OwnedFd> {
    let mut request = Request::default();
    for (at, value) in [(0, MAP_OF_SOCKETS), (4, 4), (8, 4), (12, places)] {
        request.put_word(at, value);
    }
    request.descriptor(CREATE_MAP)
}

/// Packets of a queue go to this socket from here on, until it is closed.
pub(super) fn put_socket(map: &OwnedFd, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
    let (key, value) = (queue, socket.as_raw_fd());
    let mut request = Request::default();
    request.put_word(0, map.as_raw_fd().cast_unsigned());
    request.put_place(8, &raw const key);
    request.put_place(16, &raw const value);
    request.call(UPDATE_ELEMENT).map(drop)
}

/// Loads a program for packets that an interface receives.
pub(super) fn load(code: &[u64], flags: u32) -> io::Result<OwnedFd> {
    let count = u32::try_from(code.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut request = Request::default();
    request.put_word(0, XDP_PROGRAM);
    request.put_word(4, count);
    request.put_place(8, code.as_ptr());
    request.put_place(16, LICENCE.as_ptr());
    request.put_word(44, flags);
    request.put(48, b"flowpin");
    request.put_word(68, XDP_ATTACHED);
    request.descriptor(LOAD_PROGRAM)
}

/// Attaches a program. It is detached when the descriptor is closed, so also by kill -9.
pub(super) fn attach(program: &OwnedFd, interface: u32, flags: u32) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    let mut request = Request::default();
    for (at, value) in [(0, program), (4, interface), (8, XDP_ATTACHED), (12, flags)] {
        request.put_word(at, value);
    }
    request.descriptor(CREATE_LINK)
}

/// What is asked for, as the kernel reads it (linux/bpf.h, `bpf_attr`).
#[derive(Default)]
struct Request([u64; 16]);

impl Request {
    fn put(&mut self, at: usize, value: &[u8]) {
        for (to, from) in (at..).zip(value) {
            if let Some(word) = self.0.get_mut(to / 8) {
                let mut bytes = word.to_ne_bytes();
                if let Some(byte) = bytes.get_mut(to % 8) {
                    *byte = *from;
                }
                *word = u64::from_ne_bytes(bytes);
            }
        }
    }

    fn put_word(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_ne_bytes());
    }

    /// Where something is that the kernel reads during the call.
    fn put_place<T>(&mut self, at: usize, place: *const T) {
        self.put(at, &(place.expose_provenance() as u64).to_ne_bytes());
    }

    fn call(&mut self, command: libc::c_int) -> io::Result<libc::c_int> {
        let len = size_of::<Self>();
        // SAFETY: the kernel reads and writes at most `len` bytes of the request. What it points
        // to belongs to the callers' arguments, which outlive the call, and is only read.
        let done = unsafe { libc::syscall(libc::SYS_bpf, command, &raw mut *self, len) };
        match libc::c_int::try_from(done) {
            Ok(done) if done >= 0 => Ok(done),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn descriptor(&mut self, command: libc::c_int) -> io::Result<OwnedFd> {
        let descriptor = self.call(command)?;
        // SAFETY: these commands return a new descriptor, which nothing else owns. The kernel
        // opens it so that it is closed by exec.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }
}

/// `BPF_MAP_CREATE`, `BPF_MAP_UPDATE_ELEM`, `BPF_PROG_LOAD`, `BPF_LINK_CREATE`.
const CREATE_MAP: libc::c_int = 0;
const UPDATE_ELEMENT: libc::c_int = 2;
const LOAD_PROGRAM: libc::c_int = 5;
const CREATE_LINK: libc::c_int = 28;
/// `BPF_MAP_TYPE_XSKMAP`.
const MAP_OF_SOCKETS: u32 = 17;
/// `BPF_PROG_TYPE_XDP`.
const XDP_PROGRAM: u32 = 6;
/// `BPF_XDP`.
const XDP_ATTACHED: u32 = 37;
/// No helper that the program calls asks for another.
const LICENCE: &core::ffi::CStr = c"Dual MIT/GPL";
