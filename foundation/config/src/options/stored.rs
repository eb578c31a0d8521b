//! Conversions between values of the plan and of the file.

use crate::{ByteSize, CpuList, Input, NetworkText, Span};
use flowpin_packet::Network;
use std::path::PathBuf;

/// A value of the plan that the file has as a `File`.
pub(crate) trait Stored<File>: Sized {
    fn from_file(value: File) -> Self;

    /// None where the plan has no value.
    fn to_file(&self) -> Option<File>;
}

impl<T: Clone> Stored<T> for T {
    fn from_file(value: T) -> Self {
        value
    }

    fn to_file(&self) -> Option<T> {
        Some(self.clone())
    }
}

impl<T: Clone> Stored<T> for Option<T> {
    fn from_file(value: T) -> Self {
        Some(value)
    }

    fn to_file(&self) -> Option<T> {
        self.clone()
    }
}

/// Numbers that carry their unit in the file.
macro_rules! with_unit {
    ($($unit:ident),*) => { $(
        impl Stored<$unit> for u64 {
            fn from_file(value: $unit) -> Self {
                value.0
            }

            fn to_file(&self) -> Option<$unit> {
                Some($unit(*self))
            }
        }

        impl Stored<$unit> for Option<u64> {
            fn from_file(value: $unit) -> Self {
                Some(value.0)
            }

            fn to_file(&self) -> Option<$unit> {
                self.map($unit)
            }
        }
    )* };
}

with_unit!(ByteSize, Span);

impl Stored<CpuList> for Vec<usize> {
    fn from_file(value: CpuList) -> Self {
        value.0
    }

    fn to_file(&self) -> Option<CpuList> {
        (!self.is_empty()).then(|| CpuList(self.clone()))
    }
}

impl Stored<Vec<NetworkText>> for Vec<Network> {
    fn from_file(value: Vec<NetworkText>) -> Self {
        value.into_iter().map(|network| network.0).collect()
    }

    fn to_file(&self) -> Option<Vec<NetworkText>> {
        Some(self.iter().copied().map(NetworkText).collect())
    }
}

impl Stored<Vec<PathBuf>> for Vec<Input> {
    fn from_file(value: Vec<PathBuf>) -> Self {
        value.iter().map(|path| Input::at(path)).collect()
    }

    fn to_file(&self) -> Option<Vec<PathBuf>> {
        Some(self.iter().map(Input::path).collect())
    }
}

/// A number of the plan that may have to be above 0.
pub(crate) trait IsZero {
    fn is_zero(&self) -> bool;
}

macro_rules! is_zero {
    ($($ty:ty: $zero:expr;)*) => { $(
        impl IsZero for $ty {
            fn is_zero(&self) -> bool {
                *self == $zero
            }
        }
    )* };
}

is_zero! { u16: 0; u32: 0; u64: 0; Option<u64>: Some(0); }
