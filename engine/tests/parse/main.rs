//! Messages inside a run: replay of what came before the verdict, gaps, hand-over, shapes, formats.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod caps;
mod changes;
mod hearing;
mod shapes;
mod talk;
