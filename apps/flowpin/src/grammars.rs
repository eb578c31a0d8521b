//! Grammars from files: compiled, reported if refused, added to the plan.

use crate::exit::{Failure, origin};
use flowpin_config::Plan;
use flowpin_grammar::{Limits, Others, compile};
use flowpin_words::printable;

/// Compiles the plan's grammars. Warnings go to standard error.
///
/// # Errors
/// A file that cannot be read, a grammar that is refused, with its place.
pub(crate) fn load(plan: &mut Plan) -> Result<(), Failure> {
    let paths = plan.parse.grammars.clone();
    if paths.is_empty() {
        return Ok(());
    }
    let others = Others {
        records: flowpin_engine::record_names(),
        refuses: flowpin_engine::refused_expression,
        finds: flowpin_engine::finds,
    };
    let source = origin(plan, ["parse", "grammars"]);
    for path in &paths {
        let file = path.display().to_string();
        let refused = |why: String| Failure::usage(anyhow::anyhow!(why)).at(source.clone());
        let text = flowpin_disk::read_given(path);
        let text = text.map_err(|error| refused(format!("{file}: {error}")))?;
        let compiled = compile(&file, &text, &Limits::default());
        let done = compiled
            .map_err(|why| why.to_string())
            .and_then(|compiled| {
                let notes = compiled.notes(&file, plan, &others);
                let done = compiled.put(plan, &others);
                done.map_err(|why| why.to_string()).map(|()| notes)
            });
        let notes = done.map_err(|why| {
            // In several lines, which the error in one line would lose.
            tell(&why);
            refused(format!("{file}: the grammar is refused, see above"))
        })?;
        for note in notes {
            tell(&note);
        }
    }
    Ok(())
}

/// To standard error, without control characters: a grammar may be hostile.
fn tell(text: &str) {
    crate::tell::tell(printable(text.as_bytes()));
}
