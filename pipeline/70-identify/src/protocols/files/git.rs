//! git's own transport: packet lines with a length in hexadecimal.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "git",
    groups: &[Group::Files],
    ports: &[9418],
    rules: &[
        Rule::pattern(
            "git-request",
            On::Tcp,
            r"00[0-9a-f]{2}git-(upload|receive)-(pack|archive) /",
        ),
        Rule::pattern(
            "git-refs",
            On::Tcp,
            r"(000eversion [12]\n)?0[0-9a-f]{3}[0-9a-f]{40} (HEAD|refs/)",
        ),
    ],
};
