//! The capture that a slice writes: pcap if its name says so, else pcapng.

use crate::RunError;
use flowpin_capture::{PcapWriter, PcapngWriter, Precision, link_number};
use flowpin_packet::{Frame, LinkType};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A capture being written.
pub(super) struct Written {
    path: PathBuf,
    form: Form,
    packets: u64,
}

enum Form {
    /// One link type, known with the first packet.
    Pcap(Pcap),
    /// An interface for each link type.
    Pcapng(PcapngWriter<Target>, Vec<(LinkType, u32)>),
}

enum Pcap {
    Empty(Target),
    Begun(PcapWriter<Target>, LinkType),
    /// Between the two, or after a failure to begin.
    Broken,
}

type Target = BufWriter<Box<dyn Write>>;

impl Written {
    /// Creates the file; `-` is standard output.
    pub(super) fn create(path: &Path) -> Result<Self, RunError> {
        Self::try_create(path).map_err(|source| failed(path, source))
    }

    fn try_create(path: &Path) -> io::Result<Self> {
        let target: Box<dyn Write> = if path == Path::new("-") {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path)?)
        };
        let target = BufWriter::with_capacity(1 << 20, target);
        let is_pcap = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("pcap"));
        let form = if is_pcap {
            Form::Pcap(Pcap::Empty(target))
        } else {
            Form::Pcapng(PcapngWriter::new(target)?, Vec::new())
        };
        let path = path.to_owned();
        Ok(Self {
            path,
            form,
            packets: 0,
        })
    }

    /// Writes one frame with its bytes.
    pub(super) fn write(&mut self, frame: &Frame, bytes: &[u8]) -> Result<(), RunError> {
        if let Form::Pcap(Pcap::Begun(_, link)) = &self.form
            && *link != frame.link
        {
            return Err(RunError::SliceLinks {
                path: self.path.clone(),
                packets: self.packets,
            });
        }
        self.packets += 1;
        let done = match &mut self.form {
            Form::Pcap(pcap) => pcap.write(frame, bytes),
            Form::Pcapng(writer, interfaces) => write_pcapng(writer, interfaces, frame, bytes),
        };
        done.map_err(|source| failed(&self.path, source))
    }

    /// Completes the file; returns how many packets are in it.
    pub(super) fn finish(self) -> Result<u64, RunError> {
        let done = match self.form {
            Form::Pcap(Pcap::Begun(mut writer, _)) => writer.flush(),
            // Without a packet any link type is right.
            Form::Pcap(Pcap::Empty(target)) => {
                PcapWriter::new(target, 1, Precision::Nanos).and_then(|mut writer| writer.flush())
            }
            Form::Pcap(Pcap::Broken) => Ok(()),
            Form::Pcapng(mut writer, _) => writer.flush(),
        };
        done.map_err(|source| failed(&self.path, source))?;
        Ok(self.packets)
    }
}

impl Pcap {
    fn write(&mut self, frame: &Frame, bytes: &[u8]) -> io::Result<()> {
        if let Self::Empty(_) = self
            && let Self::Empty(target) = core::mem::replace(self, Self::Broken)
        {
            let writer = PcapWriter::new(target, number(frame.link), Precision::Nanos)?;
            *self = Self::Begun(writer, frame.link);
        }
        match self {
            Self::Begun(writer, _) => writer.write(frame.time, frame.wire_len, bytes),
            _ => Ok(()),
        }
    }
}

fn write_pcapng(
    writer: &mut PcapngWriter<Target>,
    interfaces: &mut Vec<(LinkType, u32)>,
    frame: &Frame,
    bytes: &[u8],
) -> io::Result<()> {
    let known = interfaces.iter().find(|(link, _)| *link == frame.link);
    let interface = match known {
        Some(&(_, interface)) => interface,
        None => {
            let interface = writer.add_interface(number(frame.link))?;
            interfaces.push((frame.link, interface));
            interface
        }
    };
    writer.write(interface, frame.time, frame.wire_len, bytes)
}

fn number(link: LinkType) -> u16 {
    link_number(link).unwrap_or(LINKTYPE_USER0)
}

fn failed(path: &Path, source: io::Error) -> RunError {
    let path = path.to_owned();
    RunError::SliceWrite { path, source }
}

/// For frames whose link type is not decoded: LINKTYPE_USER0, whose meaning is the user's.
const LINKTYPE_USER0: u16 = 147;
