//! The capture that a slice writes: pcap if its name says so, else pcapng.
//!
//! Made with its first packet: where nothing is found there is no file. What a failure leaves has
//! whole packets only.

use crate::RunError;
use flowpin_capture::{PcapWriter, PcapngWriter, Precision, link_number};
use flowpin_disk::{Existing, Output, Reads};
use flowpin_packet::{Frame, InterfaceId, InterfaceNames, LinkType};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A capture being written.
pub(super) struct Written {
    path: PathBuf,
    existing: Existing,
    reads: Reads,
    /// Of the interfaces whose numbers packets have.
    names: InterfaceNames,
    form: Option<Form>,
    packets: u64,
    /// Those of them that the system has.
    packets_out: u64,
    /// About so many bytes wait.
    waiting: usize,
}

enum Form {
    /// One link type, known with the first packet.
    Pcap(PcapWriter<Whole>, LinkType),
    /// An interface for each that packets came by, and each link type.
    Pcapng(PcapngWriter<Whole>, Vec<(LinkType, InterfaceId)>),
}

impl Written {
    /// Makes nothing yet; `-` is standard output.
    pub(super) fn new(path: &Path, existing: Existing, reads: Reads) -> Self {
        Self {
            path: path.to_owned(),
            existing,
            reads,
            names: InterfaceNames::default(),
            form: None,
            packets: 0,
            packets_out: 0,
            waiting: 0,
        }
    }

    /// Packets carry numbers of the interfaces with these names.
    pub(super) fn name_interfaces(&mut self, names: &InterfaceNames) {
        self.names = names.clone();
    }

    /// Writes one frame with its bytes.
    pub(super) fn write(&mut self, frame: &Frame, bytes: &[u8]) -> Result<(), RunError> {
        if let Some(Form::Pcap(_, link)) = &self.form
            && *link != frame.link
        {
            let (path, packets) = (self.path.clone(), self.packets);
            self.flush()?;
            self.keep()?;
            return Err(RunError::SliceLinks { path, packets });
        }
        let mut form = match self.form.take() {
            Some(form) => form,
            None => self.begin(frame).map_err(|source| self.failed(source))?,
        };
        let done = form.write(frame, bytes, &self.names);
        self.form = Some(form);
        done.map_err(|source| self.failed(source))?;
        self.packets += 1;
        self.waiting += bytes.len() + PACKET_HEADER;
        if self.waiting >= WAITING_MAX {
            self.flush()?;
        }
        Ok(())
    }

    /// Completes the file; returns how many packets are in it.
    pub(super) fn finish(mut self) -> Result<u64, RunError> {
        self.flush()?;
        self.keep()?;
        Ok(self.packets)
    }

    fn begin(&self, frame: &Frame) -> io::Result<Form> {
        let target = Whole::over(Output::open(&self.path, self.existing, &self.reads)?);
        let ending = self.path.extension();
        if ending.is_some_and(|ending| ending.eq_ignore_ascii_case("pcap")) {
            let writer = PcapWriter::new(target, number(frame.link), Precision::Nanos)?;
            return Ok(Form::Pcap(writer, frame.link));
        }
        Ok(Form::Pcapng(PcapngWriter::new(target)?, Vec::new()))
    }

    /// Hands the packets that wait to the system.
    fn flush(&mut self) -> Result<(), RunError> {
        let done = match &mut self.form {
            Some(Form::Pcap(writer, _)) => writer.flush(),
            Some(Form::Pcapng(writer, _)) => writer.flush(),
            None => Ok(()),
        };
        if let Err(source) = done {
            let form = self.form.take();
            if !form.is_some_and(|form| form.into_whole().keep_whole()) {
                self.packets_out = 0;
            }
            return Err(self.failed(source));
        }
        self.packets_out = self.packets;
        self.waiting = 0;
        Ok(())
    }

    fn keep(&mut self) -> Result<(), RunError> {
        let kept = self.form.take().map(|form| form.into_whole().output.keep());
        kept.unwrap_or(Ok(())).map_err(|source| {
            self.packets_out = 0;
            self.failed(source)
        })
    }

    fn failed(&self, source: io::Error) -> RunError {
        RunError::SliceWrite {
            path: self.path.clone(),
            packets: self.packets_out,
            source,
        }
    }
}

impl Form {
    fn write(&mut self, frame: &Frame, bytes: &[u8], names: &InterfaceNames) -> io::Result<()> {
        match self {
            Self::Pcap(writer, _) => writer.write(frame.time, frame.wire_len, bytes),
            Self::Pcapng(writer, known) => {
                let this = (frame.link, frame.interface);
                let interface = match (0..).zip(&*known).find(|(_, known)| **known == this) {
                    Some((interface, _)) => interface,
                    None => {
                        let name = names.get(frame.interface);
                        let name = name.map_or("", |name| name.name());
                        known.push(this);
                        writer.add_interface(number(frame.link), name)?
                    }
                };
                writer.write(interface, frame.time, frame.wire_len, bytes)
            }
        }
    }

    fn into_whole(self) -> Whole {
        match self {
            Self::Pcap(writer, _) => writer.into_inner(),
            Self::Pcapng(writer, _) => writer.into_inner(),
        }
    }
}

fn number(link: LinkType) -> u16 {
    link_number(link).unwrap_or(LINKTYPE_USER0)
}

/// An output that takes whole packets: those between two flushes, all or none.
struct Whole {
    output: Output,
    waiting: Vec<u8>,
    /// Bytes of all packets that were handed over whole.
    len: u64,
}

impl Whole {
    fn over(output: Output) -> Self {
        Self {
            output,
            waiting: Vec::with_capacity(WAITING_MAX),
            len: 0,
        }
    }

    /// After a failure: leaves what was handed over whole, if that is anything. Whether it is.
    fn keep_whole(self) -> bool {
        self.output.keep_only(self.len)
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.write_all(&self.waiting)?;
        self.len += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}

/// Pieces of about this size cost the file system least.
const WAITING_MAX: usize = 1 << 20;

/// What a packet has besides its bytes, about.
const PACKET_HEADER: usize = 32;

/// For frames whose link type is not decoded: LINKTYPE_USER0, whose meaning is the user's.
const LINKTYPE_USER0: u16 = 147;
