//! Mail transfer. RFC 5321 §3.1: 220 from the server, EHLO or HELO from the client.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "smtp",
    groups: &[Group::Mail],
    ports: &[25, 587, 2525],
    rules: &[
        Rule::pattern(
            "smtp-greeting",
            On::Tcp,
            r"220[ -][^\r\n]+(E?SMTP|[Ss]imple [Mm]ail)",
        ),
        Rule::pattern("smtp-hello", On::Tcp, r"(?i)(EHLO|HELO|LHLO) [!-~]+ ?\r\n"),
        Rule::check(
            "smtp-after-greeting",
            On::Tcp,
            &[Lead::start(b"220")],
            greeting,
        ),
        Rule::check("smtp-command", On::Tcp, COMMANDS, command),
    ],
};

const PORTS: &[u16] = &[25, 587, 2525];

/// Commands without an argument, which other protocols have as well.
const COMMANDS: &[Lead] = &[
    Lead::start(b"EHLO").on_ports(PORTS),
    Lead::start(b"ehlo").on_ports(PORTS),
    Lead::start(b"HELO").on_ports(PORTS),
    Lead::start(b"helo").on_ports(PORTS),
    Lead::start(b"QUIT").on_ports(PORTS),
    Lead::start(b"quit").on_ports(PORTS),
];

fn command(look: &Look<'_>) -> Option<Answer> {
    Answer::when(matches!(look.u8(4)?, b'\r' | b'\n'))
}

/// A greeting that does not say what it is: the client does.
fn greeting(look: &Look<'_>) -> Option<Answer> {
    let command = look.reply.get(..5)?;
    let is_hello = command.eq_ignore_ascii_case(b"EHLO ") || command.eq_ignore_ascii_case(b"HELO ");
    Answer::when(is_hello)
}
