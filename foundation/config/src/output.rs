//! Where and how records are written.

use crate::options::{Flag, Hint, options};
use crate::units::{SIZE_UNITS_TEXT, SPAN_UNITS_TEXT};
use crate::{ByteSize, Format, ParquetTime, PeerAddress, Settings, Span};
use std::ffi::OsStr;
use std::path::PathBuf;

options! {
    /// Where and how records are written.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan OutputPlan {
        [output] OutputSettings: "`[output]`: where and how records are written." {
            /// Directory for log files.
            dir: PathBuf => dir: PathBuf = PathBuf::from("."),
                flag Flag::value("log-dir", "DIR", "Directory for log files; created if missing \
                    [default: .]").short('l').hint(Hint::Directory).by(to_directory);
            /// Write EVE JSON lines to standard output instead of files.
            stdout: bool => to_stdout: bool = false,
                flag Flag::value("output", "WHERE", "Write EVE JSON lines there instead of files: \
                    `-` (standard output), unix:/PATH, tcp://HOST:PORT or \
                    kafka://HOST:PORT,HOST:PORT/TOPIC ({kind} in TOPIC: one for each kind of \
                    record); no other format is possible there. Or put Parquet files into a \
                    bucket: s3://BUCKET/PREFIX").conflicts("log-dir")
                    .by(to_one_place);
            /// Send EVE JSON lines to a program that listens there, or Parquet files to a bucket,
            /// instead of files.
            stream: PeerAddress => stream: Option<PeerAddress> = None,
                example "\"tcp://127.0.0.1:5170\"", flag Flag::shared("output");
            /// Directory in which records wait while that program or bucket is away; created if
            /// missing.
            spool: PathBuf => spool: Option<PathBuf> = None, example "\"spool\"",
                flag Flag::value("spool", "DIR", "Directory in which records wait while the \
                    program or the bucket of --output is away; created if missing")
                    .hint(Hint::Directory);
            /// The most that these records may take.
            spool_size: ByteSize => spool_bytes_max: u64 = 1 << 30,
                not_zero "the size of the spool",
                flag Flag::value("spool-size", "SIZE", "The most that records in --spool may take");
            /// A file of librdkafka's properties, a line each, for `stream = "kafka://…"`.
            kafka_config: PathBuf => kafka_config: Option<PathBuf> = None,
                example "\"kafka.properties\"",
                flag Flag::value("kafka-config", "FILE", "Properties for Kafka, a line each, as \
                    librdkafka names them: logins, TLS, compression").hint(Hint::File);
            /// "eve", "zeek", "zeek-json", "csv", "parquet"; or "none".
            formats: Vec<Format> => formats: Vec<Format> = vec![Format::Eve],
                flag Flag::value("format", "FORMAT", "Formats, separated by commas or repeated")
                    .by_comma();
            /// Add the Community ID to connection records.
            community_id: bool => community_id: bool = true,
                flag Flag::value("community-id", "on|off", "Add the Community ID to connections");
            /// Seed of the Community ID.
            community_seed: u16 => community_seed: u16 = 0,
                flag Flag::value("community-seed", "N", "Seed of the Community ID");
            /// Add a record for each pair of client and server, with the sums of its connections.
            host_pairs: bool => host_pairs: bool = false,
                flag Flag::switch("host-pairs", "Add a record for each pair of client and server, \
                    with the sums of its connections (host_pairs)");
            /// Add an event for each direction of a connection that has ended (EVE only).
            netflow: bool => netflow: bool = false,
                flag Flag::switch("netflow", "Add an event for each direction of a connection, as \
                    Suricata's netflow (EVE only)");
            /// A file for lines of JSON about the run itself, while it runs.
            stats: PathBuf => stats: Option<PathBuf> = None, example "\"stats.json\"",
                flag Flag::value("stats", "FILE", "Write lines of JSON about the run itself to \
                    FILE while it runs: packets, drops, losses, memory").hint(Hint::File);
            /// How often such a line is written, by the clock.
            stats_every: Span => stats_every_ns: u64 = 8_000_000_000,
                not_zero "the interval of `stats`",
                flag Flag::value("stats-every", "SPAN", "How often a line of --stats is written, \
                    by the clock");
            /// Put an apostrophe before text in CSV that a spreadsheet would read as a formula.
            csv_safe: bool => csv_safe: bool = false,
                flag Flag::switch("csv-safe", "For spreadsheets: put an apostrophe before text in \
                    CSV that begins like a formula (=, +, -, @)");
            /// Unit of times in Parquet: "us", which every reader supports, or "ns".
            parquet_time: ParquetTime => parquet_time: ParquetTime = ParquetTime::default(),
                flag Flag::value("parquet-time", "UNIT", "Unit of times in Parquet; every reader \
                    supports `us`");
            /// Start new files at each interval of the records' time.
            rotate_every: Span => rotate_every_ns: Option<u64> = None, example "\"1 h\"",
                not_zero "the rotation interval",
                flag Flag::value("rotate", "WHEN", "Start new files at each interval of the \
                    records' time, or before a file exceeds a size: \"1 h\", \"100 MiB\", or \
                    both, separated by a comma").by_comma().by(rotate);
            /// Start a new file before one exceeds this size.
            rotate_size: ByteSize => rotate_bytes_max: Option<u64> = None, example "\"100 MiB\"",
                not_zero "the rotation size", flag Flag::shared("rotate");
            /// Stop writing when all files together have this size; the summary says so.
            size_max: ByteSize => total_bytes_max: Option<u64> = None, example "\"10 GiB\"",
                not_zero "the output's size limit",
                flag Flag::value("output-max", "SIZE", "Stop writing when all files together have \
                    this size; the summary says so");
            /// Divide each log among so many files, each written by a thread of its own.
            files: u16 => files: u16 = 1, not_zero "the number of files of a log",
                flag Flag::value("output-files", "K", "Divide each log among K files, each written \
                    by a thread of its own (at most 16); `flowpin merge` makes one of them");
        }
        others {
            /// `--force`: replace the output of an earlier run, which otherwise prevents this one.
            /// On the command line only: a permanent setting would destroy files by accident.
            replace: bool = false;
            /// The most that rows in Parquet take before they are written, in all files together.
            /// It follows from `--memory`.
            parquet_bytes: u64 = 128 << 20;
            /// Whether files of `files` have threads: not while capturing, where a run gives up
            /// its rights thread by thread.
            file_threads: bool = true;
            /// Records wait for the program of `stream` when nothing can hold them; otherwise (live
            /// capture) they are lost and counted.
            may_wait: bool = true;
        }
    }
}

/// A log directory on the command line wins over standard output in the file.
fn to_directory(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    settings.output.dir = Some(text.into());
    settings.output.stdout = Some(false);
    settings.output.stream = None;
    Ok(())
}

/// Standard output, or a program that listens.
fn to_one_place(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    let output = &mut settings.output;
    if text == "-" {
        (output.stdout, output.stream) = (Some(true), None);
        return Ok(());
    }
    let text = text.to_string_lossy();
    let address: PeerAddress = text.parse().map_err(|error| format!("{error}"))?;
    (output.stdout, output.stream) = (Some(false), Some(address));
    Ok(())
}

fn rotate(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    let output = &mut settings.output;
    put_rotation(&mut output.rotate_every, &mut output.rotate_size, text)
}

/// Takes a time or a size. `m` is minutes and `M` is MiB: the case tells which.
pub(crate) fn put_rotation(
    every: &mut Option<Span>,
    size: &mut Option<ByteSize>,
    text: &OsStr,
) -> Result<(), String> {
    let text = text.to_string_lossy();
    let before = match (text.parse(), text.parse()) {
        (Ok(span), _) => every.replace(span).map(|_| "time"),
        (_, Ok(bytes)) => size.replace(bytes).map(|_| "size"),
        (Err(_), Err(_)) => {
            return Err(format!(
                "`{text}` is neither a time nor a size, such as \"1 h\" or \"100 MiB\"; units are \
                 {SPAN_UNITS_TEXT}, and {SIZE_UNITS_TEXT}"
            ));
        }
    };
    match before {
        Some(what) => Err(format!(
            "`{text}` is a second {what}: give one time and one size at most"
        )),
        None => Ok(()),
    }
}

impl OutputSettings {
    /// Any place for records replaces that `below`.
    pub(crate) fn clear_place(&self, below: &mut Self) {
        if self.stdout.is_some() || self.stream.is_some() {
            (below.stdout, below.stream) = (None, None);
        }
    }

    /// Any setting of rotation replaces both settings `below`.
    pub(crate) const fn clear_rotation(&self, below: &mut Self) {
        if self.rotate_every.is_some() || self.rotate_size.is_some() {
            (below.rotate_every, below.rotate_size) = (None, None);
        }
    }
}

impl OutputPlan {
    /// The most files that a log can be divided among.
    pub const FILES_MAX: u16 = 16;

    /// Whether all records go to one place that is no file: as EVE JSON lines.
    pub const fn is_one_place(&self) -> bool {
        self.to_stdout || (self.stream.is_some() && !self.has_bucket())
    }

    /// Whether files are put into a bucket.
    pub const fn has_bucket(&self) -> bool {
        matches!(self.stream, Some(PeerAddress::Bucket { .. }))
    }

    /// The folder in which files are made, if they are: of a bucket that of files that wait for it.
    pub fn folder(&self) -> Option<PathBuf> {
        if self.has_bucket() {
            return Some(self.spool.clone().unwrap_or_else(std::env::temp_dir));
        }
        (!self.is_one_place()).then(|| self.dir.clone())
    }

    /// No format twice; a bucket has one format.
    pub(crate) fn settle(&mut self, has_formats: bool) {
        if self.has_bucket() && !has_formats {
            self.formats = vec![Format::Parquet];
        }
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
        for second in ["1 h", "1 MiB"] {
            let told = rotate(&mut settings, second.as_ref()).unwrap_err();
            assert!(told.contains("second"), "{told}");
        }
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
