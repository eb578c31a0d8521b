//! Conversions to the values of records.

use flowpin_record::Value;

/// Returns a list, or an unset value if it is empty.
pub(super) fn listed<'a>(list: &'a [Value<'a>]) -> Value<'a> {
    if list.is_empty() {
        Value::Unset
    } else {
        Value::List(list)
    }
}

/// Returns a flag; flags that are not set are left out.
pub(super) fn flag(is_set: bool) -> Value<'static> {
    if is_set {
        Value::Bool(true)
    } else {
        Value::Unset
    }
}

/// Up to four lower-case digits without leading zeros.
pub(super) struct Hexadecimal {
    digits: [u8; 4],
    first: usize,
}

impl Hexadecimal {
    pub(super) fn of(number: u16) -> Self {
        let [high, low] = number.to_be_bytes();
        let digits = [high >> 4, high & 15, low >> 4, low & 15];
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        let character = |digit: u8| match digit {
            0..=9 => b'0'.saturating_add(digit),
            _ => b'a'.saturating_add(digit.saturating_sub(10)),
        };
        Self {
            digits: digits.map(character),
            first: leading.min(3),
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        self.digits.get(self.first..).unwrap_or_default()
    }
}
