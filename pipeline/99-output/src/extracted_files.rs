//! Files that connections carry, such as HTTP's bodies, extracted into a folder.
//!
//! A few KiB of each file are collected before they are appended, so that any number of files may
//! alternate while one is open at a time. Names consist of the connection's identifier and the
//! transaction, so they depend on the input alone. Guessing them gains an attacker nothing: only
//! files that this run has created are written.

use crate::FileError;
use crate::appender::Appender;
use flowpin_disk::{Existing, Reads, Refused, earlier};
use flowpin_record::{FilePart, Uid, as_mail_file, file_of_part};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The extracted files of one worker.
#[derive(Debug)]
pub struct ExtractedFiles {
    appender: Appender,
    parts: HashMap<(Uid, u64), Collected>,
    error: Option<FileError>,
}

/// The part of a file that is not written yet.
#[derive(Debug, Default)]
struct Collected {
    /// Missing bytes before `bytes`.
    gap: u64,
    bytes: Vec<u8>,
    is_created: bool,
}

/// Bytes of a file that are collected before they are written.
const COLLECTED: usize = 16 << 10;

/// The files that an earlier run has extracted into a folder.
///
/// # Errors
/// See [`earlier`].
pub fn earlier_extracted(
    folder: &Path,
    existing: Existing,
    reads: &Reads,
) -> Result<Vec<PathBuf>, Refused> {
    earlier(folder, existing, reads, is_name)
}

impl ExtractedFiles {
    /// Creates nothing yet.
    pub fn new(folder: &Path) -> Self {
        Self {
            // Files of an earlier run that may be replaced have been removed by now.
            appender: Appender::new(folder, 1, Existing::Refuse),
            parts: HashMap::new(),
            error: None,
        }
    }

    /// The first file that could not be written.
    pub const fn error(&self) -> Option<&FileError> {
        self.error.as_ref()
    }

    /// Takes a part of a connection's file. After an error nothing more is written.
    pub fn part(&mut self, uid: Uid, part: FilePart<'_>) {
        if self.error.is_some() {
            return;
        }
        if let Err(error) = self.take(uid, part) {
            self.error = Some(error);
        }
    }

    fn take(&mut self, uid: Uid, part: FilePart<'_>) -> Result<(), FileError> {
        match part {
            FilePart::Begin(number) => {
                self.parts.insert((uid, number), Collected::default());
            }
            FilePart::Data(number, bytes) => {
                let Some(collected) = self.parts.get_mut(&(uid, number)) else {
                    return Ok(());
                };
                collected.bytes.extend_from_slice(bytes);
                if collected.bytes.len() >= COLLECTED {
                    collected.write(&name_of(uid, number), &mut self.appender)?;
                }
            }
            FilePart::Missing(number, len) => {
                let Some(collected) = self.parts.get_mut(&(uid, number)) else {
                    return Ok(());
                };
                collected.write(&name_of(uid, number), &mut self.appender)?;
                collected.gap = collected.gap.saturating_add(len);
            }
            FilePart::End(number, _) => {
                if let Some(mut collected) = self.parts.remove(&(uid, number)) {
                    let name = name_of(uid, number);
                    collected.write(&name, &mut self.appender)?;
                    self.appender.close(&name)?;
                }
            }
        }
        Ok(())
    }
}

impl Collected {
    /// Writes the collected bytes. A file without bytes is not created.
    fn write(&mut self, name: &str, appender: &mut Appender) -> Result<(), FileError> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        if !core::mem::replace(&mut self.is_created, true) {
            appender.create(name)?;
        }
        if self.gap > 0 {
            appender.append_hole(name, core::mem::take(&mut self.gap))?;
        }
        appender.append(name, &self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// A transaction has at most two bodies. Files of mails are numbered in their connection.
const SIDES: [&str; 4] = ["request", "response", "mail", "reply"];

fn name_of(uid: Uid, number: u64) -> String {
    let [request, response, mail, reply] = SIDES;
    if let Some((nth, side)) = as_mail_file(number) {
        let side = if side == 0 { mail } else { reply };
        return format!("{uid}-{nth}-{side}");
    }
    let (number, part) = file_of_part(number);
    let side = if number.is_multiple_of(2) {
        request
    } else {
        response
    };
    match part {
        0 => format!("{uid}-{}-{side}", number / 2),
        // A file of a form.
        _ => format!("{uid}-{}-{side}-{part}", number / 2),
    }
}

/// Whether an extracted file may have this name.
fn is_name(text: &str) -> bool {
    let mut parts = text.split('-');
    let (uid, number, side) = (parts.next(), parts.next(), parts.next());
    let part = parts.next();
    uid.is_some_and(|uid| uid.parse::<Uid>().is_ok())
        && number.is_some_and(|number| number.parse::<u64>().is_ok())
        && side.is_some_and(|side| SIDES.contains(&side))
        && part.is_none_or(|part| part.parse::<u32>().is_ok())
        && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{ExtractedFiles, is_name, name_of};
    use flowpin_record::{FilePart, Uid, mail_file, part_number};

    /// A link under a name that can be guessed is not followed, and a file there is not replaced;
    /// nor one that takes the place of an extracted file.
    #[test]
    fn planted_files_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let uid = Uid::default();
        let (victim, path) = (
            folder.path().join("victim"),
            folder.path().join(name_of(uid, 2)),
        );
        std::fs::write(&victim, "mine").unwrap();
        let feed = |early: &dyn Fn(), late: &dyn Fn()| {
            let mut files = ExtractedFiles::new(folder.path());
            early();
            files.part(uid, FilePart::Begin(2));
            files.part(uid, FilePart::Data(2, &[b'x'; 20_000]));
            late();
            files.part(uid, FilePart::Data(2, b"y"));
            files.part(uid, FilePart::End(2, true));
            std::fs::remove_file(&path).unwrap();
            files.error().map(|error| error.to_string())
        };
        let plant = || std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(feed(&plant, &|| ()).unwrap().contains("a symbolic link"));
        let write = || std::fs::write(&path, "another").unwrap();
        assert!(feed(&write, &|| ()).unwrap().contains("there already"));
        let swap = || {
            std::fs::remove_file(&path).unwrap();
            plant();
        };
        feed(&|| (), &swap).unwrap();
        assert_eq!(feed(&|| (), &|| ()), None);
        assert_eq!(std::fs::read(&victim).unwrap(), b"mine");
    }

    /// Files of an earlier run are recognised by their names, and no other files are.
    #[test]
    fn names_are_recognised() {
        let mails = [mail_file(1, 0), mail_file(u64::MAX, 1)];
        for number in [0, 1, 7, part_number(6, 3), u64::MAX, mails[0], mails[1]] {
            assert!(is_name(&name_of(Uid(u64::MAX), number)));
        }
        for other in [
            "C00000000010-1",
            "C00000000010-1-request-x",
            "C00000000010-1-request-2-3",
            "C1-1-request",
            "notes",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

    /// A file of a form stands beside the body that it is a part of.
    #[test]
    fn parts_have_names_of_their_own() {
        let uid = Uid::default();
        let [body, part] = [6, part_number(6, 3)].map(|number| name_of(uid, number));
        assert_eq!(part, format!("{body}-3"));
        assert!(body.ends_with("-3-request"));
    }

    /// Parts of several files alternate; each file has its own bytes, gaps as zeros.
    #[test]
    fn files_have_their_own_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = ExtractedFiles::new(folder.path());
        let uid = Uid::default();
        let long = vec![b'x'; 40_000];
        for part in [
            FilePart::Begin(2),
            FilePart::Begin(3),
            FilePart::Data(2, b"ab"),
            FilePart::Data(3, &long),
            FilePart::Missing(2, 3),
            FilePart::Data(2, b"c"),
            FilePart::Data(3, b"y"),
            // A gap that no bytes follow is not written.
            FilePart::Missing(3, 9),
            FilePart::End(2, false),
            FilePart::End(3, true),
            FilePart::Begin(4),
            FilePart::End(4, true),
        ] {
            files.part(uid, part);
        }
        assert!(files.error().is_none());
        let read = |name: &str| std::fs::read(folder.path().join(format!("{uid}-{name}"))).unwrap();
        assert_eq!(read("1-request"), b"ab\0\0\0c");
        assert_eq!(read("1-response").len(), 40_001);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        let mut nowhere = ExtractedFiles::new(&folder.path().join("none"));
        nowhere.part(uid, FilePart::Begin(2));
        nowhere.part(uid, FilePart::Data(2, b"x"));
        nowhere.part(uid, FilePart::End(2, true));
        assert!(nowhere.error().is_some());
    }
}
