//! Patterns: flex's regular expressions.

mod class;
mod node;
mod parse;
mod set;

pub(crate) use node::{Node, Pattern};
pub(crate) use parse::{Definition, Parser, is_name};
pub(crate) use set::Set;
