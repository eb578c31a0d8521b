//! Text from C and to C.

use crate::Failure;
use core::ffi::{CStr, c_char};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

/// `struct flowpin_text`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    bytes: *const c_char,
    len: usize,
}

impl Text {
    pub(crate) const fn of(text: &str) -> Self {
        Self {
            bytes: text.as_ptr().cast(),
            len: text.len(),
        }
    }
}

/// A name that C hands over; `what` it is, for the message.
///
/// # Safety
/// NULL, or text that ends in a zero and is not changed meanwhile.
pub(crate) unsafe fn os_str<'a>(text: *const c_char, what: &str) -> Result<&'a OsStr, Failure> {
    if text.is_null() {
        return Err(Failure::usage(format!("{what} is NULL; name one")));
    }
    // SAFETY: not NULL; the caller promises the rest.
    let text = unsafe { CStr::from_ptr(text) };
    Ok(OsStr::from_bytes(text.to_bytes()))
}

/// The same, as UTF-8.
///
/// # Safety
/// As [`os_str`].
pub(crate) unsafe fn str<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: the caller promises the same.
    let text = unsafe { os_str(text, what) }?;
    let text = text.to_str();
    text.ok_or_else(|| Failure::usage(format!("{what} is not UTF-8; write it so")))
}

/// The same; none where it is NULL.
///
/// # Safety
/// As [`os_str`].
pub(crate) unsafe fn optional<'a>(
    text: *const c_char,
    what: &str,
) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises the same.
    unsafe { str(text, what) }.map(Some)
}

/// A line for C, up to the first zero that it may hold.
pub(crate) fn c_string(line: &str) -> CString {
    let line = line.split('\0').next().unwrap_or_default();
    CString::new(line).unwrap_or_default()
}
