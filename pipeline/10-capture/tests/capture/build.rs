//! Captures made byte by byte, and all that can be read out of captures.

use flowpin_capture::{CaptureError, Compression, Options, Report, Source};
use flowpin_packet::{LinkType, Piece};
use proptest::prelude::*;
use std::io::Write;

/// A frame as it goes in and should come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) time_ns: u64,
    pub(crate) wire_len: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) link: LinkType,
}

/// A way to write a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) layout: Layout,
    pub(crate) big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Micros,
    Nanos,
    Kuznetzov,
    IxiaHardware,
    IxiaSoftware,
    /// pcapng with enhanced packet blocks in microseconds (the default).
    Enhanced,
    /// The same in nanoseconds, with options and blocks between that are of no use here.
    EnhancedAmongOthers,
    /// pcapng with packet blocks of the first drafts.
    Obsolete,
}

pub(crate) const LAYOUTS: [Layout; 8] = [
    Layout::Micros,
    Layout::Nanos,
    Layout::Kuznetzov,
    Layout::IxiaHardware,
    Layout::IxiaSoftware,
    Layout::Enhanced,
    Layout::EnhancedAmongOthers,
    Layout::Obsolete,
];

/// All ways to write a capture.
pub(crate) fn kinds() -> Vec<Kind> {
    let both = |layout| [false, true].map(|big_endian| Kind { layout, big_endian });
    LAYOUTS.into_iter().flat_map(both).collect()
}

impl Kind {
    fn word(self, value: u32) -> [u8; 4] {
        if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.word(value)).collect()
    }

    fn half(self, value: u16) -> [u8; 2] {
        if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    /// How exact its times are.
    pub(crate) fn unit_ns(self) -> u64 {
        match self.layout {
            Layout::Nanos | Layout::IxiaHardware | Layout::EnhancedAmongOthers => 1,
            _ => 1000,
        }
    }

    /// A whole capture of Ethernet frames.
    pub(crate) fn capture(self, samples: &[Sample]) -> Vec<u8> {
        let mut out = self.file_header(1);
        for sample in samples {
            out.extend(self.record(sample));
        }
        out
    }

    pub(crate) fn file_header(self, link: u16) -> Vec<u8> {
        let magic = match self.layout {
            Layout::Micros => 0xa1b2_c3d4,
            Layout::Nanos => 0xa1b2_3c4d,
            Layout::Kuznetzov => 0xa1b2_cd34,
            Layout::IxiaHardware => 0x1c00_01ac,
            Layout::IxiaSoftware => 0x1c00_01ab,
            _ => return self.section_header(link),
        };
        let mut out = self.word(magic).to_vec();
        out.extend(self.half(2));
        out.extend(self.half(4));
        out.extend(self.words(&[0, 0, 65535, link.into()]));
        if matches!(self.layout, Layout::IxiaHardware | Layout::IxiaSoftware) {
            out.extend(self.word(0));
        }
        out
    }

    fn section_header(self, link: u16) -> Vec<u8> {
        let mut section = self.words(&[0x1a2b_3c4d]);
        section.extend(self.half(1));
        section.extend(self.half(0));
        section.extend([0xff; 8]);
        let mut out = self.block(0x0a0d_0d0a, &section);
        let mut options = Vec::new();
        if self.layout == Layout::EnhancedAmongOthers {
            // if_name, then if_tsresol: nanoseconds, then the end.
            options.extend(self.option(2, b"eth0"));
            options.extend(self.option(9, &[9]));
            options.extend(self.option(0, &[]));
        }
        out.extend(self.interface(link, 0, &options));
        out
    }

    pub(crate) fn interface(self, link: u16, snap_len: u32, options: &[u8]) -> Vec<u8> {
        let mut content = self.half(link).to_vec();
        content.extend([0, 0]);
        content.extend(self.word(snap_len));
        content.extend(options);
        self.block(1, &content)
    }

    pub(crate) fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut out = self.half(code).to_vec();
        out.extend(self.half(u16::try_from(value.len()).unwrap()));
        out.extend(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    pub(crate) fn block(self, block_type: u32, content: &[u8]) -> Vec<u8> {
        let padded = content.len().next_multiple_of(4);
        let len = u32::try_from(padded + 12).unwrap();
        let mut out = self.words(&[block_type, len]);
        out.extend(content);
        out.resize(8 + padded, 0);
        out.extend(self.word(len));
        out
    }

    /// One packet's record.
    pub(crate) fn record(self, sample: &Sample) -> Vec<u8> {
        let captured_len = u32::try_from(sample.bytes.len()).unwrap();
        let ticks = sample.time_ns / self.unit_ns();
        let per_second = 1_000_000_000 / self.unit_ns();
        let high = u32::try_from(ticks >> 32).unwrap();
        let low = u32::try_from(ticks & 0xffff_ffff).unwrap();
        let lens = [captured_len, sample.wire_len];
        let mut out = match self.layout {
            Layout::Enhanced | Layout::EnhancedAmongOthers | Layout::Obsolete => {
                let mut content = if self.layout == Layout::Obsolete {
                    // Interface 0, 7 drops.
                    [self.half(0), self.half(7)].concat()
                } else {
                    self.word(0).to_vec()
                };
                content.extend(self.words(&[high, low, lens[0], lens[1]]));
                content.extend(&sample.bytes);
                content.resize(content.len().next_multiple_of(4), 0);
                if self.layout == Layout::EnhancedAmongOthers {
                    content.extend(self.option(1, b"a comment"));
                    content.extend(self.option(0, &[]));
                    let packet = self.block(6, &content);
                    let names = self.block(4, b"\0\0\0\0");
                    let statistics = self.block(5, &[0; 12]);
                    let unknown = self.block(0x0123_4567, &[9; 40]);
                    return [names, packet, statistics, unknown].concat();
                }
                let block_type = if self.layout == Layout::Obsolete {
                    2
                } else {
                    6
                };
                return self.block(block_type, &content);
            }
            _ => {
                let secs = u32::try_from(ticks / per_second).unwrap();
                let fraction = u32::try_from(ticks % per_second).unwrap();
                self.words(&[secs, fraction, lens[0], lens[1]])
            }
        };
        if self.layout == Layout::Kuznetzov {
            // Interface index, protocol, packet type, padding.
            out.extend([0xee; 8]);
        }
        out.extend(&sample.bytes);
        out
    }
}

pub(crate) const COMPRESSIONS: [Compression; 5] = [
    Compression::None,
    Compression::Gzip,
    Compression::Zstd,
    Compression::Lz4,
    Compression::Xz,
];

/// Compresses in two members, as `cat a.gz b.gz` makes them.
pub(crate) fn compress(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    let (first, second) = bytes.split_at(bytes.len() / 3);
    match compression {
        Compression::None => bytes.to_vec(),
        _ => [member(compression, first), member(compression, second)].concat(),
    }
}

fn member(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Compression::Zstd => zstd::encode_all(bytes, 1).unwrap(),
        Compression::Lz4 => {
            let mut out = lz4_flex::frame::FrameEncoder::new(Vec::new());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Compression::Xz => {
            let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Compression::None => bytes.to_vec(),
    }
}

/// Everything that comes out of captures in memory.
pub(crate) fn read(
    captures: Vec<Vec<u8>>,
    options: &Options,
) -> Result<(Vec<Sample>, Report), CaptureError> {
    let named = captures.into_iter().enumerate();
    let named = named.map(|(i, bytes)| (format!("capture {i}").into(), bytes));
    let mut source = Source::from_memory(named.collect(), options)?;
    let samples = drain(&mut source)?;
    let report = source.report();
    assert_eq!(source.progress().files_done, report.files.len());
    Ok((samples, report))
}

/// All frames of a source.
pub(crate) fn drain(source: &mut Source) -> Result<Vec<Sample>, CaptureError> {
    let mut samples = Vec::new();
    let mut piece = Piece::default();
    while source.fill(&mut piece)? {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let start = frame.start as usize;
            let end = start + frame.captured_len as usize;
            assert!(end <= piece.len);
            samples.push(Sample {
                time_ns: frame.time.0,
                wire_len: frame.wire_len,
                bytes: piece.bytes[start..end].to_vec(),
                link: frame.link,
            });
        }
        assert!(walk.next_frame().is_none(), "the end stays the end");
    }
    Ok(samples)
}

/// Options with pieces of that many bytes.
pub(crate) fn pieces_of(piece_len: usize) -> Options {
    Options {
        piece_len,
        ..Options::default()
    }
}

/// Frames of 0 to 200 bytes, at whole microseconds, in no order.
pub(crate) fn samples(count_max: usize) -> impl Strategy<Value = Vec<Sample>> {
    let bytes = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..200),
        1 => Just(Vec::new()),
    ];
    let sample = (0_u64..4_000_000_000, bytes, 0_u32..2000).prop_map(|(time_us, bytes, more)| {
        let captured_len = u32::try_from(bytes.len()).unwrap();
        Sample {
            time_ns: time_us * 1_000_000,
            wire_len: captured_len + more,
            bytes,
            link: LinkType::Ethernet,
        }
    });
    prop::collection::vec(sample, 0..count_max)
}

/// A few frames for tests that look at something else.
pub(crate) fn three() -> Vec<Sample> {
    (1_u8..=3)
        .map(|i| Sample {
            time_ns: u64::from(i) * 1_000_000_000,
            wire_len: 100,
            bytes: vec![i; 40 + usize::from(i)],
            link: LinkType::Ethernet,
        })
        .collect()
}
