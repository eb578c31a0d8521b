//! libclang 19 behind safe types: the library, a parsed unit, cursors, places.
//!
//! Owns every call into the library. Guarantees that a cursor does not outlive its unit, and that
//! no function is called that the loaded library lacks. Everything that is copied out is owned.

mod cursor;
mod fields;
mod library;
mod unit;

pub(crate) use cursor::{Cursor, Element, Linkage, TypeInfo, kind};
pub(crate) use fields::Leaf;
pub(crate) use library::Library;
pub use library::LibraryError;
pub(crate) use unit::{RawPlace, RawUnit};

use clang_sys::{CXString, clang_disposeString, clang_getCString};
use std::ffi::CStr;

/// Copies a string out of the library and gives it back.
fn owned(string: CXString) -> String {
    // SAFETY: the string was returned by the library and is not yet disposed of.
    let pointer = unsafe { clang_getCString(string) };
    let text = if pointer.is_null() {
        String::new()
    } else {
        // SAFETY: libclang returns zero-terminated strings, valid until they are disposed of.
        let text = unsafe { CStr::from_ptr(pointer) };
        text.to_string_lossy().into_owned()
    };
    // SAFETY: nothing points into the string any more.
    unsafe { clang_disposeString(string) };
    text
}
