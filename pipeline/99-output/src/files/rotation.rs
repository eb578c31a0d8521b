//! When a new file begins, and what it is called.
//!
//! ```text
//!  never:      conn.log
//!  by bytes:   conn-000000.log, conn-000001.log, …
//!  by time:    conn-2024-02-29T12-00-00Z.log, …            start of the interval, UTC
//!  by both:    conn-2024-02-29T12-00-00Z-000000.log, …
//! ```
//!
//! Time is the records' (stream time), so that the same input gives the same files.

use crate::text::file_name_time;
use flowpin_config::OutputPlan;
use flowpin_packet::Timestamp;
use std::path::PathBuf;

/// The stem of a name without its extension: what stands before the time and the number.
pub(super) fn stem(name: &str) -> &str {
    let without_number = match name.rsplit_once('-') {
        Some((rest, number)) if number.len() >= 6 && is_number(number) => rest,
        _ => name,
    };
    let len = without_number.len().saturating_sub(TIME_SHAPE.len());
    match without_number.split_at_checked(len) {
        Some((stem, time)) if is_time(time) => stem,
        _ => without_number,
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_digit())
}

/// Whether it has the shape of a time in a name, with the dash before it.
fn is_time(text: &str) -> bool {
    let fits = |(letter, shape): (u8, u8)| match shape {
        b'0' => letter.is_ascii_digit(),
        shape => letter == shape,
    };
    text.len() == TIME_SHAPE.len() && text.bytes().zip(TIME_SHAPE.bytes()).all(fits)
}

const TIME_SHAPE: &str = "-0000-00-00T00-00-00Z";

/// The files of one log: their names, and when the next one begins.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    dir: PathBuf,
    stem: String,
    extension: &'static str,
    every_ns: Option<u64>,
    bytes_max: Option<u64>,
    /// Start of the interval of the present file.
    interval: u64,
    sequence: u64,
}

impl Rotation {
    pub(super) fn new(plan: &OutputPlan, stem: &str, extension: &'static str) -> Self {
        Self {
            dir: plan.dir.clone(),
            stem: stem.to_owned(),
            extension,
            every_ns: plan.rotate_every_ns.filter(|&every| every > 0),
            bytes_max: plan.rotate_bytes_max.filter(|&max| max > 0),
            interval: 0,
            sequence: 0,
        }
    }

    /// Whether the first file's name is known before its first record.
    pub(super) fn name_is_fixed(&self) -> bool {
        self.every_ns.is_none()
    }

    /// The name of the first file, for records from `time` on.
    pub(super) fn first(&mut self, time: Timestamp) -> PathBuf {
        self.interval = self.interval_of(time);
        self.path()
    }

    /// The name of the next file, if one begins with a record of `time` that would make the
    /// present file `bytes` long.
    pub(super) fn next(&mut self, time: Timestamp, bytes: u64) -> Option<PathBuf> {
        let interval = self.interval_of(time);
        if interval > self.interval {
            (self.interval, self.sequence) = (interval, 0);
        } else if self.bytes_max.is_some_and(|max| bytes > max) {
            self.sequence += 1;
        } else {
            return None;
        }
        Some(self.path())
    }

    fn interval_of(&self, time: Timestamp) -> u64 {
        self.every_ns.map_or(0, |every| time.0 - time.0 % every)
    }

    fn path(&self) -> PathBuf {
        let mut name = self.stem.to_owned();
        if self.every_ns.is_some() {
            name += "-";
            name += &file_name_time(Timestamp(self.interval));
        }
        if self.bytes_max.is_some() {
            name += &format!("-{:06}", self.sequence);
        }
        self.dir.join(format!("{name}.{}", self.extension))
    }
}

#[cfg(test)]
mod tests {
    use super::Rotation;
    use flowpin_config::OutputPlan;
    use flowpin_packet::Timestamp;
    use std::path::Path;

    fn rotation(every_ns: Option<u64>, bytes_max: Option<u64>) -> Rotation {
        let plan = OutputPlan {
            dir: "d".into(),
            rotate_every_ns: every_ns,
            rotate_bytes_max: bytes_max,
            ..OutputPlan::default()
        };
        Rotation::new(&plan, "conn", "log")
    }

    /// Without limits there is one file for ever.
    #[test]
    fn nothing_rotates_by_itself() {
        let mut rotation = rotation(None, None);
        assert_eq!(rotation.first(Timestamp(5)), Path::new("d/conn.log"));
        assert_eq!(rotation.next(Timestamp::MAX, u64::MAX), None);
    }

    /// Intervals begin at multiples of their length; bytes count anew in each.
    #[test]
    fn intervals_and_sizes_name_the_files() {
        let hour = 3_600_000_000_000;
        let mut rotation = rotation(Some(hour), Some(100));
        let first = rotation.first(Timestamp(hour + 5));
        assert_eq!(first, Path::new("d/conn-1970-01-01T01-00-00Z-000000.log"));
        assert_eq!(rotation.next(Timestamp(2 * hour - 1), 100), None);
        let second = rotation.next(Timestamp(2 * hour - 1), 101).unwrap();
        assert_eq!(second, Path::new("d/conn-1970-01-01T01-00-00Z-000001.log"));
        let third = rotation.next(Timestamp(2 * hour), 1).unwrap();
        assert_eq!(third, Path::new("d/conn-1970-01-01T02-00-00Z-000000.log"));
    }
}
