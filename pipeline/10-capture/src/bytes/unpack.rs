//! Decompression that gives away nothing of what was decoded before damage.
//!
//! Readers of the libraries drop what they decoded in the same call that found damage. Here a
//! decoder says both, and the damage is told once the bytes before it were read.

use super::raw::Raw;
use std::io::{self, BufRead, BufReader, Read};

/// A compression format: one step of decoding at a time.
pub(super) trait Decode {
    /// Decodes some of `input`, which is empty only where the file ends, into `into`.
    fn step(&mut self, input: &[u8], into: &mut [u8]) -> Step;

    /// Whether the file may end here.
    fn may_end(&self) -> bool;
}

/// What a step came to.
#[derive(Debug)]
pub(super) struct Step {
    /// Bytes of the input that it took.
    pub(super) taken: usize,
    /// Bytes that it decoded, also if it failed after them.
    pub(super) made: usize,
    pub(super) result: io::Result<()>,
}

/// Compressed bytes as what they hold.
pub(crate) struct Unpacked<D> {
    from: BufReader<Raw>,
    /// None once nothing comes any more: its memory is for others.
    decoder: Option<D>,
    /// What is wrong behind the bytes that were given last.
    failure: Option<io::Error>,
}

impl<D> Unpacked<D> {
    pub(super) fn new(from: BufReader<Raw>, decoder: D) -> Self {
        Self {
            from,
            decoder: Some(decoder),
            failure: None,
        }
    }

    /// The bytes as they lie on disk.
    pub(super) fn raw(&self) -> &Raw {
        self.from.get_ref()
    }

    pub(super) fn raw_mut(&mut self) -> &mut Raw {
        self.from.get_mut()
    }
}

impl<D: Decode> Read for Unpacked<D> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        while !into.is_empty()
            && let Some(decoder) = &mut self.decoder
        {
            let input = self.from.fill_buf()?;
            let at_end = input.is_empty();
            let step = decoder.step(input, into);
            self.from.consume(step.taken);
            let mut result = step.result;
            if result.is_ok() && step.made == 0 && (at_end || step.taken == 0) {
                if !at_end {
                    result = Err(invalid("nothing can be made of it"));
                } else if !decoder.may_end() {
                    result = Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the compressed data end too early",
                    ));
                }
                self.decoder = None;
            }
            if let Err(failure) = result {
                self.decoder = None;
                if step.made == 0 {
                    return Err(failure);
                }
                self.failure = Some(failure);
            }
            if step.made > 0 {
                return Ok(step.made);
            }
        }
        Ok(0)
    }
}

pub(super) fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
