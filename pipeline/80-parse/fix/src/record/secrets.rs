//! Values that are never shown.

use crate::Slot;
use crate::message::fields::Fields;

/// Whether the value of a field is secret: Password (554), NewPassword (925), their encrypted forms
/// (1402, 1404), and RawData (96) in Logon and UserRequest, where it authenticates the sender.
///
/// ```
/// assert!(flowpin_fix::is_secret(554, b"A") && flowpin_fix::is_secret(96, b"BE"));
/// assert!(!flowpin_fix::is_secret(96, b"B") && !flowpin_fix::is_secret(553, b"A"));
/// ```
pub fn is_secret(tag: u32, message_type: &[u8]) -> bool {
    match tag {
        554 | 925 | 1402 | 1404 => true,
        96 => matches!(message_type, b"A" | b"BE"),
        _ => false,
    }
}

/// Classifies the fields of one message in order. Bytes that are not a field may be the rest of a
/// secret that contains a SOH, or a misspelled secret: they are treated as secret after a secret
/// field and in messages that log on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secrets<'m> {
    message_type: &'m [u8],
    after_secret: bool,
}

impl<'m> Secrets<'m> {
    pub(crate) fn of(message_type: &'m [u8]) -> Self {
        Self {
            message_type,
            after_secret: is_secret(96, message_type),
        }
    }

    /// Whether the value of the next field is secret; tag 0 means that it is not a field.
    pub(crate) fn next(&mut self, tag: u32) -> bool {
        if tag == 0 {
            return self.after_secret;
        }
        let is_secret = is_secret(tag, self.message_type);
        self.after_secret = is_secret || self::is_secret(96, self.message_type);
        is_secret
    }
}

/// Shown in place of a secret.
pub(crate) const MASK: &[u8] = b"***";

/// Returns the type of a message; empty if it has none.
pub(crate) fn type_of<'m>(fields: &Fields, message: &'m [u8]) -> &'m [u8] {
    fields.value(message, Slot::MsgType).unwrap_or_default()
}
