//! Signature rules over whole runs: the same alerts for every shape and cut, next to what rules
//! must not change.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod both;
mod events;
mod excerpts;
mod facts;
mod hostile;
mod order;
mod sets;
mod settings;
mod shapes;
mod talk;
