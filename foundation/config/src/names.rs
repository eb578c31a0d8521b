//! The words for choices: the same in the file, on the command line and in what is printed.

use crate::{
    CaptureMethod, Checksums, Cut, Format, FragmentOverlap, FullRing, ParquetTime, PipelineShape,
    SegmentOverlap, System, Timeouts, Xff, XffHop,
};
use core::fmt;
use core::str::FromStr;

/// A choice from a short list of words.
pub trait Named: Copy + PartialEq + Sized + 'static {
    /// Every value with its word and what it means, in the order to show.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The word for this value.
    fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(value, ..)| *value == self)
            .map_or("", |&(_, name, _)| name)
    }

    /// The value of a word.
    ///
    /// # Errors
    /// The word is not in the list; the error contains the list.
    fn from_name(word: &str) -> Result<Self, NameError> {
        Self::ALL
            .iter()
            .find(|(_, name, _)| *name == word)
            .map(|&(value, ..)| value)
            .ok_or_else(|| NameError {
                word: word.to_owned(),
                choices: Self::ALL.iter().map(|&(_, name, _)| name).collect(),
            })
    }
}

/// A word that is not one of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of {}", choices.join(", "))]
pub struct NameError {
    word: String,
    choices: Vec<&'static str>,
}

impl Named for Format {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Eve, "eve", "Suricata's EVE JSON lines: eve.json"),
        (
            Self::ZeekTsv,
            "zeek",
            "Zeek's tab-separated logs: conn.log, …",
        ),
        (Self::ZeekJson, "zeek-json", "Zeek's logs as JSON lines"),
        (
            Self::Csv,
            "csv",
            "comma-separated values with a header line",
        ),
        (
            Self::Parquet,
            "parquet",
            "Apache Parquet, zstd-compressed columns",
        ),
        (Self::None, "none", "analyse, but write no records"),
    ];
}

impl Named for Cut {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Auto, "auto", "l3 with one worker, l2 with several"),
        (
            Self::Capture,
            "capture",
            "strip tunnels and hash only; workers decode",
        ),
        (Self::L2, "l2", "also decode transport headers"),
        (Self::L3, "l3", "also decode them and verify checksums"),
    ];
}

impl Named for Checksums {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Self::All,
            "all",
            "verify; a bad packet is counted and changes no state",
        ),
        (Self::None, "none", "do not verify"),
    ];
}

impl Named for Timeouts {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Self::Zeek,
            "zeek",
            "TCP 5 min, but 5 s if unanswered or closed; UDP, ICMP and others 1 min",
        ),
        (
            Self::Suricata,
            "suricata",
            "TCP 60 s new, 600 s established, 60 s closed; others 30 s one-way, 300 s both ways",
        ),
        (
            Self::None,
            "none",
            "never: connections end with the input, as tshark counts",
        ),
    ];
}

impl Named for ParquetTime {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Micros, "us", "microseconds"),
        (Self::Nanos, "ns", "nanoseconds"),
    ];
}

impl Named for Xff {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Self::ExtraData,
            "extra-data",
            "stands in `xff`, beside the connection's addresses",
        ),
        (
            Self::Overwrite,
            "overwrite",
            "stands in place of the connection's client",
        ),
    ];
}

impl Named for XffHop {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Self::First,
            "first",
            "the first: captured before a proxy of the clients",
        ),
        (
            Self::Last,
            "last",
            "the last: captured behind a proxy of the servers, which names it",
        ),
    ];
}

impl Named for CaptureMethod {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Self::AfPacket,
            "af-packet",
            "copies of what the interface receives and sends",
        ),
        (
            Self::AfXdp,
            "af-xdp",
            "what it receives, a socket for each queue; the host no longer gets it",
        ),
    ];
}

impl Named for FullRing {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Wait, "wait", "the input waits for the worker"),
        (Self::Drop, "drop", "drop and count"),
    ];
}

impl Named for FragmentOverlap {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::First, "first", "the first copy wins"),
        (Self::Last, "last", "the last copy wins"),
        (Self::Bsd, "bsd", "old stays where it starts no later"),
        (
            Self::BsdRight,
            "bsd-right",
            "new wins where old starts no later",
        ),
        (Self::Linux, "linux", "old stays where it starts before new"),
        (Self::Windows, "windows", "new wins where it encloses old"),
        (
            Self::Solaris,
            "solaris",
            "new wins where it starts before old and ends no earlier",
        ),
        (
            Self::Refuse,
            "refuse",
            "discard the datagram, unless new lies inside old",
        ),
    ];
}

impl Named for SegmentOverlap {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::First, "first", "the first copy wins"),
        (Self::Last, "last", "the last copy wins"),
        (Self::Bsd, "bsd", "as 4.4BSD and its descendants"),
        (Self::Linux, "linux", "as Linux since 2.4"),
        (Self::OldLinux, "old-linux", "as Linux up to 2.2"),
        (Self::Windows, "windows", "as Windows up to Server 2003"),
        (Self::Solaris, "solaris", "as Solaris"),
        (Self::Macos, "macos", "as classic Mac OS"),
        (Self::Hpux, "hpux", "as HP-UX 11"),
        (Self::Irix, "irix", "as IRIX"),
        (Self::Vista, "vista", "as Windows since Vista"),
    ];
}

impl Named for System {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Bsd, "bsd", "FreeBSD, OpenBSD, NetBSD"),
        (Self::Linux, "linux", "Linux since 4.19"),
        (Self::Linux26, "linux-2.6", "Linux 2.4 to 4.18"),
        (Self::OldLinux, "old-linux", "Linux up to 2.2"),
        (Self::Windows, "windows", "Windows up to Server 2003"),
        (Self::Vista, "vista", "Windows since Vista"),
        (Self::Solaris, "solaris", "Solaris"),
        (Self::Macos, "macos", "Mac OS"),
        (Self::Hpux, "hpux", "HP-UX 11"),
        (Self::Irix, "irix", "IRIX"),
    ];
}

impl fmt::Display for PipelineShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Single => f.write_str("1x1"),
            Self::Turns(workers) => write!(f, "1x{workers}"),
            Self::InputAndWorkers(workers) => write!(f, "2x{workers}"),
            Self::InputWorkersOutput(workers) => write!(f, "3x{workers}"),
        }
    }
}

/// A pipeline that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a pipeline: use auto, 1xN, 2xN or 3xN with N workers from 1 to {max}",
    max = PipelineShape::WORKERS_MAX
)]
pub struct ShapeError(String);

impl PipelineShape {
    /// Most workers that a pipeline may have: each needs at least one shard.
    pub const WORKERS_MAX: u16 = 256;
}

impl FromStr for PipelineShape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let bad = || ShapeError(text.to_owned());
        match text {
            "auto" => return Ok(Self::Auto),
            "1x1" => return Ok(Self::Single),
            _ => {}
        }
        let (stages, workers) = text.split_once('x').ok_or_else(bad)?;
        let workers = workers
            .parse()
            .ok()
            .filter(|count| (1..=Self::WORKERS_MAX).contains(count))
            .ok_or_else(bad)?;
        match stages {
            "1" => Ok(Self::Turns(workers)),
            "2" => Ok(Self::InputAndWorkers(workers)),
            "3" => Ok(Self::InputWorkersOutput(workers)),
            _ => Err(bad()),
        }
    }
}

/// A list of processors: `0,2-5`.
///
/// ```
/// use flowpin_config::CpuList;
/// assert_eq!("0,2-4".parse(), Ok(CpuList(vec![0, 2, 3, 4])));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

/// A processor list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a list of processors, such as 0,2-5")]
pub struct CpuListError(String);

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let bad = || CpuListError(text.to_owned());
        let mut cpus = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: usize = first.trim().parse().map_err(|_| bad())?;
            let last: usize = last.trim().parse().map_err(|_| bad())?;
            // The kernel's own limit; also keeps `0-99999999999` from filling memory.
            if last < first || last >= CPU_MAX {
                return Err(bad());
            }
            for cpu in first..=last {
                if cpus.contains(&cpu) {
                    return Err(bad());
                }
                cpus.push(cpu);
            }
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&words.join(","))
    }
}

const CPU_MAX: usize = 8192;

#[cfg(test)]
mod tests {
    use super::{CpuList, Named};
    use crate::{Format, PipelineShape};

    /// Every value has a word of its own, and the word leads back to it.
    #[test]
    fn each_format_has_its_word() {
        for &(format, name, _) in Format::ALL {
            assert_eq!(Format::from_name(name), Ok(format));
            assert_eq!(format.name(), name);
        }
    }

    /// A wrong word is answered with the right ones.
    #[test]
    fn unknown_word_is_answered_with_the_choices() {
        let text = Format::from_name("json").unwrap_err().to_string();
        assert_eq!(
            text,
            "`json` is not one of eve, zeek, zeek-json, csv, parquet, none"
        );
    }

    /// `1x0`, `2x0` and more workers than shards cannot be built.
    #[test]
    fn pipelines_that_cannot_be_built_are_refused() {
        for text in [
            "1x0", "2x0", "1x257", "2x257", "4x1", "2", "x", "2x-1", "2x 3", "", "AUTO",
        ] {
            assert!(text.parse::<PipelineShape>().is_err(), "{text}");
        }
        for text in ["auto", "1x1", "1x2", "1x256", "2x1", "2x7", "3x256"] {
            let shape: PipelineShape = text.parse().unwrap();
            assert_eq!(shape.to_string(), text);
        }
    }

    /// A processor cannot be pinned to twice, and no list can fill memory.
    #[test]
    fn bad_processor_lists_are_refused() {
        for text in ["", "a", "3-1", "0,0", "0-99999999999", "1-", "-1"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }
}
