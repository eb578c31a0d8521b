//! Megaco, H.248. RFC 3525 annex B: a version and who speaks.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "megaco",
    groups: &[Group::Media],
    ports: &[2944],
    rules: &[Rule::pattern(
        "megaco-text",
        On::Udp,
        concat!(
            r"(MEGACO|!)/[1-9] [\[<]?[a-zA-Z0-9.:@_\-]+[\]>]?(:[0-9]+)?\s+(T|Transaction",
            r"|P|Reply|ER|PN)[= ]",
        ),
    )],
};
