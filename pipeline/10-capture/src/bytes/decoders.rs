//! The formats that [`super::unpack`] reads: gzip, zstd, xz, each in any number of members.

use super::unpack::{Decode, Step, invalid};
use super::windows::Share;
use flate2::{Decompress, FlushDecompress, Status};
use liblzma::stream::{Action, CONCATENATED, Error, Stream};
use std::io;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// gzip (RFC 1952).
pub(crate) struct Gzip {
    /// The member being read; none between two.
    member: Option<Box<Decompress>>,
    /// Whether one was read whole.
    any: bool,
    /// Whether zeros follow the last member, as tapes have them.
    padded: bool,
}

impl Gzip {
    pub(super) const fn new() -> Self {
        Self {
            member: None,
            any: false,
            padded: false,
        }
    }
}

impl Decode for Gzip {
    fn step(&mut self, input: &[u8], into: &mut [u8]) -> Step {
        if self.member.is_none() {
            if self.any {
                let zeros = input.iter().take_while(|&&byte| byte == 0).count();
                if zeros > 0 {
                    self.padded = true;
                    return step(zeros, 0, Ok(()));
                }
            }
            if input.is_empty() {
                return step(0, 0, Ok(()));
            }
            if self.padded {
                return step(0, 0, Err(invalid("other data follow the last gzip member")));
            }
        }
        let member = self
            .member
            .get_or_insert_with(|| Box::new(Decompress::new_gzip(WINDOW_BITS)));
        let before = (member.total_in(), member.total_out());
        let result = member.decompress(input, into, FlushDecompress::None);
        let (taken, made) = (
            grown(before.0, member.total_in()),
            grown(before.1, member.total_out()),
        );
        let at_start = member.total_out() == 0;
        let result = match result {
            Ok(Status::StreamEnd) => {
                self.member = None;
                self.any = true;
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(_) if self.any && at_start => {
                Err(invalid("what follows the last gzip member is none"))
            }
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };
        step(taken, made, result)
    }

    fn may_end(&self) -> bool {
        self.any && self.member.is_none()
    }
}

/// Zstandard (RFC 8878).
pub(crate) struct Zstd {
    decoder: DCtx<'static>,
    share: Share,
    /// How many bytes the decoder asks for; 0: a frame is over.
    wanted: usize,
    any: bool,
    /// The last call filled its room: the decoder may have more to give.
    is_full: bool,
}

impl Zstd {
    pub(super) fn new(share: Share) -> io::Result<Self> {
        let mut decoder = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        let limit = DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX);
        decoder.set_parameter(limit).map_err(zstd_error)?;
        Ok(Self {
            decoder,
            share,
            wanted: 0,
            any: false,
            is_full: false,
        })
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        let begun = self.decoder.reset(ResetDirective::SessionOnly);
        begun.map(drop).map_err(zstd_error)
    }

    /// How many bytes to hand over. The library does not say how much it decoded before it found
    /// damage, so it must never find any in a call that decodes a block. What it asks for is the
    /// rest of a block and the header of the next one (RFC 8878 §3.1.1.2: 3 bytes): they are handed
    /// over apart.
    const fn portion(&self) -> usize {
        match self.wanted {
            0 => 1,
            wanted @ 1..=BLOCK_HEADER_LEN => wanted,
            wanted => wanted - BLOCK_HEADER_LEN,
        }
    }
}

impl Zstd {
    /// One call of the library.
    fn decode(&mut self, portion: &[u8], into: &mut [u8]) -> Step {
        let room = into.len();
        let mut from = InBuffer::around(portion);
        let mut to = OutBuffer::around(into);
        let result = self.decoder.decompress_stream(&mut to, &mut from);
        let (taken, made) = (from.pos, to.pos());
        self.is_full = made == room;
        let result = result.map_err(zstd_error).and_then(|wanted| {
            self.wanted = wanted;
            self.any |= wanted == 0;
            self.share.keep(self.decoder.sizeof() as u64, made)
        });
        step(taken, made, result)
    }
}

impl Decode for Zstd {
    fn step(&mut self, input: &[u8], into: &mut [u8]) -> Step {
        if self.wanted == 0
            && !input.is_empty()
            && self.any
            && let Err(error) = self.begin_frame()
        {
            return step(0, 0, Err(error));
        }
        if self.wanted == 0 && input.is_empty() {
            return step(0, 0, Ok(()));
        }
        // What it still has to give is taken before it gets the next header, for the same reason.
        if self.is_full && self.wanted > 0 {
            let rest = self.decode(&[], into);
            if rest.made > 0 || rest.result.is_err() {
                return rest;
            }
        }
        let portion = input.get(..self.portion()).unwrap_or(input);
        self.decode(portion, into)
    }

    fn may_end(&self) -> bool {
        self.any && self.wanted == 0
    }
}

/// xz.
pub(crate) struct Xz {
    stream: Stream,
    share: Share,
    ended: bool,
}

impl Xz {
    pub(super) fn new(share: Share) -> io::Result<Self> {
        Ok(Self {
            stream: Stream::new_stream_decoder(XZ_MEMORY_STEP, CONCATENATED)?,
            share,
            ended: false,
        })
    }
}

impl Decode for Xz {
    fn step(&mut self, input: &[u8], into: &mut [u8]) -> Step {
        let before = (self.stream.total_in(), self.stream.total_out());
        let action = if input.is_empty() {
            Action::Finish
        } else {
            Action::Run
        };
        let mut result = self.stream.process(input, into, action);
        // Nothing is decoded by a call that needs more memory first; less than that is refused.
        let mut limit = self.stream.memlimit();
        while matches!(result, Err(Error::MemLimit)) && limit < XZ_MEMORY_MAX {
            limit += XZ_MEMORY_STEP;
            let rest = input.get(grown(before.0, self.stream.total_in())..);
            result = (self.stream.set_memlimit(limit))
                .and_then(|()| (self.stream).process(rest.unwrap_or_default(), into, action));
        }
        let taken = grown(before.0, self.stream.total_in());
        let made = grown(before.1, self.stream.total_out());
        let result = result.map_err(io::Error::from).and_then(|status| {
            self.ended = status == liblzma::stream::Status::StreamEnd;
            self.share.keep(self.stream.memlimit(), made)
        });
        step(taken, made, result)
    }

    fn may_end(&self) -> bool {
        self.ended
    }
}

const fn step(taken: usize, made: usize, result: io::Result<()>) -> Step {
    Step {
        taken,
        made,
        result,
    }
}

fn zstd_error(code: usize) -> io::Error {
    io::Error::other(get_error_name(code))
}

/// By how much a sum has grown in a call: by no more than the call's buffers hold.
fn grown(before: u64, now: u64) -> usize {
    usize::try_from(now.saturating_sub(before)).unwrap_or(0)
}

/// RFC 1951 §2: distances of up to 32 KiB.
const WINDOW_BITS: u8 = 15;

const BLOCK_HEADER_LEN: usize = 3;

/// A frame that asks for a larger window than 2²⁷ bytes is refused, as by `zstd` itself.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// How much more an xz decoder gets at a time: the library does not say how much it needs.
const XZ_MEMORY_STEP: u64 = 1 << 20;

/// Enough for `xz -9` (65 MiB) and for dictionaries of 192 MiB.
const XZ_MEMORY_MAX: u64 = 256 << 20;
