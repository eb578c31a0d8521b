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

/// What stands in a secret's place.
pub(crate) const MASK: &[u8] = b"***";

/// The message's type; empty if it has none.
pub(crate) fn type_of<'m>(fields: &Fields, message: &'m [u8]) -> &'m [u8] {
    fields.value(message, Slot::MsgType).unwrap_or_default()
}
