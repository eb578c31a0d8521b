//! System calls on packet sockets: the options of packet(7) that the standard library lacks.

use crate::filter::Instruction;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

/// A packet socket that receives nothing yet.
///
/// `with_header`: frames as they come; else without the header of the link.
pub(crate) fn open(with_header: bool) -> io::Result<File> {
    let kind = if with_header {
        libc::SOCK_RAW
    } else {
        libc::SOCK_DGRAM
    };
    // SAFETY: no memory is passed. Protocol 0: nothing is received before `bind`.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Binds to an interface, for all protocols. From here on packets come.
pub(crate) fn bind(socket: &File, index: i32) -> io::Result<()> {
    let mut address = empty_address();
    address.sll_protocol = ALL_PROTOCOLS;
    address.sll_ifindex = index;
    let len = len_of::<libc::sockaddr_ll>();
    // SAFETY: the address is of the length that is said, and outlives the call.
    let done = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) };
    checked(done)
}

/// The hardware type of the interface that the socket is bound to.
pub(crate) fn hardware(socket: &File) -> io::Result<u16> {
    let mut address = empty_address();
    let mut len = len_of::<libc::sockaddr_ll>();
    // SAFETY: the kernel writes at most `len` bytes of the address, both of which outlive the call.
    let done =
        unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut len) };
    checked(done)?;
    Ok(address.sll_hatype)
}

/// Attaches a filter.
pub(crate) fn attach(socket: &File, program: &[Instruction]) -> io::Result<()> {
    let mut program: Vec<_> = (program.iter())
        .map(|one| libc::sock_filter {
            code: one.code,
            jt: one.if_true,
            jf: one.if_false,
            k: one.constant,
        })
        .collect();
    let len = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog {
        len,
        filter: program.as_mut_ptr(),
    };
    // The kernel copies the program, which outlives the call.
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

/// Gives the socket a ring of so many blocks, each of which is ours so many milliseconds after its
/// first packet.
pub(crate) fn ring(socket: &File, len: u32, count: u32, timeout_ms: u32) -> io::Result<()> {
    let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
    set(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    let request = libc::tpacket_req3 {
        tp_block_size: len,
        tp_block_nr: count,
        // Only checked: blocks are packed.
        tp_frame_size: FRAME_LEN,
        tp_frame_nr: len / FRAME_LEN * count,
        tp_retire_blk_tov: timeout_ms,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
}

/// Frames for other stations are received, too, until the socket is closed.
pub(crate) fn be_promiscuous(socket: &File, index: i32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(
        socket,
        libc::SOL_PACKET,
        libc::PACKET_ADD_MEMBERSHIP,
        &membership,
    )
}

/// Packets since the last call, those that were dropped included, and those.
pub(crate) fn statistics(socket: &File) -> io::Result<(u32, u32)> {
    let mut stats = libc::tpacket_stats_v3 {
        tp_packets: 0,
        tp_drops: 0,
        tp_freeze_q_cnt: 0,
    };
    get(
        socket,
        libc::SOL_PACKET,
        libc::PACKET_STATISTICS,
        &mut stats,
    )?;
    Ok((stats.tp_packets, stats.tp_drops))
}

/// What went wrong since the last call, if something did.
pub(crate) fn error(socket: &File) -> Option<io::Error> {
    let mut number: libc::c_int = 0;
    match get(socket, libc::SOL_SOCKET, libc::SO_ERROR, &mut number) {
        Err(error) => Some(error),
        Ok(()) => (number != 0).then(|| io::Error::from_raw_os_error(number)),
    }
}

fn set<T>(socket: &File, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let (value, len) = (core::ptr::from_ref(value), len_of::<T>());
    // SAFETY: the kernel reads `len` bytes of a value that outlives the call.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.cast(), len) };
    checked(done)
}

/// `T` must be plain numbers, in which any bits are a value.
fn get<T>(socket: &File, level: libc::c_int, name: libc::c_int, value: &mut T) -> io::Result<()> {
    let (value, mut len) = (core::ptr::from_mut(value), len_of::<T>());
    // SAFETY: the kernel writes at most `len` bytes of a value of numbers; both outlive the call.
    let done =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, value.cast(), &raw mut len) };
    checked(done)
}

fn checked(done: libc::c_int) -> io::Result<()> {
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

const fn empty_address() -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: 0,
        sll_ifindex: 0,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}

/// Sizes of the few types above are far below 4 GiB.
const fn len_of<T>() -> libc::socklen_t {
    size_of::<T>() as libc::socklen_t
}

/// `ETH_P_ALL`, in network order.
const ALL_PROTOCOLS: u16 = (libc::ETH_P_ALL as u16).to_be();
/// A multiple of the alignment, and a divisor of every block length.
const FRAME_LEN: u32 = 2048;
