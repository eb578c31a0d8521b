//! Which connections a command is to tell of, as records name them.

use core::fmt;
use core::str::FromStr;
use flowpin_flow::Sighting;
use flowpin_packet::Endpoints;
use flowpin_record::{CommunityId, Ports, Uid};

/// Which connections are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// All.
    All,
    /// The one with this identifier.
    Uid(Uid),
    /// Those with this `flow_id` of EVE JSON.
    FlowId(u64),
    /// Those with this Community ID: several, if ports were used again.
    CommunityId(CommunityId),
}

impl Wanted {
    /// Whether the connection is meant that this sighting, of its first packet, is of.
    /// `community_seed` is that of the records.
    pub(crate) fn names(self, sighting: &Sighting<'_>, community_seed: u16) -> bool {
        match self {
            Self::All => true,
            Self::Uid(uid) => uid == sighting.uid(),
            Self::FlowId(id) => id == sighting.uid().flow_id(),
            Self::CommunityId(id) => id == community_id(sighting, community_seed),
        }
    }
}

/// The Community ID in the connection's record.
fn community_id(sighting: &Sighting<'_>, seed: u16) -> CommunityId {
    let meta = sighting.meta;
    let ((client, server), ipv6) = (sighting.endpoints(), meta.key.is_ipv6());
    let address = |bytes| Endpoints::address(bytes, ipv6);
    let icmp = (meta.icmp_type(), meta.icmp_code);
    let ports = Ports::new(meta.protocol, sighting.ports(), icmp);
    CommunityId::new(seed, meta.protocol, address(client), address(server), ports)
}

/// A text that names no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesNoConnection {
    /// It has the form of no name.
    Form,
    /// A uid or `flow_id` above 64 bits.
    TooLarge,
}

impl fmt::Display for NamesNoConnection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Form => {
                "it is neither a uid (C and eleven letters or digits), nor a flow_id (a number), \
                 nor a Community ID (1: and 28 letters of base64)"
            }
            Self::TooLarge => {
                "it is above the largest uid and flow_id that there are, so no connection has it: \
                 is it copied from a record?"
            }
        })
    }
}

impl core::error::Error for NamesNoConnection {}

impl FromStr for Wanted {
    type Err = NamesNoConnection;

    /// Reads a uid, a `flow_id` or a Community ID: their forms differ.
    fn from_str(text: &str) -> Result<Self, NamesNoConnection> {
        let is_number = !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit());
        let found = if is_number {
            text.parse().ok().map(Self::FlowId)
        } else if text.starts_with("1:") {
            text.parse().ok().map(Self::CommunityId)
        } else {
            text.parse().ok().map(Self::Uid)
        };
        let has_form = is_number || Uid::has_form(text);
        found.ok_or(if has_form {
            NamesNoConnection::TooLarge
        } else {
            NamesNoConnection::Form
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{NamesNoConnection, Wanted};

    /// Records name a connection in three ways; each can be given.
    #[test]
    fn connections_are_named_as_records_name_them() {
        assert!(matches!("C0XWfTK4LReq".parse(), Ok(Wanted::Uid(_))));
        assert_eq!("1234".parse(), Ok(Wanted::FlowId(1234)));
        let community = "1:wCb3OG7yAFWelaUydu0D+125CLM=".parse();
        assert!(matches!(community, Ok(Wanted::CommunityId(_))));
        for wrong in [
            "",
            "C0",
            "1:short",
            "1:wCb3OG7yAFWelaUydu0D+125CLM!",
            "CXXXXXXXXXX",
            "CXXXXXXXXXX!",
            "CHhAvVGS1DHFjwGM9",
        ] {
            assert_eq!(
                wrong.parse::<Wanted>(),
                Err(NamesNoConnection::Form),
                "{wrong}"
            );
        }
        for large in ["CXXXXXXXXXXX", "99999999999999999999"] {
            let refused = large.parse::<Wanted>();
            assert_eq!(refused, Err(NamesNoConnection::TooLarge), "{large}");
        }
    }
}
