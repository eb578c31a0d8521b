//! What is never shown.

use crate::Slot;
use crate::message::fields::Fields;

/// Whether a field's value is a secret: Password (554), NewPassword (925), their encrypted forms
/// (1402, 1404), and RawData (96) where it proves who logs on: in Logon and UserRequest.
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

/// The same of one field after the other of a message. What is no field may be the rest of a
/// secret that holds a SOH, or be meant for one: behind a secret, and where somebody logs on, it is
/// one, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secrets<'m> {
    message_type: &'m [u8],
    is_behind: bool,
}

impl<'m> Secrets<'m> {
    pub(crate) fn of(message_type: &'m [u8]) -> Self {
        Self {
            message_type,
            is_behind: is_secret(96, message_type),
        }
    }

    /// Whether the next field's value is one; tag 0: it is no field.
    pub(crate) fn next(&mut self, tag: u32) -> bool {
        if tag == 0 {
            return self.is_behind;
        }
        let is_secret = is_secret(tag, self.message_type);
        self.is_behind = is_secret || self::is_secret(96, self.message_type);
        is_secret
    }
}

/// What stands in a secret's place.
pub(crate) const MASK: &[u8] = b"***";

/// The message's type; empty if it has none.
pub(crate) fn type_of<'m>(fields: &Fields, message: &'m [u8]) -> &'m [u8] {
    fields.value(message, Slot::MsgType).unwrap_or_default()
}
