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
    ],
};

/// A greeting that does not say what it is: the client does.
fn greeting(look: &Look<'_>) -> Option<Answer> {
    let command = look.reply.get(..5)?;
    let is_hello = command.eq_ignore_ascii_case(b"EHLO ") || command.eq_ignore_ascii_case(b"HELO ");
    Answer::when(is_hello)
}
