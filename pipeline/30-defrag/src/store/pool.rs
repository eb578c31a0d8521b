//! Things by number, kept for reuse.

/// No number.
pub(crate) const NONE: u32 = u32::MAX;

/// A pool. What is given back stays for the next taker until it is dropped.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    // Boxed: growing the list must not copy what it holds.
    items: Vec<Option<Box<T>>>,
    /// Numbers of items that nobody uses.
    idle: Vec<u32>,
    /// Numbers without an item.
    holes: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            idle: Vec::new(),
            holes: Vec::new(),
        }
    }
}

impl<T> Pool<T> {
    /// An item as it was given back, or a new one.
    pub(crate) fn take(&mut self, new: impl FnOnce() -> T) -> u32 {
        if let Some(number) = self.idle.pop() {
            return number;
        }
        let item = Some(Box::new(new()));
        if let Some(number) = self.holes.pop() {
            if let Some(place) = self.items.get_mut(number as usize) {
                *place = item;
            }
            return number;
        }
        let number = u32::try_from(self.items.len()).unwrap_or(NONE);
        self.items.push(item);
        number
    }

    pub(crate) fn give_back(&mut self, number: u32) {
        self.idle.push(number);
    }

    /// Frees the memory of one idle item.
    pub(crate) fn drop_idle(&mut self) {
        if let Some(number) = self.idle.pop() {
            if let Some(place) = self.items.get_mut(number as usize) {
                *place = None;
            }
            self.holes.push(number);
        }
    }

    pub(crate) const fn idle_count(&self) -> usize {
        self.idle.len()
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.items.get(number as usize)?.as_deref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(number as usize)?.as_deref_mut()
    }
}
