//! Internet relay chat. RFC 2812 §3.1: NICK, USER, PASS; servers name themselves.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "irc",
    groups: &[Group::Chat],
    ports: &[6667, 6697],
    rules: &[
        Rule::pattern(
            "irc-client",
            On::Tcp,
            concat!(
                r"(CAP LS( 30[0-9])?\r?\n",
                r"|(PASS [!-~]+\r?\n)?(NICK :?[!-~]+\r?\nUSER [!-~]+ [!-~]+ [!-~]+ :",
                r"|USER [!-~]+ [!-~]+ [!-~]+ :[^\r\n]*\r?\nNICK ))",
            ),
        ),
        Rule::pattern(
            "irc-server",
            On::Tcp,
            r":[!-~]+ (NOTICE (AUTH|\*|[!-~]+) :|00[1-4] [!-~]+ :|020 \*)",
        ),
    ],
};
