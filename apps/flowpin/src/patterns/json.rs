//! Tested patterns as JSON.

use super::{ends, transport};
use core::net::IpAddr;
use flowpin_engine::{Found, PatternTrial, PatternsReport};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The whole report as one document.
pub(crate) fn trial_json(report: &PatternsReport) -> serde_json::Result<String> {
    let together = &report.together;
    let document = Document {
        patterns: report.patterns.iter().map(Pattern::of).collect(),
        refused: report
            .refused
            .iter()
            .map(|one| Refused {
                file: &one.file,
                reason: &one.reason,
                advice: one.advice,
            })
            .collect(),
        together: Size {
            automata: together.automata,
            states: together.states,
            bytes: together.bytes,
        },
        connections: report.connections,
        untried: report.untried,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

#[derive(Serialize)]
struct Document<'a> {
    patterns: Vec<Pattern<'a>>,
    refused: Vec<Refused<'a>>,
    together: Size,
    connections: u64,
    untried: u64,
}

#[derive(Serialize)]
struct Size {
    automata: usize,
    states: usize,
    bytes: usize,
}

#[derive(Serialize)]
struct Refused<'a> {
    file: &'a Path,
    reason: &'a str,
    advice: &'a str,
}

#[derive(Serialize)]
struct Pattern<'a> {
    file: &'a Path,
    line: usize,
    name: &'a str,
    verdicts: bool,
    anchored: bool,
    /// Probability of a match in 4 KiB.
    random_bytes: f64,
    english_text: f64,
    states: usize,
    bytes: usize,
    connections: u64,
    bytes_read: u64,
    matched: u64,
    decided_by_built_in: &'a BTreeMap<&'static str, u64>,
    is_built_in_name: bool,
    same_name: Vec<&'a Path>,
    matches: Vec<Match>,
}

#[derive(Serialize)]
struct Match {
    uid: String,
    flow_id: u64,
    proto: String,
    src_ip: IpAddr,
    src_port: u16,
    dest_ip: IpAddr,
    dest_port: u16,
    from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    datagram: Option<u8>,
    bytes: u64,
    at_end: bool,
    app_proto: Option<&'static str>,
}

impl<'a> Pattern<'a> {
    fn of(one: &'a PatternTrial) -> Self {
        Self {
            file: &one.file,
            line: one.line,
            name: &one.name,
            verdicts: !one.is_hint,
            anchored: one.anchored,
            random_bytes: one.on_random,
            english_text: one.on_english,
            states: one.states,
            bytes: one.bytes,
            connections: one.attempts,
            bytes_read: one.bytes_read,
            matched: one.matched,
            decided_by_built_in: &one.decided,
            is_built_in_name: one.is_built_in,
            same_name: one.namesakes.iter().map(|path| path.as_path()).collect(),
            matches: one.found.iter().map(Match::of).collect(),
        }
    }
}

impl Match {
    fn of(found: &Found) -> Self {
        let (client, server) = ends(found);
        Self {
            uid: found.record.uid.to_string(),
            flow_id: found.record.uid.flow_id(),
            proto: transport(found).to_uppercase(),
            src_ip: client.ip(),
            src_port: client.port(),
            dest_ip: server.ip(),
            dest_port: server.port(),
            from: if found.to_server { "client" } else { "server" },
            datagram: found.datagram,
            bytes: found.bytes,
            at_end: found.at_end,
            app_proto: found.record.app.map(|app| app.name),
        }
    }
}
