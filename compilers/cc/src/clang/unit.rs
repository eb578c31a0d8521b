//! One parsed translation unit: its diagnostics, its files, what the preprocessor left out.

use super::{Cursor, Library, owned};
use clang_sys::{
    CXDiagnostic_Error, CXFile, CXSourceLocation, CXTranslationUnit,
    CXTranslationUnit_DetailedPreprocessingRecord, CXTranslationUnit_KeepGoing,
    clang_disposeDiagnostic, clang_disposeSourceRangeList, clang_disposeTranslationUnit,
    clang_getAllSkippedRanges, clang_getDiagnostic, clang_getDiagnosticLocation,
    clang_getDiagnosticSeverity, clang_getDiagnosticSpelling, clang_getExpansionLocation,
    clang_getFileName, clang_getInclusions, clang_getNumDiagnostics, clang_getRangeEnd,
    clang_getRangeStart, clang_getSpellingLocation, clang_getTranslationUnitCursor,
    clang_parseTranslationUnit2,
};
use std::ffi::{CString, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::slice;

/// A place as the library reports it; no file for what was pasted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawPlace {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) offset: u32,
}

/// A parsed unit.
pub(crate) struct RawUnit<'l> {
    unit: CXTranslationUnit,
    library: PhantomData<&'l Library>,
}

impl<'l> RawUnit<'l> {
    /// Parses `file` with `args`; an error is a line of words.
    pub(crate) fn parse(library: &'l Library, file: &str, args: &[String]) -> Result<Self, String> {
        let as_c = |text: &str| CString::new(text).map_err(|_| format!("{file}: a zero byte"));
        let name = as_c(file)?;
        let args: Vec<CString> = args.iter().map(|arg| as_c(arg)).collect::<Result<_, _>>()?;
        let pointers: Vec<_> = args.iter().map(|arg| arg.as_ptr()).collect();
        let count = i32::try_from(pointers.len()).map_err(|_| "too many flags".to_owned())?;
        let options = CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing;
        let mut unit: CXTranslationUnit = ptr::null_mut();
        // SAFETY: index, name and arguments live until the call returns; `unit` is writable.
        let code = unsafe {
            clang_parseTranslationUnit2(
                library.index,
                name.as_ptr(),
                pointers.as_ptr(),
                count,
                ptr::null_mut(),
                0,
                options,
                &raw mut unit,
            )
        };
        if code != 0 || unit.is_null() {
            return Err(format!("{file}: libclang cannot read it (code {code})"));
        }
        Ok(Self {
            unit,
            library: PhantomData,
        })
    }

    /// The cursor of the whole unit.
    pub(crate) fn root(&self) -> Cursor<'_> {
        // SAFETY: the unit lives as long as the cursor, by its lifetime.
        Cursor::of(unsafe { clang_getTranslationUnitCursor(self.unit) })
    }

    /// The first error, with its place.
    pub(crate) fn error(&self) -> Option<(Option<RawPlace>, String)> {
        // SAFETY: the unit is live.
        let count = unsafe { clang_getNumDiagnostics(self.unit) };
        let mut found = None;
        for number in 0..count {
            // SAFETY: the number is below the count.
            let diagnostic = unsafe { clang_getDiagnostic(self.unit, number) };
            // SAFETY: it is disposed of below only.
            let severity = unsafe { clang_getDiagnosticSeverity(diagnostic) };
            if severity >= CXDiagnostic_Error && found.is_none() {
                // SAFETY: as above.
                let place = unsafe { clang_getDiagnosticLocation(diagnostic) };
                // SAFETY: as above.
                let text = owned(unsafe { clang_getDiagnosticSpelling(diagnostic) });
                found = Some((expansion(place), text));
            }
            // SAFETY: it is not used any more.
            unsafe { clang_disposeDiagnostic(diagnostic) };
        }
        found
    }

    /// All files that are part of the unit, itself first.
    pub(crate) fn files(&self) -> Vec<String> {
        extern "C" fn visit(file: CXFile, _: *mut CXSourceLocation, _: c_uint, data: *mut c_void) {
            // SAFETY: the library passes a file of the unit.
            let name = owned(unsafe { clang_getFileName(file) });
            // SAFETY: `data` is the vector below, which is borrowed by this call alone.
            let files = unsafe { &mut *data.cast::<Vec<String>>() };
            files.push(name);
        }
        let mut files: Vec<String> = Vec::new();
        // SAFETY: the callback gets the vector, which outlives the call.
        unsafe { clang_getInclusions(self.unit, visit, (&raw mut files).cast()) };
        files
    }

    /// Ranges that conditional directives left out: file, first and last byte, line.
    pub(crate) fn skipped(&self) -> Vec<(RawPlace, u32)> {
        // SAFETY: the unit is live.
        let list = unsafe { clang_getAllSkippedRanges(self.unit) };
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY: the list is valid, and not written to, until it is disposed of below.
        let found = unsafe { &*list };
        let mut skipped = Vec::new();
        if found.count > 0 && !found.ranges.is_null() {
            // SAFETY: the library made `count` ranges there; they live as long as the list.
            let ranges = unsafe { slice::from_raw_parts(found.ranges, found.count as usize) };
            for range in ranges {
                // SAFETY: a range of the list.
                let start = expansion(unsafe { clang_getRangeStart(*range) });
                // SAFETY: a range of the list.
                let end = expansion(unsafe { clang_getRangeEnd(*range) });
                if let (Some(start), Some(end)) = (start, end) {
                    skipped.push((start, end.offset));
                }
            }
        }
        // SAFETY: nothing points into it any more.
        unsafe { clang_disposeSourceRangeList(list) };
        skipped
    }
}

impl Drop for RawUnit<'_> {
    fn drop(&mut self) {
        // SAFETY: cursors borrow the unit, so that none is left.
        unsafe { clang_disposeTranslationUnit(self.unit) };
    }
}

/// Where the token was written: in a macro's body, or as a macro's argument.
pub(super) fn spelling(location: CXSourceLocation) -> Option<RawPlace> {
    place(location, clang_getSpellingLocation)
}

/// Where it takes effect: at a macro's use.
pub(super) fn expansion(location: CXSourceLocation) -> Option<RawPlace> {
    place(location, clang_getExpansionLocation)
}

type Decompose = unsafe fn(CXSourceLocation, *mut CXFile, *mut c_uint, *mut c_uint, *mut c_uint);

fn place(location: CXSourceLocation, decompose: Decompose) -> Option<RawPlace> {
    let mut file: CXFile = ptr::null_mut();
    let (mut line, mut column, mut offset) = (0, 0, 0);
    // SAFETY: all four are writable; the location is of a live unit.
    unsafe {
        decompose(
            location,
            &raw mut file,
            &raw mut line,
            &raw mut column,
            &raw mut offset,
        );
    }
    if file.is_null() {
        return None;
    }
    // SAFETY: a file of the live unit.
    let file = owned(unsafe { clang_getFileName(file) });
    Some(RawPlace { file, line, offset })
}
