//! Mailboxes. RFC 9051 §7.1: "* OK" or "* PREAUTH"; §2.2.1: a tag before each command.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "imap",
    groups: &[Group::Mail],
    ports: &[143],
    rules: &[
        Rule::pattern(
            "imap-greeting",
            On::Tcp,
            r"\* (OK|PREAUTH|BYE)[^\r\n]*(?i:IMAP|CAPABILITY|dovecot)",
        ),
        Rule::pattern(
            "imap-command",
            On::Tcp,
            concat!(
                r"[A-Za-z0-9.]{1,12} (?i:CAPABILITY\r\n|STARTTLS\r\n|AUTHENTICATE [A-Z]",
                r"|LOGIN [!-~]+ |ID \(|NAMESPACE\r\n|SELECT [!-~]+\r\n)",
            ),
        ),
    ],
};
