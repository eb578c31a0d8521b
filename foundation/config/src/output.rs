//! Where and how records are written.

use crate::options::{Flag, Hint, options};
use crate::{ByteSize, Format, ParquetTime, Settings, Span};
use std::ffi::OsStr;
use std::path::PathBuf;

options! {
    /// Where and how records are written.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan OutputPlan {
        [output] OutputSettings: "`[output]`: what is written where." {
            /// Where log files go.
            dir: PathBuf => dir: PathBuf = PathBuf::from("."),
                flag Flag::value("log-dir", "DIR", "Where log files go; made if missing \
                    [default: .]").short('l').hint(Hint::Directory).by(to_directory);
            /// EVE JSON lines to standard output instead of files.
            stdout: bool => to_stdout: bool = false,
                flag Flag::value("output", "-", "`-`: EVE JSON lines to standard output instead \
                    of files; no other format goes there")
                    .one_of(&["-"]).conflicts("log-dir").by(to_stdout);
            /// "eve", "zeek", "zeek-json", "csv", "parquet"; or "none".
            formats: Vec<Format> => formats: Vec<Format> = vec![Format::Eve],
                flag Flag::value("format", "FORMAT", "Formats; several by comma or by repeating")
                    .by_comma();
            /// Community ID in connection records.
            community_id: bool => community_id: bool = true,
                flag Flag::value("community-id", "on|off", "Community ID in connection records");
            /// Seed of the Community ID.
            community_seed: u16 => community_seed: u16 = 0,
                flag Flag::value("community-seed", "N", "Seed of the Community ID");
            /// Text in CSV that a spreadsheet would take for a formula gets an apostrophe.
            csv_safe: bool => csv_safe: bool = false,
                flag Flag::switch("csv-safe", "For spreadsheets: text in CSV that begins like a \
                    formula (=, +, -, @) gets an apostrophe in front");
            /// How fine times are in Parquet: "us", which every reader knows; or "ns".
            parquet_time: ParquetTime => parquet_time: ParquetTime = ParquetTime::default(),
                flag Flag::value("parquet-time", "UNIT", "How fine times are in Parquet: `us` is \
                    what every reader knows");
            /// Begin new files when the records' time leaves this interval.
            rotate_every: Span => rotate_every_ns: Option<u64> = None, example "\"1 h\"",
                not_zero "the rotation interval",
                flag Flag::value("rotate", "WHEN", "New files each time the records' time leaves \
                    such an interval, or before a file grows past a size: \"1 h\", \"100 MiB\", \
                    or both by comma; in no other case").by_comma().by(rotate);
            /// Begin a new file before one grows past this.
            rotate_size: ByteSize => rotate_bytes_max: Option<u64> = None, example "\"100 MiB\"",
                not_zero "the rotation size", flag Flag::shared("rotate");
            /// Stop writing, and say so, once all files together hold this.
            size_max: ByteSize => total_bytes_max: Option<u64> = None, example "\"10 GiB\"",
                not_zero "the output's size limit",
                flag Flag::value("output-max", "SIZE", "Stop writing, and say so, once all files \
                    together hold this");
        }
        others {
            /// `--force`: what an earlier run left is replaced. Without it, it keeps this run from
            /// beginning. On the command line only: a habit that destroys files has no place in
            /// settings.
            replace: bool = false;
        }
    }
}

/// A log directory on the command line wins over standard output in the file.
fn to_directory(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    settings.output.dir = Some(text.into());
    settings.output.stdout = Some(false);
    Ok(())
}

fn to_stdout(settings: &mut Settings, _: &OsStr) -> Result<(), String> {
    settings.output.stdout = Some(true);
    Ok(())
}

/// `m` is minutes and `M` is MiB: the case tells a time from a size.
fn rotate(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    let text = text.to_string_lossy();
    match (text.parse(), text.parse()) {
        (Ok(span), _) => settings.output.rotate_every = Some(span),
        (_, Ok(size)) => settings.output.rotate_size = Some(size),
        (Err(_), Err(_)) => {
            return Err(format!(
                "`{text}` is neither a time nor a size, such as \"1 h\" or \"100 MiB\""
            ));
        }
    }
    Ok(())
}

impl OutputSettings {
    /// Whoever says when files are rotated says all of it: what is `below` is not added.
    pub(crate) const fn clear_rotation(&self, below: &mut Self) {
        if self.rotate_every.is_some() || self.rotate_size.is_some() {
            (below.rotate_every, below.rotate_size) = (None, None);
        }
    }
}

impl OutputPlan {
    /// No format twice.
    pub(crate) fn settle(&mut self) {
        let mut formats = Vec::new();
        for &format in &self.formats {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        self.formats = formats;
    }
}

#[cfg(test)]
mod tests {
    use super::rotate;
    use crate::{ByteSize, Settings, Span};

    #[test]
    fn rotation_is_by_time_or_by_size() {
        let mut settings = Settings::default();
        for text in ["5m", "5M"] {
            rotate(&mut settings, text.as_ref()).unwrap();
        }
        assert_eq!(settings.output.rotate_every, Some(Span(300_000_000_000)));
        assert_eq!(settings.output.rotate_size, Some(ByteSize(5 << 20)));
        assert!(rotate(&mut settings, "5".as_ref()).is_err());
        assert!(rotate(&mut settings, "daily".as_ref()).is_err());
    }

    /// A size on the command line is not added to a time in the file, nor the other way round.
    #[test]
    fn rotation_on_the_command_line_takes_the_place_of_that_in_the_file() {
        let text = "[output]\nrotate_every = '1 h'\nrotate_size = '1 MiB'";
        for (asked, every, size) in [
            ("5m", Some(300_000_000_000), None),
            ("5M", None, Some(5 << 20)),
        ] {
            let mut flags = Settings::default();
            rotate(&mut flags, asked.as_ref()).unwrap();
            let both = flags.over(Settings::from_toml(text).unwrap());
            let output = both.into_plan().unwrap().output;
            assert_eq!(output.rotate_every_ns, every, "{asked}");
            assert_eq!(output.rotate_bytes_max, size, "{asked}");
        }
    }
}
