//! The files of a run, checked before the first packet: nothing that it reads, and nothing of an
//! earlier run, is destroyed by what it writes.

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
    let mut reads = reads_beside(plan);
    for capture in &source.report().files {
        reads.add_path(&capture.path);
    }
    reads
}

/// All files that a run reads beside its captures; and standard output, where its summary goes.
pub(crate) fn reads_beside(plan: &Plan) -> Reads {
    let mut reads = Reads::standard_input();
    reads.add_stdout();
    // A folder that cannot be listed has no patterns that are read.
    let patterns = l7::files(&plan.identify.patterns).unwrap_or_default();
    let others = (plan.settings_file.iter())
        .chain(&plan.filter_file)
        .chain(&plan.parse.grammars)
        .chain(&plan.parse.fix_dictionaries)
        .chain(&plan.parse.roots)
        .chain(&plan.output.kafka_config)
        .chain(&plan.rules.files)
        .chain(&plan.rules.indicators)
        .chain(&plan.rules.suricata_yaml)
        .chain(&plan.rules.reputation_categories)
        .chain(&plan.rules.reputation)
        .chain(&plan.live.read_again)
        .chain(&patterns);
    others.for_each(|path| reads.add_file(path));
    reads
}

/// What `--force` allows.
pub(crate) const fn existing(plan: &Plan) -> Existing {
    if plan.output.replace {
        Existing::Replace
    } else {
        Existing::Refuse
    }
}

/// The disk as the destination of logs.
pub(crate) fn disk(plan: &Plan, reads: &Reads) -> Disk {
    Disk::new(&messages::all_schemas(plan), reads.clone())
}

/// Checks that no output folder is something else. Before any input is opened, as that may wait.
///
/// # Errors
/// The first path that is not a folder.
pub(crate) fn check_folders(plan: &Plan) -> Result<(), RunError> {
    let output = &plan.output;
    let writes = output.formats.iter().any(|format| *format != Format::None);
    if let Some(folder) = output.folder().filter(|_| writes) {
        check_folder(&folder)?;
    }
    check_extract_folder(plan)
}

/// Checks that the folder for extracted files is not something else.
///
/// # Errors
/// It is no folder.
pub(crate) fn check_extract_folder(plan: &Plan) -> Result<(), RunError> {
    if let Some(folder) = &plan.files.extract {
        check_folder(folder)?;
    }
    Ok(())
}

/// Checks that a run may write its outputs. Changes nothing.
///
/// # Errors
/// The first file that it would destroy.
pub(crate) fn check(plan: &Plan, reads: &Reads) -> Result<(), RunError> {
    disk(plan, reads).check(&plan.output)?;
    check_extracted(plan, reads)
}

/// Checks that a run may write the files that it extracts. Changes nothing.
///
/// # Errors
/// The first file that it would destroy.
pub(crate) fn check_extracted(plan: &Plan, reads: &Reads) -> Result<(), RunError> {
    if let Some(folder) = &plan.files.extract {
        extracted(plan, folder, reads)?;
    }
    Ok(())
}

/// The folders in which a run makes files.
pub(crate) fn written_folders(plan: &Plan) -> Vec<PathBuf> {
    let output = &plan.output;
    let logs = output.folder();
    let files = [&plan.live.record, &output.stats]
        .into_iter()
        .flatten()
        .map(folder_of);
    let extracted = plan.files.extract.clone();
    let spool = output.spool.clone();
    let named = extracted.into_iter().chain(spool);
    logs.into_iter().chain(files).chain(named).collect()
}

/// The folders whose files are read again while a run goes on.
pub(crate) fn read_folders(plan: &Plan) -> Vec<PathBuf> {
    let rules = &plan.rules;
    let files = (plan.settings_file.iter())
        .chain(&plan.filter_file)
        .chain(&rules.files)
        .chain(&rules.indicators)
        .chain(&plan.live.read_again);
    let mut folders: Vec<_> = files
        .map(|path| match path.is_dir() {
            true => path.clone(),
            false => folder_of(path),
        })
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The folder that a file lies in.
fn folder_of(path: impl AsRef<Path>) -> PathBuf {
    match path.as_ref().parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Creates the folder for extracted files, and removes those of an earlier run.
///
/// # Errors
/// As [`check`], and the system's errors.
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
