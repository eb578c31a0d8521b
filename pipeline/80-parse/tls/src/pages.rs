//! The texts of a handshake, concatenated on a page; sinks that do not read them need no page.

use flowpin_memory::{Budget, Pool, Slab};
use flowpin_parser::slot_bytes;
use std::io;

/// Length of a page: all texts stored for one handshake fit.
const PAGE_BYTES: usize = 2496;

/// Room for the texts of one handshake.
pub(crate) type Page = [u8; PAGE_BYTES];

/// Range of a text on its page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    from: u16,
    len: u16,
}

impl Text {
    /// Returns the bytes of the text.
    pub(crate) fn of(self, page: &Page) -> &[u8] {
        let from = usize::from(self.from);
        let end = from.saturating_add(self.len.into());
        page.get(from..end).unwrap_or_default()
    }

    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

/// Writes texts to a page.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) page: &'a mut Page,
    /// How many bytes of the page are in use.
    pub(crate) used: &'a mut u16,
}

impl Writer<'_> {
    /// Returns an empty text at the current end.
    pub(crate) const fn begin(&self) -> Text {
        Text {
            from: *self.used,
            len: 0,
        }
    }

    /// Appends bytes to the last text, up to `most` bytes and the end of the page.
    pub(crate) fn push(&mut self, text: &mut Text, bytes: &[u8], most: usize) {
        let rest = self.page.get_mut(usize::from(*self.used)..);
        let room = rest.unwrap_or_default();
        let most = most.saturating_sub(text.len()).min(room.len());
        let bytes = bytes.get(..most).unwrap_or(bytes);
        if let Some(room) = room.get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
            // A page is far shorter than the maximum of the type.
            let count = u16::try_from(bytes.len()).unwrap_or(0);
            text.len = text.len.saturating_add(count);
            *self.used = self.used.saturating_add(count);
        }
    }

    /// Appends bytes to the last text if there is room for all of them; returns whether there was.
    pub(crate) fn put_next(&mut self, text: &mut Text, bytes: &[u8]) -> bool {
        let room = self.page.len().saturating_sub(usize::from(*self.used));
        if text.len() == 0 {
            *text = self.begin();
        }
        let fits = bytes.len() <= room;
        if fits {
            self.push(text, bytes, usize::MAX);
        }
        fits
    }

    /// Writes a text of at most `most` bytes.
    pub(crate) fn put(&mut self, bytes: &[u8], most: usize) -> Text {
        let mut text = self.begin();
        self.push(&mut text, bytes, most);
        text
    }
}

/// The page of a session; 0: none; [`REFUSED`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PageOf(u32);

/// There was no memory for the page.
const REFUSED: u32 = u32::MAX;

/// The pages of one worker.
#[derive(Debug)]
pub(crate) struct Pages {
    slab: Slab<Page>,
    budget: Budget,
    /// Pages that were refused for lack of memory.
    refused: u64,
}

const COST: u64 = slot_bytes::<Page>() as u64;

impl Pages {
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.slab);
    }

    /// Reserves room for all that the budget allows.
    pub(crate) fn new(budget: &Budget) -> io::Result<Self> {
        Ok(Self {
            slab: Slab::with_capacity(budget.capacity_of(COST, 256))?,
            budget: budget.clone(),
            refused: 0,
        })
    }

    pub(crate) const fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns the page of a session; `None` if its texts are not wanted, or without memory.
    #[inline]
    pub(crate) fn open(
        &mut self,
        of: &mut PageOf,
        shard: u8,
        is_wanted: bool,
    ) -> Option<&mut Page> {
        if !is_wanted {
            return None;
        }
        if of.0 == 0 {
            of.0 = self.take(shard);
        }
        self.slab.get_mut(of.0.checked_sub(1)?)
    }

    /// Takes a page. It may contain the texts of an earlier session: only bytes written since are
    /// read.
    fn take(&mut self, shard: u8) -> u32 {
        if self.budget.take(shard, COST) {
            if let Some(page) = self.slab.take() {
                return page.saturating_add(1);
            }
            self.budget.give_back(shard, COST);
        }
        self.refused = self.refused.saturating_add(1);
        REFUSED
    }

    /// Returns the page of a session; an empty one if it has none.
    pub(crate) fn get(&self, of: PageOf) -> &Page {
        let page = of.0.checked_sub(1).and_then(|page| self.slab.get(page));
        page.unwrap_or(&EMPTY)
    }

    /// Frees the page of a session.
    pub(crate) fn free(&mut self, of: PageOf, shard: u8) {
        if let Some(page) = of.0.checked_sub(1).filter(|_| of.0 != REFUSED) {
            self.slab.remove(page);
            self.budget.give_back(shard, COST);
        }
    }
}

/// The page of sessions without one.
pub(crate) static EMPTY: Page = [0; PAGE_BYTES];
