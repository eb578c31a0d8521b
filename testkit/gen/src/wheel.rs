//! Who sends when: a wheel of slots, each a list of connections.
//!
//! Constant time for any number of connections, which a heap is not.

/// What ends a list.
const NONE: u32 = u32::MAX;

/// A wheel of as many slots as the longest wait needs.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// First connection of each slot.
    slots: Vec<u32>,
    /// The next of each connection in its slot.
    next: Vec<u32>,
    mask: usize,
}

impl Wheel {
    /// For waits of up to `wait_max` slots.
    pub(crate) fn new(wait_max: u64, capacity: usize) -> Self {
        let count = usize::try_from(wait_max + 2).unwrap_or(1 << 24);
        let count = count.next_power_of_two().min(1 << 24);
        Self {
            slots: vec![NONE; count],
            next: Vec::with_capacity(capacity),
            mask: count - 1,
        }
    }

    /// The longest wait.
    pub(crate) fn wait_max(&self) -> u64 {
        self.mask as u64
    }

    /// Puts a connection into a slot, ahead of those that are there.
    #[inline]
    pub(crate) fn put(&mut self, slot: u64, index: u32) {
        let Some(first) = self.slots.get_mut(slot as usize & self.mask) else {
            return;
        };
        let at = index as usize;
        if at >= self.next.len() {
            self.next.resize(at + 1, NONE);
        }
        if let Some(next) = self.next.get_mut(at) {
            *next = *first;
            *first = index;
        }
    }

    /// Takes all connections of a slot: the first of them.
    #[inline]
    pub(crate) fn take(&mut self, slot: u64) -> Option<u32> {
        let first = self.slots.get_mut(slot as usize & self.mask)?;
        let taken = core::mem::replace(first, NONE);
        (taken != NONE).then_some(taken)
    }

    /// The connection behind another in the list that was taken. Ask before that one is put
    /// elsewhere.
    #[inline]
    pub(crate) fn behind(&self, index: u32) -> Option<u32> {
        let next = self.next.get(index as usize).copied()?;
        (next != NONE).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(wheel: &mut Wheel, slot: u64) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = wheel.take(slot);
        while let Some(index) = at {
            at = wheel.behind(index);
            found.push(index);
        }
        found
    }

    /// Every connection comes up in its own slot, once.
    #[test]
    fn connections_come_up_when_they_were_put() {
        let mut wheel = Wheel::new(100, 4);
        for (slot, index) in [(7, 0), (9, 1), (7, 2), (106, 3)] {
            wheel.put(slot, index);
        }
        assert_eq!(all(&mut wheel, 7), [2, 0]);
        assert!(all(&mut wheel, 7).is_empty());
        assert_eq!(all(&mut wheel, 9), [1]);
        assert_eq!(all(&mut wheel, 106), [3]);
    }
}
