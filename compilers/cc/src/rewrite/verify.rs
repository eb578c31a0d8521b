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
    let units = model.units.iter().map(|unit| {
        let mut flags = super::output::flags(model, &unit.flags, &unit.directory);
        flags.push(format!("-I{}", folder.join("flowpin").display()));
        flags.push("-Werror=incompatible-function-pointer-types".to_owned());
        SourceUnit {
            file: folder.join(model.path(unit.file)),
            directory: folder.to_owned(),
            flags,
        }
    });
    let sources = Sources {
        units: units.collect(),
    };
    let again = collect(&sources)?;
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

const OWN: &[u8] = b"flowpin_own(";
