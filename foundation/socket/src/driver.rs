//! What the driver of an interface says about it (ethtool(8)).

use crate::{SocketError, interface, word};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;

/// What a driver says. What it does not say is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// Its name; empty if it does not say.
    pub name: String,
    /// Receive queues in use.
    pub receive_queues: Option<u32>,
    /// How many there could be: those that receive alone, and those that send, too.
    pub receive_queues_max: (u32, u32),
    /// Packets that the card itself holds for each queue, and how many it could.
    pub ring: Option<(u32, u32)>,
    /// Whether both directions of a connection come by the same queue.
    pub spreads_symmetrically: Option<bool>,
    /// Whether the kernel joins segments before anything sees them (generic receive offload).
    pub joins: Option<bool>,
    /// Whether the card does (large receive offload), which loses what the segments were.
    pub joins_in_hardware: Option<bool>,
    /// Whether what is sent is cut into segments later than it is seen: by the card, or right
    /// before it (TCP segmentation offload, generic segmentation offload).
    pub cuts_late: Option<bool>,
}

/// What the driver of an interface says.
///
/// # Errors
/// There is no such interface.
pub fn driver(interface: &str) -> Result<Driver, SocketError> {
    interface::index(interface)?;
    // Any socket will do.
    let Ok(socket) = UnixDatagram::unbound() else {
        return Ok(Driver::default());
    };
    let flag = |command, bit: u32| {
        // Command, then the value.
        let mut value = [0_u8; 8];
        put_command(&mut value, command);
        ask(&socket, interface, &mut value).ok()?;
        Some(word(&value, 4) & bit != 0)
    };
    Ok(Driver {
        name: name(&socket, interface),
        receive_queues: receive_queues(&socket, interface),
        receive_queues_max: receive_queues_max(&socket, interface),
        ring: ring(&socket, interface),
        spreads_symmetrically: spreads_symmetrically(&socket, interface),
        joins: flag(GET_GRO, 1),
        joins_in_hardware: flag(GET_FLAGS, LRO),
        cuts_late: match (flag(GET_TSO, 1), flag(GET_GSO, 1)) {
            (None, None) => None,
            (tso, gso) => Some(tso == Some(true) || gso == Some(true)),
        },
    })
}

/// The driver's name; empty if it does not say.
pub(crate) fn name(socket: &impl AsRawFd, interface: &str) -> String {
    // Command, then names of 32 letters each, of which the first is the driver's.
    let mut info = [0_u8; INFO_LEN];
    put_command(&mut info, GET_INFO);
    if ask(socket, interface, &mut info).is_err() {
        return String::new();
    }
    let name = info.get(4..36).unwrap_or_default();
    let name = name.split(|&letter| letter == 0).next();
    String::from_utf8_lossy(name.unwrap_or_default()).into_owned()
}

/// How many receive queues are in use; none if the driver does not say.
pub(crate) fn receive_queues(socket: &impl AsRawFd, interface: &str) -> Option<u32> {
    let channels = channels(socket, interface)?;
    let count = word(&channels, 20).saturating_add(word(&channels, 32));
    (count > 0).then_some(count)
}

/// How many there could be: of those that receive alone, of those that send, too.
fn receive_queues_max(socket: &impl AsRawFd, interface: &str) -> (u32, u32) {
    let channels = channels(socket, interface);
    channels.map_or((0, 0), |channels| (word(&channels, 4), word(&channels, 16)))
}

/// Command; the most receive, transmit, other and combined channels; as many in use.
fn channels(socket: &impl AsRawFd, interface: &str) -> Option<[u8; CHANNELS_LEN]> {
    let mut channels = [0_u8; CHANNELS_LEN];
    put_command(&mut channels, GET_CHANNELS);
    ask(socket, interface, &mut channels).ok()?;
    Some(channels)
}

/// Descriptors of the card's receive ring, and the most there can be.
fn ring(socket: &impl AsRawFd, interface: &str) -> Option<(u32, u32)> {
    // Command; the most of four kinds; as many of each.
    let mut sizes = [0_u8; RING_LEN];
    put_command(&mut sizes, GET_RING);
    ask(socket, interface, &mut sizes).ok()?;
    Some((word(&sizes, 20), word(&sizes, 4))).filter(|&(_, most)| most > 0)
}

/// Whether the hash that chooses a queue is the same for both directions.
fn spreads_symmetrically(socket: &impl AsRawFd, interface: &str) -> Option<bool> {
    // Command; context; lengths of table and key; function and what is done to its input; both.
    let mut sizes = [0_u8; HASH_LEN];
    put_command(&mut sizes, GET_HASH);
    ask(socket, interface, &mut sizes).ok()?;
    let key_len = word(&sizes, 12);
    if key_len == 0 || key_len as usize > HASH_KEY_MAX {
        return None;
    }
    // The key alone.
    let mut whole = [0_u8; HASH_LEN + HASH_KEY_MAX];
    put_command(&mut whole, GET_HASH);
    if let Some(place) = whole.get_mut(12..16) {
        place.copy_from_slice(&key_len.to_ne_bytes());
    }
    ask(socket, interface, &mut whole).ok()?;
    let is_toeplitz = whole
        .get(16)
        .is_some_and(|function| function & TOEPLITZ != 0);
    let is_mixed = whole.get(17).is_some_and(|input| *input != 0);
    let key = whole.get(HASH_LEN..HASH_LEN + key_len as usize)?;
    Some(is_mixed || is_toeplitz && is_symmetric(key))
}

/// Whether Toeplitz' hash by this key is the same with source and destination exchanged: if its
/// bits repeat every 16, the length of a port and a divisor of that of an address.
fn is_symmetric(key: &[u8]) -> bool {
    key.iter()
        .zip(key.iter().skip(2))
        .all(|(one, next)| one == next)
}

/// Asks the driver: a command at the beginning of `value`, which it fills.
fn ask<const N: usize>(
    socket: &impl AsRawFd,
    interface: &str,
    value: &mut [u8; N],
) -> io::Result<()> {
    // SAFETY: all zeros are a value of this type of numbers and a pointer.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    for (to, from) in request
        .ifr_name
        .iter_mut()
        .zip(interface.bytes().take(NAME_LEN_MAX))
    {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
    // SAFETY: the kernel reads the request and writes at most the length that belongs to the
    // command, which
    // the callers' values have, and none but a key of the length asked for; all outlive the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), ETHTOOL, &raw mut request) };
    match done {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn put_command(value: &mut [u8], command: u32) {
    if let Some(place) = value.first_chunk_mut() {
        *place = command.to_ne_bytes();
    }
}

/// `SIOCETHTOOL`.
const ETHTOOL: libc::c_ulong = 0x8946;
/// `ETHTOOL_GDRVINFO`, and the length of its structure.
const GET_INFO: u32 = 3;
const INFO_LEN: usize = 196;
/// `ETHTOOL_GCHANNELS`, and the length of its structure.
const GET_CHANNELS: u32 = 0x3c;
const CHANNELS_LEN: usize = 36;
/// `ETHTOOL_GRINGPARAM`, and the length of its structure.
const GET_RING: u32 = 0x10;
const RING_LEN: usize = 36;
/// `ETHTOOL_GRSSH`, the length of its structure, and a key longer than any card's.
const GET_HASH: u32 = 0x46;
const HASH_LEN: usize = 24;
const HASH_KEY_MAX: usize = 256;
/// `ETH_RSS_HASH_TOP`.
const TOEPLITZ: u8 = 1;
/// `ETHTOOL_GGRO`.
const GET_GRO: u32 = 0x2b;
/// `ETHTOOL_GTSO`, `ETHTOOL_GGSO`.
const GET_TSO: u32 = 0x1e;
const GET_GSO: u32 = 0x23;
/// `ETHTOOL_GFLAGS`, and of its bits `ETH_FLAG_LRO`.
const GET_FLAGS: u32 = 0x25;
const LRO: u32 = 1 << 15;
/// `IFNAMSIZ`, less the end of the name.
pub(crate) const NAME_LEN_MAX: usize = 15;

#[cfg(test)]
mod tests {
    use super::is_symmetric;

    /// A key that repeats every two bytes, as drivers that offer symmetry set it; not the key of
    /// the hash's own description.
    #[test]
    fn keys_that_repeat_are_symmetric() {
        assert!(is_symmetric(&[0x6d, 0x5a].repeat(20)));
        assert!(!is_symmetric(&[
            0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2
        ]));
    }
}
