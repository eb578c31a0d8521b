//! Identification of protocols by the first bytes of connections.

use crate::options::{Flag, Hint, options};
use std::path::PathBuf;

options! {
    /// Identification of protocols.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan IdentifyPlan {
        [identify] IdentifySettings: "`[identify]`: identification of protocols." {
            /// Identify the protocol of each connection by its first bytes.
            enabled: bool => enabled: bool = true,
                flag Flag::value("identify", "on|off", "Identify protocols by the first bytes of \
                    connections");
            /// Folder for compiled patterns; your cache folder if not set, "": none.
            cache: PathBuf => cache: Option<PathBuf> = None,
                example "\"/var/cache/flowpin\"";
            /// Files and folders with l7-filter patterns, used where no built-in rule matches.
            patterns: Vec<PathBuf> => patterns: Vec<PathBuf> = Vec::new(),
                flag Flag::value("patterns", "PATH", "l7-filter patterns, a .pat file or a \
                    directory of them, used where no built-in rule matches; may be repeated \
                    (test them with `flowpin patterns test`)").hint(Hint::Path);
        }
        others {
            /// Expressions from grammars for the first bytes of their protocols.
            expressions: Vec<PlannedExpression> = Vec::new();
        }
    }
}

/// A regular expression over the first bytes of a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedExpression {
    /// The protocol that it identifies.
    pub protocol: String,
    /// The expression.
    pub expression: String,
    /// Whether it applies to the client's bytes, and to the server's.
    pub sides: [bool; 2],
}
