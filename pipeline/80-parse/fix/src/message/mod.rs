//! One message: its end, its fields and its repeating groups.

pub(crate) mod digits;
pub(crate) mod fields;
pub(crate) mod frame;
pub(crate) mod groups;
pub(crate) mod printed;
pub(crate) mod slots;
