//! Lists of values whose memory is used again.

use crate::Value;

/// Lists of values that are filled for one record and emptied behind it: columns of lists.
///
/// ```
/// use flowpin_record::{Value, ValueLists};
///
/// let mut lists = ValueLists::<2>::default();
/// let name = String::from("www");
/// let [mut names, ttls] = lists.lend();
/// names.push(Value::Text(&name));
/// assert_eq!(Value::List(&names), Value::List(&[Value::Text("www")]));
/// lists.take_back([names, ttls]);
/// ```
#[derive(Debug)]
pub struct ValueLists<const N: usize>([Vec<Value<'static>>; N]);

impl<const N: usize> Default for ValueLists<N> {
    fn default() -> Self {
        Self(core::array::from_fn(|_| Vec::with_capacity(LEN_FIRST)))
    }
}

impl<const N: usize> ValueLists<N> {
    /// Empty lists, to be given back.
    pub fn lend<'a>(&mut self) -> [Vec<Value<'a>>; N] {
        let lists = core::mem::replace(&mut self.0, [const { Vec::new() }; N]);
        lists.map(emptied)
    }

    /// Takes lists back.
    pub fn take_back(&mut self, lists: [Vec<Value<'_>>; N]) {
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
    use super::ValueLists;
    use crate::Value;

    /// A list's memory is used again.
    #[test]
    fn lists_keep_their_memory() {
        let mut lists = ValueLists::<2>::default();
        let mut lent = lists.lend();
        lent[0].extend([Value::Bytes(b"x"); 100]);
        let capacity = lent[0].capacity();
        lists.take_back(lent);
        let lent = lists.lend();
        assert!(lent[0].is_empty() && lent[0].capacity() == capacity);
    }
}
