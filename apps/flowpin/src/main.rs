//! The flowpin command.
fn main() {}
