//! The files of a recording (`-w`): how they are named, made and removed.
//!
//! ```text
//!  -w all.pcapng                                all.pcapng
//!  --write-rotate 1GiB                          all-000000.pcapng, all-000001.pcapng, …
//!  --write-rotate 1h                            all-2024-02-29T12-00-00Z.pcapng, …  the hour, UTC
//!  --write-rotate 1h,1GiB                       all-2024-02-29T12-00-00Z-000000.pcapng, …
//!  -w all.pcapng.zst --write-rotate 1GiB        all-000000.pcapng.zst, …
//! ```

use super::ground::existing;
use crate::RunError;
use flowpin_capture::{CaptureError, ChosenPackets, Cut, NextFiles, Source};
use flowpin_config::Plan;
use flowpin_disk::{Existing, Identity, Reads, check, create};
use flowpin_packet::Timestamp;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A recording's first file, and how others are made.
pub(super) struct Recording {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) next: Option<NextFiles>,
}

impl Recording {
    /// For packets of a source that are given to it one by one.
    pub(super) fn chosen(self, source: &Source) -> ChosenPackets {
        let names = source.interfaces().clone();
        ChosenPackets::new(self.path, self.file, self.next, names)
    }
}

/// Makes the file for what is captured, if there is to be one. No other output may take its place.
///
/// # Errors
/// The file would destroy another; what the system says.
pub(super) fn begin(plan: &Plan, reads: &mut Reads) -> Result<Option<Recording>, RunError> {
    let Some(path) = &plan.live.record else {
        return Ok(None);
    };
    let (every_ns, bytes_max) = (plan.live.record_every_ns, plan.live.record_bytes_max);
    let begun = every_ns.map_or(Timestamp(0), |every| {
        let now = Timestamp::now();
        Timestamp(now.0 - now.0 % every)
    });
    let mut names = Names {
        path: path.clone(),
        has_time: every_ns.is_some(),
        has_number: bytes_max.is_some(),
        number: 0,
    };
    let existing = existing(plan);
    let first = names.name(begun);
    check(&first, existing, reads)?;
    // Not in the middle of the run, when its number comes.
    if names.has_number
        && let Some(earlier) = earlier(&first)
    {
        check(&earlier, existing, reads)?;
    }
    let file = create(&first, existing, reads).map_err(|source| {
        let path = first.clone();
        CaptureError::Unwritable { path, source }
    })?;
    let made = Identity::of_open(&file);
    if let Some(made) = made {
        reads.add_written(made, &first);
    }
    let next = (names.has_time || names.has_number).then(|| {
        let mut files = Files {
            reads: reads.clone(),
            existing,
            keep: (plan.live.record_keep).map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            // The file that is written may become so large, too.
            total: (plan.live.record_total)
                .map(|total| total.saturating_sub(bytes_max.unwrap_or(0))),
            made: made.map(|made| (first.clone(), made)).into_iter().collect(),
        };
        NextFiles {
            begun,
            every_ns,
            bytes_max,
            make: Box::new(move |interval, cut| files.make(names.next(interval, cut))),
        }
    });
    Ok(Some(Recording {
        path: first,
        file,
        next,
    }))
}

/// A file of an earlier recording, whose number this one would come to.
fn earlier(first: &Path) -> Option<PathBuf> {
    let name = first.file_name()?.to_str()?;
    let (begin, end) = name.rsplit_once("000000")?;
    let is_numbered = |name: &str| {
        let number = name
            .strip_prefix(begin)
            .and_then(|rest| rest.strip_suffix(end));
        number.is_some_and(|digits| {
            digits.len() >= 6 && digits.bytes().all(|one| one.is_ascii_digit())
        })
    };
    let folder = match first.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let found = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let found = found.filter(|entry| entry.file_name().to_str().is_some_and(is_numbered));
    found
        .map(|entry| first.with_file_name(entry.file_name()))
        .min()
}

/// The names of the files.
struct Names {
    path: PathBuf,
    has_time: bool,
    has_number: bool,
    number: u64,
}

impl Names {
    fn next(&mut self, interval: Timestamp, cut: Cut) -> PathBuf {
        self.number = match cut {
            Cut::Time => 0,
            Cut::Size => self.number + 1,
        };
        self.name(interval)
    }

    fn name(&self, interval: Timestamp) -> PathBuf {
        // `all.pcapng.zst` has two endings.
        let is_packed = self
            .path
            .extension()
            .is_some_and(|one| one == "gz" || one == "zst");
        let inner = Path::new(self.path.file_stem().unwrap_or_default());
        let packed = self.path.extension().filter(|_| is_packed);
        let plain = if is_packed { inner } else { &self.path };
        let mut name = plain.file_stem().unwrap_or_default().to_owned();
        if self.has_time {
            name.push("-");
            name.push(flowpin_output::file_name_time(interval));
        }
        if self.has_number {
            name.push(format!("-{:06}", self.number));
        }
        for extension in [plain.extension(), packed].into_iter().flatten() {
            name.push(".");
            name.push(extension);
        }
        self.path.with_file_name(name)
    }
}

/// The files that were made.
struct Files {
    reads: Reads,
    existing: Existing,
    keep: Option<usize>,
    /// Bytes that those which are whole may have together.
    total: Option<u64>,
    made: VecDeque<(PathBuf, Identity)>,
}

impl Files {
    fn make(&mut self, path: PathBuf) -> Result<(PathBuf, File), (PathBuf, io::Error)> {
        let done = check(&path, self.existing, &self.reads)
            .map_err(|refused| io::Error::other(refused.to_string()))
            .and_then(|()| create(&path, self.existing, &self.reads));
        let file = match done {
            Ok(file) => file,
            Err(error) => return Err((path, error)),
        };
        if let Some(made) = Identity::of_open(&file) {
            self.reads.add_written(made, &path);
            self.made.push_back((path.clone(), made));
        }
        while self.are_too_many()
            && let Some((path, made)) = self.made.pop_front()
        {
            remove(&path, made);
        }
        Ok((path, file))
    }

    /// Whether the first file must go. The last one is written.
    fn are_too_many(&self) -> bool {
        let len = |(path, _): &(PathBuf, Identity)| fs::metadata(path).map_or(0, |one| one.len());
        let whole = self.made.len().saturating_sub(1);
        self.keep.is_some_and(|keep| self.made.len() > keep)
            || self.total.is_some_and(|total| {
                whole > 0 && self.made.iter().take(whole).map(len).sum::<u64>() > total
            })
    }
}

/// Removes a file that this run has made. What has taken its place stays.
fn remove(path: &Path, made: Identity) {
    if Identity::at(path) == Some(made) {
        // One that cannot be removed costs room; the run goes on.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, Names};
    use flowpin_packet::Timestamp;

    #[test]
    fn names_say_interval_and_number() {
        let mut names = Names {
            path: "d/all.pcapng".into(),
            has_time: true,
            has_number: true,
            number: 0,
        };
        let hour = Timestamp(3_600_000_000_000);
        assert_eq!(
            names.name(hour).to_str(),
            Some("d/all-1970-01-01T01-00-00Z-000000.pcapng")
        );
        let next = names.next(hour, Cut::Size);
        assert_eq!(
            next.to_str(),
            Some("d/all-1970-01-01T01-00-00Z-000001.pcapng")
        );
        let next = names.next(Timestamp(0), Cut::Time);
        assert_eq!(
            next.to_str(),
            Some("d/all-1970-01-01T00-00-00Z-000000.pcapng")
        );
        names.has_time = false;
        for (path, expected) in [
            ("d/all.pcapng.zst", "d/all-000001.pcapng.zst"),
            ("all.gz", "all-000001.gz"),
            ("all", "all-000001"),
        ] {
            (names.path, names.number) = (path.into(), 1);
            assert_eq!(names.name(hour).to_str(), Some(expected));
        }
        (names.path, names.number) = ("d/all.pcapng".into(), 0);
        assert_eq!(
            names.next(hour, Cut::Size).to_str(),
            Some("d/all-000001.pcapng")
        );
    }
}
