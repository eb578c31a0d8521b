//! Which types may be read from memory that the kernel zero-filled.

/// Types for which all-zero bytes are a valid value.
///
/// Implemented for integers, `bool`, floats, and arrays and pairs of them. Crates that forbid
/// unsafe code cannot implement it for their own types, by intent: they store plain integers in
/// a [`crate::Reserved`], or their own types in a [`crate::Slab`], which needs no such promise
/// because it writes each value before anyone can read it.
///
/// # Safety
///
/// The implementor promises that all-zero bytes (padding included) are a valid value.
pub unsafe trait Zeroable: Copy {}

macro_rules! zeroable {
    ($($plain:ty),*) => {
        $(
            // SAFETY: the value 0 (`false`, 0.0) of this type is the all-zero bit pattern.
            unsafe impl Zeroable for $plain {}
        )*
    };
}

zeroable!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool
);

// SAFETY: each element is valid when zero, and an array has no other bytes.
unsafe impl<T: Zeroable, const N: usize> Zeroable for [T; N] {}
// SAFETY: both parts are valid when zero; padding has no value.
unsafe impl<A: Zeroable, B: Zeroable> Zeroable for (A, B) {}
