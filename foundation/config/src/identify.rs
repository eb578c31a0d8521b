//! What is looked for in connections' first bytes.

use crate::options::{Flag, Hint, options};
use std::path::PathBuf;

options! {
    /// Which protocol a connection speaks.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan IdentifyPlan {
        [identify] IdentifySettings: "`[identify]`: which protocols connections speak." {
            /// Ask connections' first bytes which protocol they are.
            enabled: bool => enabled: bool = true,
                flag Flag::value("identify", "on|off", "Ask connections' first bytes which \
                    protocol they are");
            /// Where compiled patterns are kept; your cache folder if not set, "": nowhere.
            cache: PathBuf => cache: Option<PathBuf> = None,
                example "\"/var/cache/flowpin\"";
            /// Files and folders with l7-filter patterns, asked where no built-in rule decides.
            patterns: Vec<PathBuf> => patterns: Vec<PathBuf> = Vec::new(),
                flag Flag::value("patterns", "PATH", "l7-filter patterns, a .pat file or a \
                    directory of them, asked where no built-in rule decides; may be repeated \
                    (try them with `flowpin patterns test`)").hint(Hint::Path);
        }
        others {
            /// What grammars say of their protocols' first bytes.
            expressions: Vec<PlannedExpression> = Vec::new();
        }
    }
}

/// A regular expression over the first bytes of a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedExpression {
    /// The protocol that begins so.
    pub protocol: String,
    /// The expression.
    pub expression: String,
    /// Whether the client's bytes are asked, and the server's.
    pub sides: [bool; 2],
}
