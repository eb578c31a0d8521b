//! MGCP. RFC 3435 §3.2: a verb, a number, an endpoint, the version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mgcp",
    groups: &[Group::Media],
    ports: &[2427, 2727],
    rules: &[
        Rule::pattern(
            "mgcp-command",
            On::Udp,
            r"(?i)(EPCF|CRCX|MDCX|DLCX|RQNT|NTFY|AUEP|AUCX|RSIP) [0-9]+ [!-~]+ MGCP [01]\.[0-9]",
        ),
        Rule::pattern(
            "mgcp-response",
            On::Udp,
            r"[0-9]{3} [0-9]{1,9}( [!-~ ]+)?\r?\n[IKNXZEBPRSDOFQLCMTY]{1,2}: ?[!-~]",
        ),
    ],
};
