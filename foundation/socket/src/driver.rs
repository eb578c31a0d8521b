//! What the driver of an interface says about it (ethtool(8)).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The driver's name; empty if it does not say.
pub(crate) fn name(socket: &File, interface: &str) -> String {
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
pub(crate) fn receive_queues(socket: &File, interface: &str) -> Option<u32> {
    // Command; the most receive, transmit, other and combined channels; as many in use.
    let mut channels = [0_u8; CHANNELS_LEN];
    put_command(&mut channels, GET_CHANNELS);
    ask(socket, interface, &mut channels).ok()?;
    let word = |at: usize| {
        let bytes = channels.get(at..).and_then(|rest| rest.first_chunk());
        u32::from_ne_bytes(bytes.copied().unwrap_or_default())
    };
    let count = word(20).saturating_add(word(32));
    (count > 0).then_some(count)
}

/// Asks the driver: a command at the beginning of `value`, which it fills.
fn ask<const N: usize>(socket: &File, interface: &str, value: &mut [u8; N]) -> io::Result<()> {
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
    // command, which the two callers' values have; all outlive the call.
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
/// `IFNAMSIZ`, less the end of the name.
const NAME_LEN_MAX: usize = 15;
