//! System calls on packet and AF_XDP sockets: options that the standard library lacks.

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
    bind_for(socket, index, ALL_PROTOCOLS)
}

/// Binds to an interface, for no protocol that there is: it hears of the interface's end alone.
pub(crate) fn bind_silently(socket: &File, index: i32) -> io::Result<()> {
    bind_for(socket, index, NO_PROTOCOL)
}

fn bind_for(socket: &File, index: i32, protocol: u16) -> io::Result<()> {
    let mut address = empty_address();
    address.sll_protocol = protocol;
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

/// Joins the sockets that divide an interface's packets: those of a group, which is returned, or of
/// a new one.
pub(crate) fn join(socket: &File, group: Option<u16>, by_queue: bool) -> io::Result<u16> {
    let mode = match by_queue {
        true => libc::PACKET_FANOUT_QM,
        false => libc::PACKET_FANOUT_HASH,
    };
    let new = match group {
        Some(_) => 0,
        None => libc::PACKET_FANOUT_FLAG_UNIQUEID,
    };
    let wanted = u32::from(group.unwrap_or(0)) | (mode | new) << 16;
    set(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &wanted)?;
    let mut joined = 0_u32;
    get(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &mut joined)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the group is the lower half"
    )]
    Ok(joined as u16)
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

/// An AF_XDP socket that receives nothing yet.
pub(crate) fn open_xdp() -> io::Result<File> {
    // SAFETY: no memory is passed.
    let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Binds an AF_XDP socket to a queue of an interface.
pub(crate) fn bind_xdp(
    socket: &File,
    (interface, queue): (u32, u32),
    flags: u16,
) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: flags,
        sxdp_ifindex: interface,
        sxdp_queue_id: queue,
        sxdp_shared_umem_fd: 0,
    };
    let len = len_of::<libc::sockaddr_xdp>();
    // SAFETY: the address is of the length that is said, and outlives the call.
    let done = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) };
    checked(done)
}

/// Where in the mappings of an AF_XDP socket's rings what is.
pub(crate) fn xdp_offsets(socket: &File) -> io::Result<libc::xdp_mmap_offsets> {
    let none = libc::xdp_ring_offset {
        producer: 0,
        consumer: 0,
        desc: 0,
        flags: 0,
    };
    let mut offsets = libc::xdp_mmap_offsets {
        rx: none,
        tx: none,
        fr: none,
        cr: none,
    };
    get(socket, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS, &mut offsets)?;
    Ok(offsets)
}

/// What became of an AF_XDP socket's packets so far. Older kernels fill in less.
pub(crate) fn xdp_statistics(socket: &File) -> io::Result<libc::xdp_statistics> {
    let mut statistics = libc::xdp_statistics {
        rx_dropped: 0,
        rx_invalid_descs: 0,
        tx_invalid_descs: 0,
        rx_ring_full: 0,
        rx_fill_ring_empty_descs: 0,
        tx_ring_empty_descs: 0,
    };
    get(socket, libc::SOL_XDP, libc::XDP_STATISTICS, &mut statistics)?;
    Ok(statistics)
}

/// Nanoseconds that atomic time is ahead of the system's: whole seconds.
pub(crate) fn clock_ahead() -> u64 {
    let nanos = |clock| {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel writes the time, which outlives the call.
        let done = unsafe { libc::clock_gettime(clock, &raw mut time) };
        checked(done).ok()?;
        let nanos = u64::try_from(time.tv_nsec).ok()?;
        Some(u64::try_from(time.tv_sec).ok()? * NANOS + nanos)
    };
    let ahead = nanos(libc::CLOCK_TAI).zip(nanos(libc::CLOCK_REALTIME));
    let ahead = ahead.map_or(0, |(atomic, system)| atomic.saturating_sub(system));
    // The clocks were read one after the other.
    (ahead + NANOS / 2) / NANOS * NANOS
}

pub(crate) fn set<T>(
    socket: &File,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
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

const NANOS: u64 = 1_000_000_000;
/// `ETH_P_ALL`, in network order.
const ALL_PROTOCOLS: u16 = (libc::ETH_P_ALL as u16).to_be();
/// Reserved (IEEE 802 numbers), and the same in network order.
const NO_PROTOCOL: u16 = u16::MAX;
/// A multiple of the alignment, and a divisor of every block length.
const FRAME_LEN: u32 = 2048;
