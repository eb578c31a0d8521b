//! Tables of waiting orders, in three sizes, charged to the budgets of their shards.
//!
//! ```text
//!  1 set of four ──a set is full──► 16 sets ──► 256 sets ──► the oldest of the set is evicted
//! ```

use flowpin_memory::{Budget, Pool, Slab};
use flowpin_parser::slot_bytes;
use std::io;

/// An order that waits for its report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// When it was sent + 1; 0: no order.
    pub(super) time: u64,
    /// The hash of its ClOrdID.
    pub(super) id: u32,
}

type Set = [Entry; WAYS];

const WAYS: usize = 4;
const NO_ORDER: Entry = Entry { time: 0, id: 0 };

const _: () = assert!(size_of::<Set>() == 64);

/// Orders in sets, which their hashes select.
#[derive(Clone, Copy, Debug)]
struct Table<const SETS: usize> {
    sets: [Set; SETS],
    /// How many orders there are in all sets.
    len: u32,
}

impl<const SETS: usize> Table<SETS> {
    const EMPTY: Self = Self {
        sets: [[NO_ORDER; WAYS]; SETS],
        len: 0,
    };
    const COST: u64 = slot_bytes::<Self>() as u64;

    fn reserve(budget: &Budget) -> io::Result<Slab<Self>> {
        Slab::with_capacity(budget.capacity_of(Self::COST, 256).min(HANDLE_MAX))
    }

    fn view(&mut self) -> View<'_> {
        View {
            sets: &mut self.sets,
            len: &mut self.len,
        }
    }
}

/// A table of any size.
struct View<'a> {
    sets: &'a mut [Set],
    len: &'a mut u32,
}

impl View<'_> {
    fn set(&mut self, id: u32) -> Option<&mut Set> {
        // The number of sets is a power of two.
        let last = self.sets.len().saturating_sub(1);
        self.sets.get_mut((id >> 24) as usize & last)
    }

    /// The order with this hash.
    fn find(&mut self, id: u32) -> Option<&mut Entry> {
        let mut entries = self.set(id)?.iter_mut();
        entries.find(|entry| entry.time != 0 && entry.id == id)
    }

    /// Adds an order; false if its set is full.
    fn add(&mut self, new: Entry) -> bool {
        let free = self
            .set(new.id)
            .and_then(|set| set.iter_mut().find(|entry| entry.time == 0));
        let Some(free) = free else {
            return false;
        };
        *free = new;
        *self.len = self.len.saturating_add(1);
        true
    }

    /// Replaces the oldest order of its set.
    fn replace_oldest(&mut self, new: Entry) {
        let set = self.set(new.id);
        if let Some(oldest) = set.and_then(|set| set.iter_mut().min_by_key(|entry| entry.time)) {
            *oldest = new;
        }
    }
}

/// The table of a side: its handle plus one, and below it two bits for its size; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TableOf(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Small,
    Medium,
    Large,
}

/// Handles must leave two bits of a [`TableOf`].
const HANDLE_MAX: u32 = (1 << 30) - 2;

impl TableOf {
    fn new(size: Size, handle: u32) -> Self {
        Self(handle.saturating_add(1) << 2 | size as u32)
    }

    #[inline]
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    fn parts(self) -> Option<(Size, u32)> {
        let size = match self.0 & 3 {
            0 => Size::Small,
            1 => Size::Medium,
            _ => Size::Large,
        };
        Some((size, (self.0 >> 2).checked_sub(1)?))
    }
}

/// The tables of one worker.
#[derive(Debug)]
pub(super) struct Tables {
    small: Slab<Table<1>>,
    medium: Slab<Table<16>>,
    large: Slab<Table<256>>,
    budget: Budget,
}

impl Tables {
    pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.small);
        visit(&mut self.medium);
        visit(&mut self.large);
    }

    pub(super) fn new(budget: &Budget) -> io::Result<Self> {
        Ok(Self {
            small: Table::reserve(budget)?,
            medium: Table::reserve(budget)?,
            large: Table::reserve(budget)?,
            budget: budget.clone(),
        })
    }

    /// Whether an order waits in a table.
    pub(super) fn has(&mut self, table: TableOf, id: u32) -> bool {
        let view = self.view(table);
        view.is_some_and(|mut view| view.find(id).is_some())
    }

    /// Takes an order out of a side's table, which is freed with its last order. Returns when the
    /// order was sent + 1.
    pub(super) fn take(&mut self, table: &mut TableOf, shard: u8, id: u32) -> Option<u64> {
        let mut view = self.view(*table)?;
        let Entry { time, .. } = core::mem::replace(view.find(id)?, NO_ORDER);
        *view.len = view.len.saturating_sub(1);
        if *view.len == 0 {
            self.free(table, shard);
        }
        Some(time)
    }

    /// Adds an order to a side's table; false if an order was forgotten for lack of room.
    pub(super) fn put(&mut self, table: &mut TableOf, shard: u8, new: Entry) -> bool {
        if table.is_none() {
            *table = self.allocate(Size::Small, shard);
        }
        while !self.add(*table, new) {
            if !self.grow(table, shard) {
                if let Some(mut view) = self.view(*table) {
                    view.replace_oldest(new);
                }
                return false;
            }
        }
        true
    }

    fn add(&mut self, table: TableOf, new: Entry) -> bool {
        let view = self.view(table);
        view.is_some_and(|mut view| view.add(new))
    }

    /// Frees a side's table.
    #[inline]
    pub(super) fn free(&mut self, table: &mut TableOf, shard: u8) {
        if table.is_none() {
            return;
        }
        if let Some((size, handle)) = core::mem::take(table).parts() {
            match size {
                Size::Small => self.small.remove(handle),
                Size::Medium => self.medium.remove(handle),
                Size::Large => self.large.remove(handle),
            }
            self.budget.give_back(shard, cost(size));
        }
    }

    fn view(&mut self, table: TableOf) -> Option<View<'_>> {
        let (size, handle) = table.parts()?;
        match size {
            Size::Small => self.small.get_mut(handle).map(Table::view),
            Size::Medium => self.medium.get_mut(handle).map(Table::view),
            Size::Large => self.large.get_mut(handle).map(Table::view),
        }
    }

    /// An empty table; none if the shard has no memory for it.
    fn allocate(&mut self, size: Size, shard: u8) -> TableOf {
        if !self.budget.take(shard, cost(size)) {
            return TableOf::default();
        }
        let handle = match size {
            Size::Small => self.small.insert(Table::EMPTY),
            Size::Medium => self.medium.insert(Table::EMPTY),
            Size::Large => self.large.insert(Table::EMPTY),
        };
        if handle.is_none() {
            self.budget.give_back(shard, cost(size));
        }
        handle.map_or_else(TableOf::default, |handle| TableOf::new(size, handle))
    }

    /// Moves a side's orders to a larger table; false if there is none.
    #[cold]
    fn grow(&mut self, table: &mut TableOf, shard: u8) -> bool {
        let larger = match table.parts() {
            Some((Size::Small, _)) => Size::Medium,
            Some((Size::Medium, _)) => Size::Large,
            Some((Size::Large, _)) | None => return false,
        };
        let mut larger = self.allocate(larger, shard);
        if larger.is_none() {
            return false;
        }
        let mut number = 0usize;
        let set_of = |view: View<'_>, number| view.sets.get(number).copied();
        while let Some(set) = self.view(*table).and_then(|view| set_of(view, number)) {
            number = number.saturating_add(1);
            if let Some(mut view) = self.view(larger) {
                for entry in set.iter().filter(|entry| entry.time != 0) {
                    view.add(*entry);
                }
            }
        }
        core::mem::swap(table, &mut larger);
        self.free(&mut larger, shard);
        true
    }
}

const fn cost(size: Size) -> u64 {
    match size {
        Size::Small => Table::<1>::COST,
        Size::Medium => Table::<16>::COST,
        Size::Large => Table::<256>::COST,
    }
}
