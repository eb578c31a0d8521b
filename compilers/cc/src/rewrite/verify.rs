//! The output is read once more: no use of a variable that became private may be left.

use super::Refusal;
use crate::collect::{ReadError, collect};
use crate::model::{Access, Model};
use crate::program::{SourceUnit, Sources};
use std::collections::HashSet;
use std::path::Path;

/// Reads what was written below `folder`, and compares.
///
/// # Errors
/// The output does not compile, which is an error of this compiler or of the flags.
pub fn verify(model: &Model, folder: &Path, private: &[String]) -> Result<Vec<Refusal>, ReadError> {
    let strict = Sources {
        units: unit_sources(model, folder, &[STRICT]),
    };
    let again = match collect(&strict) {
        Err(ReadError::Compile { place, text }) if reserve(&place).is_some() => {
            let what = format!("#pragma flowpin pool: {text}");
            let place = reserve(&place).unwrap_or_default();
            return Ok(vec![Refusal::new(place, what)]);
        }
        // A program may pass on functions of other types itself: then that is no fault of ours.
        Err(ReadError::Compile { .. }) if !is_strict(model) => collect(&Sources {
            units: unit_sources(model, folder, &[]),
        })?,
        read => read?,
    };
    let texts = crate::model::Texts::read(&again.files).unwrap_or_default();
    let names: HashSet<&str> = private.iter().map(String::as_str).collect();
    let mut left = Vec::new();
    for one in &again.references {
        let name = again.global_name(one.global);
        let Some(function) = one.inside else {
            continue;
        };
        let function = &again.function(function).name;
        let is_ours =
            function.starts_with("flowpin_init_") || function.starts_with("flowpin_reduce_");
        // `flowpin_own` names the variable for its type only.
        let is_typed = one.site.spelled.is_some_and(|place| {
            let start = place.offset.saturating_sub(OWN.len());
            texts.between(place.file, start, place.offset) == OWN
        });
        let is_ours = is_ours || is_typed;
        if names.contains(name.as_str()) && one.access != Access::Unevaluated && !is_ours {
            let what = format!("{function} still uses the `{name}` that all cores have");
            left.push(Refusal::new(again.at(one.site.expanded), what));
        }
    }
    Ok(left)
}

/// Where the line `pool` is of which an error's place was made: its type, and its count, are the
/// program's own words.
fn reserve(place: &str) -> Option<String> {
    let (file, line) = place.rsplit_once(':')?;
    let text = std::fs::read_to_string(file).ok()?;
    let made = text
        .lines()
        .nth(line.parse::<usize>().ok()?.checked_sub(1)?)?;
    let (_, number) = made.split_once("/* line ")?;
    let number = number.strip_suffix(" */")?;
    made.contains("flowpin_reserve(sizeof(")
        .then(|| format!("{file}:{number}"))
}

/// A context where none is expected is an error.
const STRICT: &str = "-Werror=incompatible-function-pointer-types";

/// Whether the program itself passes on no function of another type than is asked for.
fn is_strict(model: &Model) -> bool {
    let units = model.units.iter().map(|unit| SourceUnit {
        file: model.files[unit.file].path.clone(),
        directory: unit.directory.clone(),
        flags: unit
            .flags
            .iter()
            .cloned()
            .chain([STRICT.to_owned()])
            .collect(),
    });
    let sources = Sources {
        units: units.collect(),
    };
    collect(&sources).is_ok()
}

/// The units of what was written below `folder`.
pub(crate) fn unit_sources(model: &Model, folder: &Path, more: &[&str]) -> Vec<SourceUnit> {
    let units = model.units.iter().map(|unit| {
        let mut flags = super::output::flags(model, &unit.flags, &unit.directory);
        flags.push(format!("-I{}", folder.join("flowpin").display()));
        flags.extend(more.iter().map(|flag| (*flag).to_owned()));
        SourceUnit {
            file: folder.join(model.path(unit.file)),
            directory: folder.to_owned(),
            flags,
        }
    });
    units.collect()
}

const OWN: &[u8] = b"flowpin_own(";
