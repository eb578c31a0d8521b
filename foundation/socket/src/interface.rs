//! Network interfaces by name, and what their frames begin with.

use crate::SocketError;
use nix::net::if_;

/// What the frames of a ring begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// An Ethernet header.
    Ethernet,
    /// An IPv4 or IPv6 header: the interface has no header of its own, or it is left out.
    Ip,
    /// A radiotap header, then one of IEEE 802.11.
    Radiotap,
    /// A header of IEEE 802.11.
    Wireless,
}

impl Link {
    /// By the kernel's hardware type (if_arp.h); none if frames are not decoded.
    pub(crate) const fn of(hardware: u16) -> Option<Self> {
        Some(match hardware {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Self::Ethernet,
            libc::ARPHRD_NONE
            | RAW_IP
            | libc::ARPHRD_PPP
            | libc::ARPHRD_TUNNEL
            | libc::ARPHRD_TUNNEL6
            | libc::ARPHRD_SIT
            | libc::ARPHRD_IPGRE
            | IP6_GRE => Self::Ip,
            libc::ARPHRD_IEEE80211_RADIOTAP => Self::Radiotap,
            libc::ARPHRD_IEEE80211 => Self::Wireless,
            _ => return None,
        })
    }

    /// Its LINKTYPE_ number (the registry at tcpdump.org).
    pub const fn number(self) -> u16 {
        match self {
            Self::Ethernet => 1,
            Self::Ip => 101,
            Self::Radiotap => 127,
            Self::Wireless => 105,
        }
    }
}

/// The names of all interfaces, in the system's order.
pub fn interfaces() -> Vec<String> {
    let all = if_::if_nameindex().ok();
    let names = all.iter().flatten().map(|one| one.name().to_string_lossy());
    names.map(|name| name.into_owned()).collect()
}

/// The IP addresses of an interface; those of the link alone, which need nobody, left out.
pub(crate) fn addresses(name: &str) -> Vec<String> {
    let all = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let own = all.filter(|one| one.interface_name == name);
    let addresses = own.filter_map(|one| {
        let address = one.address?;
        let v4 = address.as_sockaddr_in().map(|one| one.ip().to_string());
        let v6 = address.as_sockaddr_in6().map(|one| one.ip());
        let v6 = v6.filter(|one| !one.is_unicast_link_local());
        v4.or_else(|| v6.map(|one| one.to_string()))
    });
    addresses.collect()
}

/// The number of an interface.
pub(crate) fn index(name: &str) -> Result<i32, SocketError> {
    let index = if_::if_nametoindex(name).ok();
    let index = index.and_then(|index| i32::try_from(index).ok());
    index.ok_or_else(|| SocketError::NoSuchInterface {
        interface: name.to_owned(),
        known: interfaces(),
    })
}

/// `ARPHRD_RAWIP`: cellular modems.
const RAW_IP: u16 = 519;
/// `ARPHRD_IP6GRE`.
const IP6_GRE: u16 = 823;
