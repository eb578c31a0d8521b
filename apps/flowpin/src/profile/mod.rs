//! A profile as table, JSON and picture; a saved one read back.

mod json;
mod need;
mod picture;
mod table;

pub(crate) use json::{json, rule};
pub(crate) use need::{need_json, need_text};
pub(crate) use picture::picture;
pub(crate) use table::table;

use flowpin_config::{Cut, Named};
use flowpin_engine::{Mapping, Side};

/// A mapping, as in the papers and as an option.
fn shape(mapping: &Mapping) -> String {
    format!("{}x{}", mapping.stages, mapping.ways)
}

/// The word for `--cut`.
fn cut(cut: Cut) -> &'static str {
    let found = Cut::ALL.iter().find(|(known, ..)| *known == cut);
    found.map_or("", |(_, name, _)| name)
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Input => "input",
        Side::Worker => "worker",
        Side::Output => "output",
    }
}
