//! Divides a capture into parts by a key.

use super::Question;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

/// Why a capture cannot be divided.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It cannot be opened or read.
    #[error("cannot read {}: {why}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// It is another format.
    #[error("{} is no plain pcap file", path.display())]
    NotPcap {
        /// Which.
        path: PathBuf,
    },
    /// A part cannot be written.
    #[error("cannot write {}: {why}", path.display())]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
}

/// Longer packets are no packets: libpcap refuses them, too.
const PACKET_LEN_MAX: u32 = 1 << 18;

/// Writes the parts; each path with its number of packets.
pub(super) fn divide(question: &Question) -> Result<Vec<(PathBuf, u64)>, CaptureError> {
    let path = &question.capture;
    let unreadable = |why| CaptureError::Unreadable {
        path: path.clone(),
        why,
    };
    let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut header = [0_u8; 24];
    let is_short = fill(&mut input, &mut header).map_err(unreadable)? < header.len();
    let order = if is_short { None } else { Order::of(&header) };
    let order = order.ok_or_else(|| CaptureError::NotPcap { path: path.clone() })?;
    let link_type = order.number(&header, 20) & 0xffff;
    let mut parts = parts(question, &header)?;
    let mut packet = Vec::new();
    loop {
        let mut head = [0_u8; 16];
        // What is cut off at the end is left out: libpcap stops there, too.
        if fill(&mut input, &mut head).map_err(unreadable)? < head.len() {
            break;
        }
        let captured = order.number(&head, 8);
        if captured > PACKET_LEN_MAX {
            break;
        }
        packet.resize(captured as usize, 0);
        if fill(&mut input, &mut packet).map_err(unreadable)? < packet.len() {
            break;
        }
        let hash = question.key.hash(link_type, &packet);
        let number = (hash % question.ways.max(1)) as usize;
        if let Some(part) = parts.get_mut(number) {
            part.count += 1;
            let written = part.file.write_all(&head);
            written
                .and_then(|()| part.file.write_all(&packet))
                .map_err(|why| part.unwritable(why))?;
        }
    }
    let mut done = Vec::new();
    for mut part in parts {
        part.file.flush().map_err(|why| part.unwritable(why))?;
        done.push((part.path, part.count));
    }
    Ok(done)
}

struct Part {
    path: PathBuf,
    file: BufWriter<File>,
    count: u64,
}

impl Part {
    fn unwritable(&self, why: io::Error) -> CaptureError {
        CaptureError::Unwritable {
            path: self.path.clone(),
            why,
        }
    }
}

fn parts(question: &Question, header: &[u8]) -> Result<Vec<Part>, CaptureError> {
    let part = |number: u32| {
        let path = question.folder.join(format!("part-{number}.pcap"));
        let made = File::create(&path).and_then(|mut file| {
            file.write_all(header)?;
            Ok(file)
        });
        match made {
            Ok(file) => Ok(Part {
                path,
                file: BufWriter::new(file),
                count: 0,
            }),
            Err(why) => Err(CaptureError::Unwritable { path, why }),
        }
    };
    (0..question.ways.max(1)).map(part).collect()
}

/// The order of bytes in a file.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// By the file's first bytes, with times in µs or ns.
    fn of(header: &[u8]) -> Option<Self> {
        match header.get(..4)? {
            [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1] => Some(Self::Little),
            [0xa1, 0xb2, 0xc3, 0xd4] | [0xa1, 0xb2, 0x3c, 0x4d] => Some(Self::Big),
            _ => None,
        }
    }

    fn number(self, bytes: &[u8], at: usize) -> u32 {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        let word: [u8; 4] = word.unwrap_or_default();
        match self {
            Self::Little => u32::from_le_bytes(word),
            Self::Big => u32::from_be_bytes(word),
        }
    }
}

/// Reads until the buffer is full or the input ends; how much there was.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(filled)
}
