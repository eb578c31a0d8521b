//! Places in the program's own files.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Index into the model's files.
pub type FileId = usize;

/// A file of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its real path.
    pub path: PathBuf,
}

/// A byte of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Which file.
    pub file: FileId,
    /// Which byte, counted from 0.
    pub offset: usize,
    /// Which line, counted from 1.
    pub line: u32,
}

/// Where a token was written, and where it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// In a macro's body, as a macro's argument, or in plain text; none if it was pasted together,
    /// or written in a file that is not the program's.
    pub spelled: Option<Place>,
    /// At the use of the outermost macro.
    pub expanded: Place,
}

impl Site {
    /// Whether a macro is involved.
    #[must_use]
    pub fn is_in_macro(&self) -> bool {
        self.spelled != Some(self.expanded)
    }
}

/// A macro of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// Where its definition begins.
    pub place: Place,
    /// The byte after its last.
    pub end: usize,
}

/// The bytes of the program's files.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    texts: Vec<Vec<u8>>,
}

impl Texts {
    /// Reads all files.
    ///
    /// # Errors
    /// The path of the first file that cannot be read, and why.
    pub fn read(files: &[SourceFile]) -> Result<Self, (PathBuf, io::Error)> {
        let read = |file: &SourceFile| fs::read(&file.path).map_err(|why| (file.path.clone(), why));
        let texts = files.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { texts })
    }

    /// A file's bytes.
    #[must_use]
    pub fn of(&self, file: FileId) -> &[u8] {
        self.texts.get(file).map_or(&[], Vec::as_slice)
    }

    /// The text between two bytes of a file.
    #[must_use]
    pub fn between(&self, file: FileId, start: usize, end: usize) -> &[u8] {
        self.of(file).get(start..end).unwrap_or_default()
    }
}
