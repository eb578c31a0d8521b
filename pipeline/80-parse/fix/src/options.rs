//! The options of the parser.

use crate::Dictionary;
use std::sync::{Arc, LazyLock};

/// Limits and settings; the defaults suit a machine that sees many sessions.
#[derive(Clone, Debug)]
pub struct FixOptions {
    /// Names and types of fields.
    pub dictionary: Arc<Dictionary>,
    /// Whether records list every field instead of only the common ones.
    pub all_fields: bool,
    /// Maximum length of a message; longer ones are skipped.
    pub message_bytes_max: u32,
    /// Maximum number of fields per message; further fields are left out.
    pub fields_max: u32,
}

impl Default for FixOptions {
    fn default() -> Self {
        Self {
            dictionary: Arc::clone(&BUNDLED),
            all_fields: false,
            message_bytes_max: 1 << 16,
            fields_max: 4096,
        }
    }
}

/// The bundled table, loaded once for all workers: that takes a millisecond.
static BUNDLED: LazyLock<Arc<Dictionary>> = LazyLock::new(|| Arc::new(Dictionary::bundled()));
