//! Spotify's players find each other by name.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "spotify",
    groups: &[Group::Media],
    ports: &[57621],
    rules: &[Rule::pattern("spotify-udp", On::Udp, r"SpotUdp[0-9]")],
};
