//! Files: only those that a run writes, and what it reads of the system (landlock(7)).

use crate::ConfineError;
use landlock::{
    ABI, Access, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus,
};
use std::path::PathBuf;

/// Restricts this thread, and those that it starts. False if the system cannot.
pub(crate) fn restrict(written: &[PathBuf], read: &[PathBuf]) -> Result<bool, ConfineError> {
    restrict_to(written, read).map_err(|error| ConfineError::Refused(error.to_string()))
}

fn restrict_to(written: &[PathBuf], read: &[PathBuf]) -> Result<bool, RulesetError> {
    // What older systems do not know is left out there.
    let all = AccessFs::from_all(NEWEST);
    let mut rules = Ruleset::default().handle_access(all)?.create()?;
    for folder in written {
        rules = add(rules, folder, all & !AccessFs::Execute)?;
    }
    for path in READ.map(PathBuf::from).iter().chain(read) {
        rules = add(
            rules,
            path,
            AccessFs::from_read(NEWEST) & !AccessFs::Execute,
        )?;
    }
    for path in NAMES.map(PathBuf::from) {
        rules = add(rules, &path, AccessFs::ReadFile.into())?;
    }
    let status = rules.restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// Of a path that is there.
fn add(
    rules: landlock::RulesetCreated,
    path: &PathBuf,
    access: landlock::BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(opened) => rules.add_rule(PathBeneath::new(opened, access)),
        // What is not there is out of reach.
        Err(_) => Ok(rules),
    }
}

/// The newest rules that are asked for.
const NEWEST: ABI = ABI::V5;

/// Names of ports and protocols, which filters may have: a file each.
const NAMES: [&str; 3] = ["/etc/services", "/etc/protocols", "/etc/nsswitch.conf"];

/// Memory and counters of the process, processors, time zones.
const READ: [&str; 3] = ["/proc", "/sys/devices/system/cpu", "/usr/share/zoneinfo"];
