//! The signature of NUT: commands, and answers that only NUT servers send.

use flowpin_signature::{Group, On, Protocol, Rule};

/// RFC 9271 §4.2: commands and answers. In the client's bytes, the user name is directly followed
/// by the password, since a client sends nothing else between the two.
pub static SIGNATURE: Protocol = Protocol {
    name: "nut",
    groups: &[Group::Management],
    ports: &[3493],
    rules: &[
        Rule::pattern(
            "nut-command",
            On::Tcp,
            concat!(
                r"(LIST (UPS|(VAR|RW|CMD|CLIENT) [!-~]+|(ENUM|RANGE) [!-~]+ [!-~]+)",
                r"|GET ((NUMLOGINS|NUMATTACH|UPSDESC) [!-~]+",
                r"|(VAR|TYPE|DESC|CMDDESC) [!-~]+ [!-~]+)",
                r"|USERNAME [!-~]+\r?\nPASSWORD [!-~]+)\r?\n",
            ),
        ),
        Rule::pattern(
            "nut-answer",
            On::Tcp,
            concat!(
                r"(Network UPS Tools upsd |BEGIN LIST (UPS|VAR|RW|CMD|CLIENT|ENUM|RANGE)[ \r\n]",
                r#"|(VAR|DESC|CMDDESC) [!-~]+ [!-~]+ \x22|UPSDESC [!-~]+ \x22"#,
                r"|ERR (ACCESS-DENIED|UNKNOWN-UPS|DATA-STALE|DRIVER-NOT-CONNECTED",
                r"|FEATURE-NOT-CONFIGURED|FEATURE-NOT-SUPPORTED|USERNAME-REQUIRED",
                r"|VAR-NOT-SUPPORTED|CMD-NOT-SUPPORTED)\r?\n)",
            ),
        ),
    ],
};
