//! The systems of hosts, which determine how they resolve overlapping fragments and segments.
//!
//! An analyser that resolves an overlap differently from the receiving host can be made to see
//! other bytes than the host (Ptacek and Newsham, "Insertion, Evasion, and Denial of Service",
//! 1998), so the policy is chosen by destination (Shankar and Paxson, "Active Mapping", 2003).

use crate::options::{Stored, options};
use core::fmt::{self, Display};
use core::str::FromStr;
use flowpin_packet::{Network, NetworkError, NetworkMap};

/// Which bytes count where fragments of a datagram overlap.
///
/// The rules are those that Novak, "Target-Based Fragmentation Reassembly" (2005), observed:
/// "old" came first, "new" later, and both hold the byte in question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FragmentOverlap {
    /// Old stays.
    #[default]
    First,
    /// New wins.
    Last,
    /// Old stays where it starts no later than new.
    Bsd,
    /// New wins where old starts no later than new.
    BsdRight,
    /// Old stays where it starts before new.
    Linux,
    /// New wins where it starts before old and ends after it.
    Windows,
    /// New wins where it starts before old and ends no earlier.
    Solaris,
    /// The datagram is discarded, unless new lies inside old: then new is (RFC 5722, RFC 8200
    /// §4.5, and Linux).
    Refuse,
}

/// Which bytes count where segments of a stream overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SegmentOverlap {
    /// What came first stays.
    #[default]
    First,
    /// What came last wins.
    Last,
    /// 4.4BSD and its descendants.
    Bsd,
    /// Linux since 2.4.
    Linux,
    /// Linux up to 2.2.
    OldLinux,
    /// Windows up to XP and Server 2003.
    Windows,
    /// Solaris.
    Solaris,
    /// Classic Mac OS.
    Macos,
    /// HP-UX 11.
    Hpux,
    /// IRIX.
    Irix,
    /// Windows since Vista.
    Vista,
}

/// A system that hosts run: stands for both policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// FreeBSD, OpenBSD, NetBSD.
    Bsd,
    /// Linux since 4.19, which discards datagrams with overlaps.
    Linux,
    /// Linux 2.4 to 4.18.
    Linux26,
    /// Linux up to 2.2.
    OldLinux,
    /// Windows up to XP and Server 2003.
    Windows,
    /// Windows since Vista.
    Vista,
    /// Solaris.
    Solaris,
    /// Mac OS.
    Macos,
    /// HP-UX 11.
    Hpux,
    /// IRIX.
    Irix,
}

impl System {
    /// How it resolves overlapping IPv4 fragments.
    pub const fn fragments(self) -> FragmentOverlap {
        match self {
            Self::Bsd | Self::Irix => FragmentOverlap::Bsd,
            Self::Linux => FragmentOverlap::Refuse,
            Self::Linux26 | Self::OldLinux => FragmentOverlap::Linux,
            Self::Windows | Self::Vista => FragmentOverlap::Windows,
            Self::Solaris => FragmentOverlap::Solaris,
            Self::Macos | Self::Hpux => FragmentOverlap::First,
        }
    }

    /// How it resolves overlapping segments.
    pub const fn segments(self) -> SegmentOverlap {
        match self {
            Self::Bsd => SegmentOverlap::Bsd,
            Self::Linux | Self::Linux26 => SegmentOverlap::Linux,
            Self::OldLinux => SegmentOverlap::OldLinux,
            Self::Windows => SegmentOverlap::Windows,
            Self::Vista => SegmentOverlap::Vista,
            Self::Solaris => SegmentOverlap::Solaris,
            Self::Macos => SegmentOverlap::Macos,
            Self::Hpux => SegmentOverlap::Hpux,
            Self::Irix => SegmentOverlap::Irix,
        }
    }
}

options! {
    /// The policies of a group of hosts; what is not set is as for all other hosts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    plan HostPolicy {
        [other_hosts] HostSettings:
            "`[other_hosts]`: the policies of hosts without a `[[hosts]]` entry." {
            /// System of hosts without a `[[hosts]]` entry; sets the overlap policies.
            system: System => system: Option<System> = None, example "\"windows\"";
            /// IPv4 fragments: first, last, bsd, bsd-right, linux, windows, solaris, refuse.
            fragments: FragmentOverlap => fragments: Option<FragmentOverlap> = None,
                example "\"first\"";
            /// IPv6 fragments: as above; `system` does not set it, as RFC 5722 forbids overlaps.
            ipv6_fragments: FragmentOverlap => ipv6_fragments: Option<FragmentOverlap> = None,
                example "\"refuse\"";
            /// Overlapping TCP segments: first, last, bsd, linux, old-linux, windows, vista, …
            segments: SegmentOverlap => segments: Option<SegmentOverlap> = None,
                example "\"first\"";
        }
    }
}

/// `[[hosts]]`: hosts whose system is known, by network. The same keys otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostGroupSettings {
    /// Their networks.
    pub networks: Option<Vec<NetworkText>>,
    /// Sets `fragments` and `segments`.
    pub system: Option<System>,
    /// Overlapping IPv4 fragments.
    pub fragments: Option<FragmentOverlap>,
    /// Overlapping IPv6 fragments.
    pub ipv6_fragments: Option<FragmentOverlap>,
    /// Overlapping segments.
    pub segments: Option<SegmentOverlap>,
}

impl HostPolicy {
    fn fragments_or(&self, other: FragmentOverlap) -> FragmentOverlap {
        let implied = self.system.map(System::fragments);
        self.fragments.or(implied).unwrap_or(other)
    }

    fn segments_or(&self, other: SegmentOverlap) -> SegmentOverlap {
        let implied = self.system.map(System::segments);
        self.segments.or(implied).unwrap_or(other)
    }
}

/// Hosts whose policy is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostGroup {
    /// Their networks.
    pub networks: Vec<Network>,
    /// Their policies.
    pub policy: HostPolicy,
}

/// The systems and policies of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostsPlan {
    /// Of nested networks the longest prefix wins. No network occurs twice.
    pub groups: Vec<HostGroup>,
    /// The policies of hosts in no group.
    pub others: HostPolicy,
}

impl HostsPlan {
    /// By destination, how overlapping fragments are resolved.
    ///
    /// ```
    /// use flowpin_config::{FragmentOverlap, Settings};
    /// let text = "[[hosts]]\nnetworks = ['10.0.0.0/8']\nsystem = 'windows'";
    /// let plan = Settings::from_toml(text).unwrap().into_plan().unwrap();
    /// let fragments = plan.hosts.fragments();
    /// assert_eq!(fragments.of([10, 0, 0, 1].into()), FragmentOverlap::Windows);
    /// assert_eq!(fragments.of([11, 0, 0, 1].into()), FragmentOverlap::First);
    /// ```
    pub fn fragments(&self) -> NetworkMap<FragmentOverlap> {
        let ipv4 = self.others.fragments_or(FragmentOverlap::First);
        let ipv6 = self.others.ipv6_fragments;
        let ipv6 = ipv6.unwrap_or(FragmentOverlap::Refuse);
        let of = |network: Network, policy: &HostPolicy| match network.is_ipv6() {
            true => policy.ipv6_fragments.unwrap_or(ipv6),
            false => policy.fragments_or(ipv4),
        };
        NetworkMap::with_defaults(ipv4, ipv6, self.networks(of))
    }

    /// By destination, how overlapping segments are resolved.
    pub fn segments(&self) -> NetworkMap<SegmentOverlap> {
        let others = self.others.segments_or(SegmentOverlap::default());
        let of = |_, policy: &HostPolicy| policy.segments_or(others);
        NetworkMap::new(others, self.networks(of))
    }

    /// A network that occurs twice, and the number of the group that repeats it: it would be
    /// ambiguous which entry counts.
    pub(crate) fn repeated(&self) -> Option<(Network, usize)> {
        let mut seen = std::collections::HashSet::new();
        let groups = self.groups.iter().zip(1..);
        let mut networks = groups.flat_map(|(group, number)| {
            let networks = group.networks.iter();
            networks.map(move |network| (*network, number))
        });
        networks.find(|&(network, _)| !seen.insert(network))
    }

    fn networks<T>(&self, of: impl Fn(Network, &HostPolicy) -> T) -> Vec<(Network, T)> {
        let mut networks = Vec::new();
        for group in &self.groups {
            let values = group.networks.iter();
            networks.extend(values.map(|network| (*network, of(*network, &group.policy))));
        }
        networks
    }
}

impl From<HostGroupSettings> for HostGroup {
    fn from(group: HostGroupSettings) -> Self {
        Self {
            networks: Stored::from_file(group.networks.unwrap_or_default()),
            policy: HostPolicy {
                system: group.system,
                fragments: group.fragments,
                ipv6_fragments: group.ipv6_fragments,
                segments: group.segments,
            },
        }
    }
}

impl From<&HostGroup> for HostGroupSettings {
    fn from(group: &HostGroup) -> Self {
        Self {
            networks: group.networks.to_file(),
            system: group.policy.system,
            fragments: group.policy.fragments,
            ipv6_fragments: group.policy.ipv6_fragments,
            segments: group.policy.segments,
        }
    }
}

/// A network as it is written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkText(pub Network);

impl FromStr for NetworkText {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        text.parse().map(Self)
    }
}

impl Display for NetworkText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use crate::{FragmentOverlap, Named, SegmentOverlap, Settings, System};
    use core::net::IpAddr;

    /// An explicit policy overrides that of the system, which overrides that of other hosts.
    #[test]
    fn the_nearest_setting_counts() {
        let text = "[other_hosts]\nsystem = 'bsd'\nfragments = 'last'\n\
            [[hosts]]\nnetworks = ['10.0.0.0/8', '2001:db8::/32']\nsystem = 'windows'\n\
            [[hosts]]\nnetworks = ['10.1.0.0/16']\nsystem = 'windows'\nsegments = 'vista'\n\
            [[hosts]]\nnetworks = ['10.2.0.0/16', '2001:db8:1::/48']\nipv6_fragments = 'first'";
        let hosts = Settings::from_toml(text)
            .unwrap()
            .into_plan()
            .unwrap()
            .hosts;
        let (fragments, segments) = (hosts.fragments(), hosts.segments());
        for (address, fragment, segment) in [
            ("192.0.2.1", FragmentOverlap::Last, SegmentOverlap::Bsd),
            (
                "10.0.0.1",
                FragmentOverlap::Windows,
                SegmentOverlap::Windows,
            ),
            ("10.1.0.1", FragmentOverlap::Windows, SegmentOverlap::Vista),
            ("10.2.0.1", FragmentOverlap::Last, SegmentOverlap::Bsd),
            (
                "2001:db8::1",
                FragmentOverlap::Refuse,
                SegmentOverlap::Windows,
            ),
            ("2001:db8:1::1", FragmentOverlap::First, SegmentOverlap::Bsd),
            ("::1", FragmentOverlap::Refuse, SegmentOverlap::Bsd),
        ] {
            let at: IpAddr = address.parse().unwrap();
            assert_eq!(
                (fragments.of(at), segments.of(at)),
                (fragment, segment),
                "{address}"
            );
        }
    }

    /// A mistake in a table of hosts is one line, with its place.
    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, message) in [
            (
                "[[hosts]]\nnetworks = ['10.0.0.0/8',\n  '10.0.0.1/8']",
                "3:3: `10.0.0.1/8` has bits set after its prefix: write 10.0.0.0/8 or a \
                 longer prefix",
            ),
            (
                "[[hosts]]\nnetworks = ['ten']",
                "2:13: `ten` is not a network, such as 10.0.0.0/8 or 2001:db8::/32",
            ),
            (
                "[[hosts]]\nsystem = 'dos'",
                "2:10: `dos` is not one of bsd, linux, linux-2.6, old-linux, windows, vista, \
                 solaris, macos, hpux, irix",
            ),
        ] {
            let error = Settings::from_toml(text).unwrap_err().to_string();
            assert_eq!(error, message);
        }
        let text = "[[hosts]]\nnetworks = ['::/0']\n[[hosts]]\nnetworks = ['::/0']";
        let error = Settings::from_toml(text).unwrap().into_plan().unwrap_err();
        assert_eq!(error.to_string(), "the network ::/0 is in [[hosts]] twice");
    }

    /// Each word leads back to its value.
    #[test]
    fn words_lead_back() {
        for &(value, name, _) in FragmentOverlap::ALL {
            assert_eq!(FragmentOverlap::from_name(name), Ok(value));
        }
        for &(value, name, _) in SegmentOverlap::ALL {
            assert_eq!(SegmentOverlap::from_name(name), Ok(value));
        }
        for &(value, name, _) in System::ALL {
            assert_eq!(System::from_name(name), Ok(value));
        }
    }
}
