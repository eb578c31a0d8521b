//! All bodies of one worker that somebody asked for, capped in each shard.

use super::coding::Encodings;
use super::kept::Kept;
use super::work::Work;
use crate::options::BodyOptions;
use crate::state::NONE;

/// The bodies of one worker.
#[derive(Debug)]
pub(crate) struct Bodies {
    options: BodyOptions,
    works: Vec<Option<Work>>,
    free: Vec<u32>,
    /// By shard: memory that its bodies take.
    used: Box<[u64; 256]>,
    /// By shard: files that were handed on.
    kept: Box<[Kept; 256]>,
    space: Vec<u8>,
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
            kept: Box::new([Kept::default(); 256]),
            space: if options.any() {
                vec![0; ROOM]
            } else {
                Vec::new()
            },
        }
    }

    /// Whether anybody asked for bodies.
    #[inline]
    pub(crate) const fn are_wanted(&self) -> bool {
        !self.space.is_empty()
    }

    /// A body begins; [`NONE`] if its shard has no memory for it. `number`: of its file.
    pub(crate) fn begin(&mut self, encodings: Encodings, number: u64, shard: u8) -> u32 {
        let Some(used) = self.used.get_mut(usize::from(shard)) else {
            return NONE;
        };
        let cost = Work::least_cost(encodings, &self.options);
        let after = used.saturating_add(cost);
        if after > self.options.shard_bytes_max {
            return NONE;
        }
        *used = after;
        let work = Work::new(encodings, number, shard, &self.options);
        if let Some(handle) = self.free.pop() {
            if let Some(place) = self.works.get_mut(handle as usize) {
                *place = Some(work);
            }
            return handle;
        }
        self.works.push(Some(work));
        u32::try_from(self.works.len().wrapping_sub(1)).unwrap_or(NONE)
    }

    /// Which of its connection's files a body is.
    pub(crate) fn number(&self, handle: u32) -> Option<u64> {
        Some(self.works.get(handle as usize)?.as_ref()?.number)
    }

    /// Whether a body becomes a file: it is wanted, and its shard has not handed on its most.
    pub(crate) fn begin_file(&mut self, handle: u32) -> bool {
        let Some(Some(work)) = self.works.get_mut(handle as usize) else {
            return false;
        };
        let kept = self.kept.get_mut(usize::from(work.shard));
        work.is_file = kept.is_some_and(|kept| kept.begin(&self.options));
        work.is_file
    }

    /// The next bytes of a body, what came of them to `file`.
    pub(crate) fn feed(&mut self, handle: u32, bytes: &[u8], file: &mut dyn FnMut(&[u8])) {
        self.work(handle, file, |work, space, options, file| {
            work.feed(bytes, space, options, file);
        });
    }

    /// Has `act` make something of a body, within its shard's memory.
    fn work(
        &mut self,
        handle: u32,
        file: &mut dyn FnMut(&[u8]),
        act: impl FnOnce(&mut Work, (&mut [u8], u64), &BodyOptions, &mut dyn FnMut(&[u8])),
    ) {
        let Some(Some(work)) = self.works.get_mut(handle as usize) else {
            return;
        };
        let shard = usize::from(work.shard);
        let (Some(used), Some(kept)) = (self.used.get_mut(shard), self.kept.get_mut(shard)) else {
            return;
        };
        let room = self.options.shard_bytes_max.saturating_sub(*used);
        let before = work.cost(&self.options);
        let mut place = Place {
            kept,
            is_file: work.is_file,
            left_out: 0,
        };
        act(work, (&mut self.space, room), &self.options, &mut |made| {
            place.put(made, &self.options, file);
        });
        work.left_out = work.left_out.saturating_add(place.left_out);
        let after = work.cost(&self.options);
        *used = used.saturating_add(after).saturating_sub(before);
    }

    /// Bytes of a body are missing: what came of those before goes to `file`. How many zeros its
    /// file has for them.
    pub(crate) fn gap(&mut self, handle: u32, len: u64, file: &mut dyn FnMut(&[u8])) -> u64 {
        self.work(handle, file, Work::flush);
        let Some(Some(work)) = self.works.get_mut(handle as usize) else {
            return 0;
        };
        let before = work.cost(&self.options);
        let mut zeros = work.gap(len, &self.options);
        if let Some(kept) = self
            .kept
            .get_mut(usize::from(work.shard))
            .filter(|_| work.is_file)
        {
            zeros = kept.take(zeros, &self.options);
        }
        let after = work.cost(&self.options);
        if let Some(used) = self.used.get_mut(usize::from(work.shard)) {
            *used = used.saturating_add(after).saturating_sub(before);
        }
        zeros
    }

    /// The body is over: what is known of it.
    pub(crate) fn end(&mut self, handle: u32, file: &mut dyn FnMut(&[u8])) -> Option<Work> {
        let mut work = self.works.get_mut(handle as usize)?.take()?;
        let used = self.used.get_mut(usize::from(work.shard))?;
        let room = self.options.shard_bytes_max.saturating_sub(*used);
        *used = used.saturating_sub(work.cost(&self.options));
        let kept = self.kept.get_mut(usize::from(work.shard))?;
        let mut place = Place {
            kept,
            is_file: work.is_file,
            left_out: 0,
        };
        work.finish((&mut self.space, room), &self.options, &mut |made| {
            place.put(made, &self.options, file);
        });
        work.left_out = work.left_out.saturating_add(place.left_out);
        self.free.push(handle);
        Some(work)
    }

    /// Bodies on their way.
    pub(crate) fn in_use(&self) -> usize {
        self.works.len().wrapping_sub(self.free.len())
    }
}

/// Where the bytes of one body go.
struct Place<'a> {
    kept: &'a mut Kept,
    is_file: bool,
    left_out: u64,
}

impl Place<'_> {
    /// As many as the shard may still hand on.
    fn put(&mut self, made: &[u8], options: &BodyOptions, file: &mut dyn FnMut(&[u8])) {
        if !self.is_file {
            return;
        }
        let len = made.len() as u64;
        let taken = self.kept.take(len, options);
        self.left_out = self.left_out.saturating_add(len.saturating_sub(taken));
        let part = usize::try_from(taken)
            .ok()
            .and_then(|taken| made.get(..taken));
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            file(part);
        }
    }
}
