//! One message: where it ends, its fields, and what belongs together in it.

pub(crate) mod fields;
pub(crate) mod frame;
pub(crate) mod groups;
pub(crate) mod printed;
pub(crate) mod slots;
