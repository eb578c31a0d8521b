//! Signature rules.

use crate::options::{Flag, Hint, options};
use flowpin_rule::{CostLedger, RuleSet};
use std::path::PathBuf;
use std::sync::Arc;

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
        }
        others {
            /// The rules; the creator of the plan reads them.
            loaded: Option<Arc<RuleSet>> = None;
            /// Where the evaluation's costs are summed up, if they are wanted.
            costs: Option<Arc<CostLedger>> = None;
        }
    }
}
