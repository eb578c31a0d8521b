//! Lists of values whose memory is used again.

use flowpin_record::Value;

/// Lists that are filled for one record and emptied behind it.
#[derive(Debug)]
pub(crate) struct Lists<const N: usize>([Vec<Value<'static>>; N]);

impl<const N: usize> Default for Lists<N> {
    fn default() -> Self {
        Self(core::array::from_fn(|_| Vec::with_capacity(LEN_FIRST)))
    }
}

impl<const N: usize> Lists<N> {
    /// Empty lists, to be given back.
    pub(crate) fn lend<'a>(&mut self) -> [Vec<Value<'a>>; N] {
        let lists = core::mem::replace(&mut self.0, [const { Vec::new() }; N]);
        lists.map(emptied)
    }

    /// Takes lists back.
    pub(crate) fn take_back(&mut self, lists: [Vec<Value<'_>>; N]) {
        self.0 = lists.map(emptied);
    }
}

/// The same memory for values that live otherwise: collecting an emptied vector of the same
/// layout takes its allocation over.
fn emptied<'to>(mut list: Vec<Value<'_>>) -> Vec<Value<'to>> {
    list.clear();
    list.into_iter().map(|_| Value::Unset).collect()
}

const LEN_FIRST: usize = 64;

#[cfg(test)]
mod tests {
    use super::Lists;
    use flowpin_record::Value;

    /// A list's memory is used again.
    #[test]
    fn lists_keep_their_memory() {
        let mut lists = Lists::<2>::default();
        let mut lent = lists.lend();
        lent[0].extend([Value::Bytes(b"x"); 100]);
        let capacity = lent[0].capacity();
        lists.take_back(lent);
        let lent = lists.lend();
        assert!(lent[0].is_empty() && lent[0].capacity() == capacity);
    }
}
