//! Buffers that grow in one piece: slots of a few sizes, charged to the budget of their shard.

use crate::handles::Handles;
use crate::{Budget, Pool, Reserved, Zeroable};
use std::io;

/// A buffer in [`Buffers`]; the default one is empty and takes no memory.
///
/// A plain value: who copies it must not release both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// The slot plus one; 0: none.
    slot: u32,
    len: u32,
    size: u8,
}

impl Buffer {
    /// How many values it holds.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it holds none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The buffers of one worker. Each lies in a slot of the smallest size that holds it, and moves to
/// a larger one when it is full.
///
/// ```
/// use flowpin_memory::{Buffer, Buffers, Budget};
///
/// let budget = Budget::new(10_000);
/// let mut buffers = Buffers::<u8>::new(&budget, &[64, 1024])?;
/// let mut subject = Buffer::default();
/// assert!(buffers.extend(7, &mut subject, b"Re: "));
/// assert_eq!(budget.left(7), 10_000 - 68);
/// assert!(buffers.extend(7, &mut subject, &[b'x'; 100]));
/// assert_eq!(buffers.get(&subject).len(), 104);
/// assert!(!buffers.extend(7, &mut subject, &[b'x'; 1000]), "none is longer");
/// buffers.release(7, &mut subject);
/// assert!(budget.is_whole());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Buffers<T> {
    sizes: Box<[Slots<T>]>,
    budget: Budget,
}

/// The slots of one size.
#[derive(Debug)]
struct Slots<T> {
    values: Reserved<T>,
    handles: Handles,
    /// Values in a slot.
    len: usize,
}

impl<T> Slots<T> {
    fn take(&mut self) -> Option<u32>
    where
        T: Zeroable,
    {
        let (values, len) = (&mut self.values, self.len);
        self.handles
            .take(|room| values.reach(len.saturating_mul(room)))
    }

    /// What a slot takes, with its place in the list of free ones.
    const fn cost(&self) -> u64 {
        (self.len * size_of::<T>() + size_of::<u32>()) as u64
    }
}

impl<T: Zeroable> Pool for Slots<T> {
    fn touched_bytes(&self) -> u64 {
        u64::from(self.handles.touched()) * self.cost()
    }

    /// Only behind the last slot in use.
    fn trim(&mut self) {
        let end = self.handles.high_water() as usize * self.len;
        if self.handles.shrink().is_ok() {
            let begin = self.handles.high_water() as usize * self.len;
            // Refused: it stays resident, and will be overwritten.
            let _ = self.values.discard(begin..end);
        }
    }
}

impl<T: Zeroable> Buffers<T> {
    /// Reserves room for all that the budget allows, in slots of these sizes, the smallest first.
    ///
    /// # Errors
    ///
    /// Where the system refuses the address space.
    pub fn new(budget: &Budget, sizes: &[usize]) -> io::Result<Self> {
        let slots = |&len: &usize| {
            let count = budget.capacity_of((len * size_of::<T>()) as u64, SHARDS);
            let mut values = Reserved::growing(len.saturating_mul(count as usize))?;
            values.prefer_huge_pages_when_large();
            Ok(Slots {
                values,
                handles: Handles::new(count)?,
                len,
            })
        };
        Ok(Self {
            sizes: sizes.iter().map(slots).collect::<io::Result<_>>()?,
            budget: budget.clone(),
        })
    }

    /// The values of a buffer.
    #[inline]
    pub fn get(&self, buffer: &Buffer) -> &[T] {
        let slots = self.sizes.get(usize::from(buffer.size));
        let values = slots.and_then(|slots| {
            let start = slots.len * (buffer.slot.checked_sub(1)? as usize);
            slots.values.get(start..start + buffer.len())
        });
        values.unwrap_or_default()
    }

    /// The values of a buffer, to change them.
    #[inline]
    pub fn get_mut(&mut self, buffer: &Buffer) -> &mut [T] {
        let len = buffer.len();
        self.slot_mut(buffer).get_mut(..len).unwrap_or_default()
    }

    /// The whole slot of a buffer.
    #[inline]
    fn slot_mut(&mut self, buffer: &Buffer) -> &mut [T] {
        let slots = self.sizes.get_mut(usize::from(buffer.size));
        let values = slots.and_then(|slots| {
            let start = slots.len * (buffer.slot.checked_sub(1)? as usize);
            slots.values.get_mut(start..start + slots.len)
        });
        values.unwrap_or_default()
    }

    /// Appends values; false, and nothing is appended, if there is no memory for them or no slot is
    /// as large.
    #[inline]
    pub fn extend(&mut self, shard: u8, buffer: &mut Buffer, values: &[T]) -> bool {
        let (from, to) = (buffer.len(), buffer.len().saturating_add(values.len()));
        if let Some(room) = self.slot_mut(buffer).get_mut(from..to) {
            room.copy_from_slice(values);
        } else {
            if !self.grow(shard, buffer, to) {
                return false;
            }
            if let Some(room) = self.slot_mut(buffer).get_mut(from..to) {
                room.copy_from_slice(values);
            }
        }
        // No longer than a slot.
        buffer.len = u32::try_from(to).unwrap_or(buffer.len);
        true
    }

    /// Appends the values `from..to` of the buffer itself, as [`extend`](Self::extend) does.
    pub fn repeat(&mut self, shard: u8, buffer: &mut Buffer, from: usize, to: usize) -> bool {
        let end = buffer.len().saturating_add(to.saturating_sub(from));
        if from > to || to > buffer.len() || !self.grow(shard, buffer, end) {
            return false;
        }
        let len = buffer.len();
        self.slot_mut(buffer).copy_within(from..to, len);
        buffer.len = u32::try_from(end).unwrap_or(buffer.len);
        true
    }

    /// Shortens a buffer to `len` values; it moves to a smaller slot where one holds them.
    pub fn truncate(&mut self, shard: u8, buffer: &mut Buffer, len: usize) {
        if len == 0 {
            return self.release(shard, buffer);
        }
        if len < buffer.len() {
            buffer.len = u32::try_from(len).unwrap_or(buffer.len);
            if self.size_for(len) < Some(buffer.size) {
                // It fits where it is, if nowhere else.
                self.resize(shard, buffer, len);
            }
        }
    }

    /// Another buffer with the same values, in the smallest slot that holds them; none if there is
    /// no memory for it.
    pub fn copy(&mut self, shard: u8, buffer: &Buffer) -> Option<Buffer> {
        let mut copy = Buffer::default();
        if !self.grow(shard, &mut copy, buffer.len()) {
            return None;
        }
        self.copy_values(buffer, &copy);
        copy.len = buffer.len;
        Some(copy)
    }

    /// Gives a buffer's memory back; it is empty afterwards.
    #[inline]
    pub fn release(&mut self, shard: u8, buffer: &mut Buffer) {
        if let Some(slot) = buffer.slot.checked_sub(1)
            && let Some(slots) = self.sizes.get_mut(usize::from(buffer.size))
        {
            slots.handles.put_back(slot);
            self.budget.give_back(shard, slots.cost());
        }
        *buffer = Buffer::default();
    }

    /// Calls `visit` with the slots of each size.
    pub fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.sizes.iter_mut().for_each(|slots| visit(slots));
    }

    /// What a buffer takes of its shard's budget.
    pub fn cost(&self, buffer: &Buffer) -> u64 {
        let slots = self.sizes.get(usize::from(buffer.size));
        let slots = slots.filter(|_| buffer.slot != 0);
        slots.map_or(0, Slots::cost)
    }

    /// The smallest size that holds `len` values.
    fn size_for(&self, len: usize) -> Option<u8> {
        let size = self.sizes.iter().position(|slots| slots.len >= len)?;
        u8::try_from(size).ok()
    }

    /// Makes room for `len` values in all.
    fn grow(&mut self, shard: u8, buffer: &mut Buffer, len: usize) -> bool {
        let room = self.slot_mut(buffer).len();
        len <= room || self.resize(shard, buffer, len)
    }

    /// Moves a buffer to the smallest slot that holds `len` values, where there is memory for it.
    fn resize(&mut self, shard: u8, buffer: &mut Buffer, len: usize) -> bool {
        let Some(size) = self.size_for(len) else {
            return false;
        };
        let before = self.cost(buffer);
        let Some(slots) = self.sizes.get_mut(usize::from(size)) else {
            return false;
        };
        let after = slots.cost();
        if !self.budget.take(shard, after.saturating_sub(before)) {
            return false;
        }
        let Some(slot) = slots.take() else {
            self.budget.give_back(shard, after.saturating_sub(before));
            return false;
        };
        let new = Buffer {
            slot: slot.saturating_add(1),
            size,
            ..*buffer
        };
        self.copy_values(buffer, &new);
        if let Some(slot) = buffer.slot.checked_sub(1)
            && let Some(slots) = self.sizes.get_mut(usize::from(buffer.size))
        {
            slots.handles.put_back(slot);
        }
        self.budget.give_back(shard, before.saturating_sub(after));
        *buffer = new;
        true
    }

    /// Copies the values of a buffer to the slot of another one.
    fn copy_values(&mut self, from: &Buffer, to: &Buffer) {
        let (small, large) = (from.size.min(to.size), from.size.max(to.size));
        let range = |slots: &Slots<T>, slot: u32| {
            let start = slots.len * (slot.saturating_sub(1) as usize);
            start..start + from.len()
        };
        if from.slot == 0 || to.slot == 0 {
            return;
        }
        if small == large {
            if let Some(slots) = self.sizes.get_mut(usize::from(small)) {
                let (source, target) = (range(slots, from.slot), range(slots, to.slot));
                slots.values.copy_within(source, target.start);
            }
            return;
        }
        let Some((below, above)) = self.sizes.split_at_mut_checked(usize::from(large)) else {
            return;
        };
        let (Some(small), Some(large)) = (below.get_mut(usize::from(small)), above.first_mut())
        else {
            return;
        };
        let (source, target) = if from.size < to.size {
            (small, large)
        } else {
            (large, small)
        };
        let (source_range, target_range) = (range(source, from.slot), range(target, to.slot));
        if let Some(values) = source.values.get(source_range)
            && let Some(room) = target.values.get_mut(target_range)
        {
            room.copy_from_slice(values);
        }
    }
}

const SHARDS: u32 = 256;

#[cfg(test)]
mod tests {
    use super::{Buffer, Buffers};
    use crate::Budget;
    use proptest::prelude::*;

    /// A step of the model: which buffer, what is done with it, and with how much.
    fn step() -> impl Strategy<Value = (usize, u8, usize)> {
        (0usize..4, 0u8..6, 0usize..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Buffers are vectors, as long as there is memory; none of it stays in use.
        #[test]
        fn buffers_are_vectors(
            steps in prop::collection::vec(step(), 0..80),
            shard_bytes in prop::sample::select(vec![500u64, 3000, 100_000]),
        ) {
            let budget = Budget::new(shard_bytes);
            let mut buffers = Buffers::<u16>::new(&budget, &[8, 32, 256, 300]).unwrap();
            let mut all = [Buffer::default(); 4];
            let mut models: [Vec<u16>; 4] = Default::default();
            for (number, (which, what, len)) in steps.into_iter().enumerate() {
                let (buffer, model) = (&mut all[which], &mut models[which]);
                let left = budget.left(9);
                match what {
                    0..3 => {
                        let value = |at| (number * 7 + at) as u16;
                        let values: Vec<u16> = (0..len).map(value).collect();
                        if buffers.extend(9, buffer, &values) {
                            model.extend(&values);
                        } else {
                            prop_assert!(model.len() + len > 300 || left < 700);
                        }
                    }
                    3 if !model.is_empty() => {
                        let (from, to) = (len % model.len() / 2, len % model.len());
                        if buffers.repeat(9, buffer, from, to) {
                            model.extend_from_within(from..to);
                        }
                    }
                    4 => {
                        buffers.truncate(9, buffer, len);
                        model.truncate(len);
                    }
                    5 => {
                        if let Some(copy) = buffers.copy(9, buffer) {
                            buffers.release(9, buffer);
                            *buffer = copy;
                        }
                    }
                    _ => {}
                }
                for (buffer, model) in all.iter().zip(&models) {
                    prop_assert_eq!(buffers.get(buffer), model);
                    prop_assert_eq!(buffer.len(), model.len());
                }
                let used: u64 = all.iter().map(|buffer| buffers.cost(buffer)).sum();
                prop_assert_eq!(budget.left(9) + used, shard_bytes);
            }
            for buffer in &mut all {
                buffers.release(9, buffer);
            }
            prop_assert!(budget.is_whole());
        }
    }
}
