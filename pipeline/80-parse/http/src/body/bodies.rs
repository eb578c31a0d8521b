//! All bodies of one worker that somebody asked for, capped in each shard.

use super::coding::{Encoding, IDENTITY, UNKNOWN};
use super::work::Work;
use crate::anomaly::Anomaly;
use crate::options::BodyOptions;
use crate::state::NONE;

/// The bodies of one worker.
#[derive(Debug)]
pub(crate) struct Bodies {
    options: BodyOptions,
    works: Vec<Option<Work>>,
    free: Vec<u32>,
    used: Box<[u32; 256]>,
    room: Vec<u8>,
}

/// Decoded bytes at once.
const ROOM: usize = 16 << 10;

impl Bodies {
    pub(crate) fn new(options: &BodyOptions) -> Self {
        Self {
            options: *options,
            works: Vec::new(),
            free: Vec::new(),
            used: Box::new([0; 256]),
            room: if options.any() {
                vec![0; ROOM]
            } else {
                Vec::new()
            },
        }
    }

    /// Whether anybody asked for bodies.
    #[inline]
    pub(crate) const fn are_wanted(&self) -> bool {
        !self.room.is_empty()
    }

    /// A body begins; [`NONE`] if its shard has its most.
    pub(crate) fn begin(&mut self, encoding: Encoding, shard: u8) -> u32 {
        let Some(used) = self.used.get_mut(usize::from(shard)) else {
            return NONE;
        };
        if *used >= self.options.shard_bodies_max {
            return NONE;
        }
        *used = used.wrapping_add(1);
        let known = if encoding == UNKNOWN {
            IDENTITY
        } else {
            encoding
        };
        let work = Work::new(known, shard, &self.options);
        if let Some(handle) = self.free.pop() {
            if let Some(place) = self.works.get_mut(handle as usize) {
                *place = Some(work);
            }
            return handle;
        }
        self.works.push(Some(work));
        u32::try_from(self.works.len().wrapping_sub(1)).unwrap_or(NONE)
    }

    /// The next bytes of a body.
    pub(crate) fn feed(
        &mut self,
        handle: u32,
        bytes: &[u8],
        file: &mut dyn FnMut(&[u8]),
    ) -> Option<Anomaly> {
        let work = self.works.get_mut(handle as usize)?.as_mut()?;
        work.feed(bytes, &mut self.room, &self.options, file)
    }

    /// Bytes of a body are missing.
    pub(crate) fn gap(&mut self, handle: u32, len: u64) {
        if let Some(Some(work)) = self.works.get_mut(handle as usize) {
            work.gap(len);
        }
    }

    /// The body is over: what is known of it.
    pub(crate) fn end(&mut self, handle: u32, file: &mut dyn FnMut(&[u8])) -> Option<Work> {
        let mut work = self.works.get_mut(handle as usize)?.take()?;
        work.finish(file);
        self.free.push(handle);
        if let Some(used) = self.used.get_mut(usize::from(work.shard)) {
            *used = used.wrapping_sub(1);
        }
        Some(work)
    }

    /// Bodies on their way.
    pub(crate) fn in_use(&self) -> usize {
        self.works.len().wrapping_sub(self.free.len())
    }
}
