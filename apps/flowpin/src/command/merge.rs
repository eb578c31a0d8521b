//! `flowpin merge`: one log of the files among which a run has divided it.

use super::print;
use crate::cli::MergeArgs;
use crate::exit::{Exit, Failure};
use crate::tell::tell;
use anyhow::anyhow;
use flowpin_disk::Existing;
use flowpin_words::number::things;

/// Runs `flowpin merge`.
pub(crate) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let existing = if args.force {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    let orders = flowpin_engine::divided_logs(&args.from).map_err(Failure::failed)?;
    let to = args.to.as_ref().unwrap_or(&args.from);
    std::fs::create_dir_all(to).map_err(|error| {
        let directory = to.display();
        Failure::failed(anyhow!("cannot use {directory} as log directory: {error}"))
    })?;
    let mut exit = Exit::Done;
    for order in orders {
        // One that does not fit says nothing of the others.
        match flowpin_engine::assemble(&order, to, existing) {
            Ok(made) => {
                let (path, records) = (made.path.display(), things(made.records, "record"));
                print(&format!("{path}: {records} of {} files\n", made.files))?;
            }
            Err(error) => {
                tell(format_args!("flowpin: {error}"));
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}
