//! Any capture as a plain pcap file, for programs that read no other.

use flowpin_config::{Input, Plan};
use flowpin_engine::{CapturedPacket, Control, PacketSink, RunError};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The capture itself if it is a plain pcap file; else one below `folder` with its packets.
///
/// # Errors
/// It cannot be read, or its packets cannot be written.
pub(super) fn plain(capture: &Path, folder: &Path) -> Result<PathBuf, RunError> {
    if is_plain(capture) {
        return Ok(capture.to_owned());
    }
    let plan = Plan {
        inputs: vec![Input::File(capture.to_owned())],
        ..Plan::default()
    };
    let path = folder.join("plain.pcap");
    let mut written = Written {
        path: path.clone(),
        file: None,
        packets: 0,
    };
    flowpin_engine::packets(&plan, &mut written, &Control::default(), &())?;
    let flushed = match &mut written.file {
        Some((file, _)) => file.flush(),
        // Without a packet no link type is known: Ethernet.
        None => written.begin(1).and_then(|mut file| file.flush()),
    };
    flushed.map_err(|error| written.failed(error))?;
    Ok(path)
}

/// Whether libpcap's own format begins here (magic numbers of µs and ns, in both byte orders).
fn is_plain(capture: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(capture).and_then(|mut file| file.read_exact(&mut magic));
    let word = u32::from_le_bytes(magic);
    let magics = [0xa1b2_c3d4, 0xa1b2_3c4d];
    read.is_ok() && (magics.contains(&word) || magics.contains(&word.swap_bytes()))
}

/// A pcap file, made with the first packet: it has one link type.
struct Written {
    path: PathBuf,
    file: Option<(BufWriter<File>, Option<u16>)>,
    packets: u64,
}

impl Written {
    fn begin(&self, link: u16) -> io::Result<BufWriter<File>> {
        let mut file = BufWriter::new(File::create(&self.path)?);
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 1 << 18, u32::from(link)] {
            file.write_all(&word.to_le_bytes())?;
        }
        Ok(file)
    }

    fn failed(&self, source: io::Error) -> RunError {
        RunError::SliceWrite {
            path: self.path.clone(),
            packets: self.packets,
            source,
        }
    }

    fn write(&mut self, packet: &CapturedPacket<'_>) -> io::Result<()> {
        if self.file.is_none() {
            let begun = self.begin(packet.link.unwrap_or(1))?;
            self.file = Some((begun, packet.link));
        }
        let Some((file, link)) = &mut self.file else {
            return Ok(());
        };
        if *link != packet.link {
            let what = "the capture has several link types, which a pcap file cannot hold";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let captured = u32::try_from(packet.bytes.len()).unwrap_or(u32::MAX);
        let seconds = u32::try_from(packet.time.secs()).unwrap_or(u32::MAX);
        let micros = packet.time.subsec_nanos() / 1000;
        for word in [seconds, micros, captured, packet.wire_len] {
            file.write_all(&word.to_le_bytes())?;
        }
        file.write_all(packet.bytes)?;
        self.packets += 1;
        Ok(())
    }
}

impl PacketSink for Written {
    fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<(), RunError> {
        self.write(packet).map_err(|error| self.failed(error))
    }
}
