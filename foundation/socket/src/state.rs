//! What an interface is like now (netdevice(7)).

use crate::driver::{self, NAME_LEN_MAX};
use std::io;
use std::os::fd::AsRawFd;

/// What an interface is like now. What the system does not say is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// It was set up (`ip link set … up`).
    pub is_up: bool,
    /// It has a carrier: the other end of the cable is there.
    pub has_carrier: bool,
    /// The largest packet that it sends.
    pub mtu: Option<u32>,
    /// Receive queues in use (`ethtool -l`).
    pub receive_queues: Option<u32>,
}

impl State {
    /// Of the interface with that name and number, by any socket; none if there is no such one.
    pub(crate) fn of(socket: &impl AsRawFd, (interface, index): (&str, i32)) -> Option<Self> {
        let found = ask(socket, interface, libc::SIOCGIFINDEX).ok()?;
        // SAFETY: the kernel has filled in the number, and any bits are one.
        let found = unsafe { found.ifr_ifru.ifru_ifindex };
        if found != index {
            return None;
        }
        let flags = ask(socket, interface, libc::SIOCGIFFLAGS).ok()?;
        // SAFETY: the kernel has filled in the flags, and any bits are some.
        let flags = libc::c_int::from(unsafe { flags.ifr_ifru.ifru_flags });
        let mtu = ask(socket, interface, libc::SIOCGIFMTU).ok();
        // SAFETY: likewise, the number.
        let mtu = mtu.map(|request| unsafe { request.ifr_ifru.ifru_mtu });
        Some(Self {
            is_up: flags & libc::IFF_UP != 0,
            has_carrier: flags & libc::IFF_RUNNING != 0,
            mtu: mtu.and_then(|mtu| u32::try_from(mtu).ok()),
            receive_queues: driver::receive_queues(socket, interface),
        })
    }
}

fn ask(socket: &impl AsRawFd, interface: &str, what: libc::c_ulong) -> io::Result<libc::ifreq> {
    // SAFETY: all zeros are a value of this type of numbers and a pointer.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    let name = interface.bytes().take(NAME_LEN_MAX);
    for (to, from) in request.ifr_name.iter_mut().zip(name) {
        *to = from.cast_signed();
    }
    // SAFETY: these requests read the name and fill in the rest; it outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut request) };
    match done {
        0.. => Ok(request),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::State;
    use std::os::unix::net::UnixDatagram;

    /// The loopback interface is everywhere, also in namespaces where it is down.
    #[test]
    fn the_loopback_interface_has_a_state() {
        let socket = UnixDatagram::unbound().unwrap();
        let index = crate::interface::index("lo").unwrap();
        let state = State::of(&socket, ("lo", index)).unwrap();
        assert!(state.mtu.is_some_and(|mtu| mtu >= 1280), "{state:?}");
        assert_eq!(State::of(&socket, ("lo", index + 1)), None);
        assert_eq!(State::of(&socket, ("no such one", index)), None);
    }
}
