//! Signature rules.

use crate::options::{Flag, Hint, options};
use flowpin_rule::{AlertLedger, CostLedger, RuleSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What alerts about HTTP do with the client that a proxy names (`X-Forwarded-For`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xff {
    /// They have its address beside the connection's.
    ExtraData,
    /// Its address stands in place of the connection's client.
    Overwrite,
}

/// Which of several addresses that proxies name counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XffHop {
    /// The first.
    First,
    /// The last.
    Last,
}

options! {
    /// Signature rules.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan RulesPlan {
        [rules] RuleSettings: "`[rules]`: signature rules." {
            /// Files, folders and patterns (*.rules) of rules; or a suricata.yaml that names them.
            files: Vec<PathBuf> => files: Vec<PathBuf> = Vec::new(),
                flag Flag::value("rules", "PATH", "Compare packets, streams and messages with \
                    signature rules: a file, a directory of *.rules, or a suricata.yaml (see \
                    docs/user/rules.md); may be repeated").short('S').hint(Hint::Path);
            /// Values of the rules' variables: "HOME_NET=[10.0.0.0/8]".
            variables: Vec<String> => variables: Vec<String> = Vec::new(),
                flag Flag::value("var", "NAME=VALUE", "What a variable of the rules stands for: \
                    HOME_NET=[10.0.0.0/8]; may be repeated");
            /// Lists of indicators: addresses, networks, domains, URLs, hashes, JA3 and JA4; as
            /// text, CSV, MISP's events or STIX 2 bundles.
            indicators: Vec<PathBuf> => indicators: Vec<PathBuf> = Vec::new(),
                flag Flag::value("indicators", "FILE", "Alert where an entry of a list is seen: \
                    addresses, networks, domains, URLs, hashes, JA3, JA4; as text, CSV, MISP or \
                    STIX 2; may be repeated").hint(Hint::Path);
            /// A suricata.yaml, or a directory that may have one: its variables, systems of hosts
            /// (host-os-policy), reputation and X-Forwarded-For count; it names no rules here.
            suricata_yaml: PathBuf => suricata_yaml: Option<PathBuf> = None,
                example "\"/etc/suricata/suricata.yaml\"",
                flag Flag::value("suricata-yaml", "PATH", "Take variables, systems of hosts, \
                    reputation and X-Forwarded-For from a suricata.yaml, or from that of a \
                    directory, if it has one; not its rules: `-S` reads those, too")
                    .hint(Hint::Path);
            /// Categories of the reputation of addresses: lines NUMBER,NAME,DESCRIPTION.
            reputation_categories: PathBuf => reputation_categories: Option<PathBuf> = None,
                example "\"categories.txt\"",
                flag Flag::value("reputation-categories", "FILE", "Categories of reputation, for \
                    `iprep` in rules: lines NUMBER,NAME,DESCRIPTION").hint(Hint::File);
            /// Lists of addresses and networks with their reputation: lines
            /// ADDRESS,CATEGORY,SCORE.
            reputation: Vec<PathBuf> => reputation: Vec<PathBuf> = Vec::new(),
                flag Flag::value("reputation", "FILE", "Addresses and networks with their \
                    reputation, for `iprep` in rules: lines ADDRESS,CATEGORY,SCORE; may be \
                    repeated").hint(Hint::File);
            /// Stop if a rule is refused, instead of leaving it out.
            strict: bool => strict: bool = false,
                flag Flag::switch("strict-rules", "Stop if a rule is refused, instead of leaving \
                    it out");
            /// Bytes of what a rule fits that its alert has, at most: a packet's payload, or the
            /// stretch of the stream (0 to 65535).
            payload_bytes: u16 => payload_bytes: u16 = 0,
                flag Flag::value("alert-payload", "BYTES", "Write what a rule fits into its alert, \
                    at most BYTES bytes: a packet's payload, or the stretch of the stream");
            /// Write the packet that shows an alert into it: its bytes, its link type, and its
            /// addresses of Ethernet.
            packet: bool => packet: bool = false,
                flag Flag::switch("alert-packet", "Write the packet that shows an alert into it: \
                    its bytes, its link type, and its addresses of Ethernet");
            /// What alerts about HTTP do with the client that a proxy names (X-Forwarded-For):
            /// "extra-data" adds it, "overwrite" puts it in place of the connection's client.
            xff: Xff => xff: Option<Xff> = None, example "\"extra-data\"",
                flag Flag::value("alert-xff", "HOW", "In alerts about HTTP, the client that a \
                    proxy names (X-Forwarded-For)");
            /// Which of several addresses there counts: "first" or "last".
            xff_hop: XffHop => xff_hop: Option<XffHop> = None, example "\"last\"",
                flag Flag::value("alert-xff-hop", "WHICH", "Which of several addresses in \
                    X-Forwarded-For counts [default: last]");
        }
        others {
            /// The rules; the creator of the plan reads them.
            loaded: Option<Arc<RuleSet>> = None;
            /// Where the evaluation's costs are summed up, if they are wanted.
            costs: Option<Arc<CostLedger>> = None;
            /// Where it is noted what some rules alert of, if that is wanted.
            alerted: Option<Arc<AlertLedger>> = None;
        }
    }
}
