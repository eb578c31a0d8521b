//! News. RFC 3977 §5.1: greetings 200 and 201.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nntp",
    groups: &[Group::Mail],
    ports: &[119],
    rules: &[
        Rule::pattern(
            "nntp-greeting",
            On::Tcp,
            r"20[01] [^\r\n]*(NNTP|[Nn]ews|NNRP|INN)",
        ),
        Rule::pattern(
            "nntp-command",
            On::Tcp,
            concat!(
                r"(?i)(AUTHINFO (USER|PASS|SASL) |MODE (READER|STREAM)\r\n|XOVER [0-9]",
                r"|NEWGROUPS [0-9]{6})",
            ),
        ),
        Rule::check(
            "nntp-ready",
            On::Tcp,
            &[Lead::start(b"200 "), Lead::start(b"201 ")],
            ready,
        ),
    ],
};

/// A greeting that says little: the client's command does.
fn ready(look: &Look<'_>) -> Option<Answer> {
    let command = look.reply.get(..9)?;
    Answer::when(
        command.eq_ignore_ascii_case(b"AUTHINFO ")
            || command.eq_ignore_ascii_case(b"MODE READ")
            || command.starts_with(b"GROUP "),
    )
}
