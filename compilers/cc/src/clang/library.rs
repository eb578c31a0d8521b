//! Finds and loads libclang, and refuses versions that report wrong places.

use super::owned;
use clang_sys::CXIndex;
use clang_sys::{
    clang_createIndex, clang_disposeIndex, clang_getClangVersion,
    clang_getCursorBinaryOperatorKind, clang_getSpellingLocation, get_library, load,
};
use std::path::PathBuf;
use std::sync::Once;

/// Why there is no usable libclang.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// It is not installed.
    #[error(
        "libclang is not installed, or cannot be loaded: install it (Debian: apt-get install \
         libclang-19-dev), or name its file in LIBCLANG_PATH"
    )]
    Missing,
    /// Below 19.1, a token of a macro's body is reported at the macro's use.
    #[error(
        "libclang is {0}: at least 19.1 is needed, because older versions report wrong places in \
         macros; install it (Debian: apt-get install libclang-19-dev), or name its file in \
         LIBCLANG_PATH"
    )]
    TooOld(String),
}

/// The loaded library, of this thread.
pub(crate) struct Library {
    pub(super) index: CXIndex,
    /// Its builtin headers, if they are in their usual place.
    pub(crate) resources: Option<PathBuf>,
}

impl Library {
    /// Loads the newest libclang that is installed.
    ///
    /// # Errors
    /// [`LibraryError`], in one line that names the package.
    pub(crate) fn load() -> Result<Self, LibraryError> {
        static ON_THIS_THREAD: Once = Once::new();
        // libclang would read on a thread of its own, whose 8 MiB of stack deep nesting exceeds;
        // who calls has as much as it takes.
        // SAFETY: once, and before the library is there that reads it.
        ON_THIS_THREAD.call_once(|| unsafe { std::env::set_var("LIBCLANG_NOTHREADS", "1") });
        load().map_err(|_| LibraryError::Missing)?;
        if !clang_getClangVersion::is_loaded() {
            return Err(LibraryError::TooOld("too old to name its version".into()));
        }
        // SAFETY: the function is there; it takes nothing.
        let version = owned(unsafe { clang_getClangVersion() });
        let is_complete = clang_getCursorBinaryOperatorKind::is_loaded()
            && clang_getSpellingLocation::is_loaded();
        if !is_complete || !at_least_19_1(&version) {
            return Err(LibraryError::TooOld(version));
        }
        // SAFETY: no preconditions; the index is disposed of when the library is dropped.
        let index = unsafe { clang_createIndex(0, 0) };
        Ok(Self {
            index,
            resources: resources(),
        })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: units borrow the library, so that none is left.
        unsafe { clang_disposeIndex(self.index) };
    }
}

/// The folder of builtin headers (`stddef.h`), beside the library's real path.
fn resources() -> Option<PathBuf> {
    let library = get_library()?;
    let path = library.path().to_owned();
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let beside = |path: &PathBuf| Some(path.parent()?.join("clang/19"));
    let debian = Some(PathBuf::from("/usr/lib/llvm-19/lib/clang/19"));
    [beside(&path), beside(&real), debian]
        .into_iter()
        .flatten()
        .find(|folder| folder.join("include/stddef.h").is_file())
}

/// Whether the version in "Debian clang version 19.1.7 (…)" is at least 19.1.
fn at_least_19_1(text: &str) -> bool {
    let mut words = text
        .split_whitespace()
        .skip_while(|word| *word != "version");
    let Some(version) = words.nth(1) else {
        return false;
    };
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
    let major = number().unwrap_or(0);
    let minor = number().unwrap_or(0);
    (major, minor) >= (19, 1)
}

#[cfg(test)]
mod tests {
    use super::at_least_19_1;

    /// LLVM fixed places in macros in 19.1.0 (pull request 72400).
    #[test]
    fn versions_below_19_1_are_too_old() {
        assert!(at_least_19_1("Debian clang version 19.1.7 (3+b1)"));
        assert!(at_least_19_1("clang version 20.0.0"));
        for old in [
            "Debian clang version 18.1.8",
            "clang version 19.0.1",
            "",
            "19.1.7",
        ] {
            assert!(!at_least_19_1(old), "{old}");
        }
    }
}
