//! `flowpin doctor`: what on this system costs packets.

use super::print;
use crate::cli::DoctorArgs;
use crate::doctor::{self, Part};
use crate::exit::{Exit, Failure};
use crate::summary;

/// Runs `flowpin doctor`.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    let names = match args.interfaces.is_empty() {
        true => flowpin_socket::interfaces()
            .into_iter()
            .filter(|name| name != "lo")
            .collect(),
        false => args.interfaces.clone(),
    };
    let mut parts = vec![doctor::system()];
    for name in &names {
        let part: Part = doctor::interface(name).map_err(Failure::usage)?;
        parts.push(part);
    }
    let text = match args.json {
        true => serde_json::to_string_pretty(&parts).map_err(Failure::failed)? + "\n",
        false => doctor::text(&parts, summary::width(false)),
    };
    print(&text)?;
    Ok(match doctor::has_problem(&parts) {
        true => Exit::Failed,
        false => Exit::Done,
    })
}
