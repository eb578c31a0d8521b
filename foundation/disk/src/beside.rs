//! A new file in the folder of another one, which it replaces when it is whole.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Makes an empty file beside `path`, under a name that nothing has. Short, whatever `path` is
/// called: names have a limit.
///
/// # Errors
/// What the system says.
pub(crate) fn create(path: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut number = 0;
    loop {
        let beside = path.with_file_name(format!(".flowpin-{process}-{number}.part"));
        match File::create_new(&beside) {
            // Another's, or what a process of this number left when it was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < TRIES => {
                number += 1;
            }
            done => return done.map(|file| (beside, file)),
        }
    }
}

/// Names that are tried.
const TRIES: u32 = 1000;
