//! What a run stands on: what it reads, and that nothing of it, or of an earlier run, is destroyed
//! where it writes. Looked at before the first packet.

use crate::RunError;
use crate::output::messages;
use flowpin_capture::Source;
use flowpin_config::{Format, Plan};
use flowpin_disk::{Existing, Reads, check_folder, remove};
use flowpin_output::{Disk, earlier_extracted};
use flowpin_pattern::l7;
use std::path::{Path, PathBuf};

/// All files that a run reads.
pub(crate) fn reads(plan: &Plan, source: &Source) -> Reads {
    let mut reads = Reads::standard_input();
    for capture in &source.report().files {
        reads.add_path(&capture.path);
    }
    // A file of a folder that is no pattern, or cannot be listed, is not read.
    let patterns = l7::files(&plan.identify.patterns).unwrap_or_default();
    let others = (plan.settings_file.iter())
        .chain(&plan.parse.grammars)
        .chain(&plan.parse.fix_dictionaries)
        .chain(&patterns);
    others.for_each(|path| reads.add_path(path));
    reads
}

/// What `--force` means.
pub(crate) const fn existing(plan: &Plan) -> Existing {
    if plan.output.replace {
        Existing::Replace
    } else {
        Existing::Refuse
    }
}

/// Where logs are written.
pub(crate) fn disk(plan: &Plan, reads: &Reads) -> Disk {
    Disk::new(&messages::all_schemas(plan), reads.clone())
}

/// Whether there are folders where folders are to be. Looked at before any input, which may wait.
///
/// # Errors
/// Something else is there.
pub(crate) fn check_folders(plan: &Plan) -> Result<(), RunError> {
    let output = &plan.output;
    let writes = output.formats.iter().any(|format| *format != Format::None);
    let logs = (writes && !output.to_stdout).then_some(&output.dir);
    for folder in logs.into_iter().chain(&plan.files.extract) {
        check_folder(folder)?;
    }
    Ok(())
}

/// Whether a run may write where it is to write. Changes nothing.
///
/// # Errors
/// What it would destroy.
pub(crate) fn check(plan: &Plan, reads: &Reads) -> Result<(), RunError> {
    disk(plan, reads).check(&plan.output)?;
    if let Some(folder) = &plan.files.extract {
        extracted(plan, folder, reads)?;
    }
    Ok(())
}

/// Makes the folder for files of connections, without those of an earlier run.
///
/// # Errors
/// As [`check`]; what the system says.
pub(crate) fn clear_extracted(plan: &Plan, reads: &Reads) -> Result<(), RunError> {
    let Some(folder) = &plan.files.extract else {
        return Ok(());
    };
    let failed = |path: PathBuf, source| RunError::StreamWrite { path, source };
    let earlier = extracted(plan, folder, reads)?;
    remove(&earlier).map_err(|(path, source)| failed(path, source))?;
    std::fs::create_dir_all(folder).map_err(|source| failed(folder.clone(), source))
}

fn extracted(plan: &Plan, folder: &Path, reads: &Reads) -> Result<Vec<PathBuf>, RunError> {
    Ok(earlier_extracted(folder, existing(plan), reads)?)
}
