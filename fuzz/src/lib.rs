//! What is fuzzed, and what fuzzing starts from.
//!
//! A target is a function in the crate it tests. Two engines drive them: libFuzzer (through
//! `cargo fuzz`, nightly), which sees the code's branches, and `mutate` (any tool chain), which
//! does not. `fuzz/run` takes the better one that there is.

#![forbid(unsafe_code)]

mod fragments;
mod segments;

pub use fragments::fuzz_defrag_oracle;
pub use segments::fuzz_reassembly_oracle;

use flowpin_capture::{Options, Source};
use flowpin_packet::Piece;
use std::path::{Path, PathBuf};

/// A target: any bytes may go in; a broken law comes out as a panic.
pub type Target = fn(&[u8]);

/// All targets, by name.
pub fn targets() -> Vec<(&'static str, Target)> {
    let mut targets: Vec<(&'static str, Target)> = vec![
        ("capture", flowpin_capture::fuzz_capture),
        ("defrag", flowpin_defrag::fuzz_defrag),
        ("defrag_oracle", fuzz_defrag_oracle),
        ("dispatch", flowpin_dispatch::fuzz_dispatch),
        ("dns", flowpin_dns::fuzz_dns),
        ("fix", flowpin_fix::fuzz_fix),
        ("ftp", flowpin_ftp::fuzz_ftp),
        ("flow", flowpin_flow::fuzz_flow),
        ("gopher", flowpin_gopher::fuzz_gopher),
        ("ssh", flowpin_ssh::fuzz_ssh),
        ("http", flowpin_http::fuzz_http),
        ("grammar", flowpin_grammar::fuzz_grammar),
        ("identify", flowpin_identify::fuzz_identify),
        ("nut", flowpin_nut::fuzz_nut),
        ("tls", flowpin_tls::fuzz_tls),
        ("pattern", flowpin_pattern::fuzz_pattern),
        ("pattern_set", flowpin_pattern::fuzz_pattern_set),
        ("portscan", flowpin_portscan::fuzz_portscan),
        ("rules", flowpin_rules::fuzz_rules),
        ("scan", flowpin_grammar::fuzz_scan),
        ("text", flowpin_text::fuzz_text),
        ("websocket", flowpin_websocket::fuzz_websocket),
        ("reassembly", flowpin_reassembly::fuzz_reassembly),
        ("reassembly_oracle", fuzz_reassembly_oracle),
    ];
    targets.extend(flowpin_wire::fuzz::TARGETS);
    targets
}

/// Inputs to start from: kept finds, and parts of the bundled captures.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = files_in(&folder().join("regressions").join(target));
    let captures = files_in(&folder().join("../testkit/captures"));
    if target == "grammar" {
        let grammars = folder().join("../pipeline/80-parse/grammars");
        seeds.extend(files_in(&grammars));
        return seeds;
    }
    if target == "capture" {
        // Whole files; the beginning of the longer ones.
        seeds.extend(captures.into_iter().map(|capture| head(&capture, 4096)));
        return seeds;
    }
    for capture in captures {
        for frame in frames(capture) {
            // Each family of views begins at its own layer of the commonest frame.
            let layer_at = match target {
                "wire_ip" => 14,
                "wire_transport" | "wire_checksum" => 34,
                "wire_tunnel" => 42,
                // Behind a TCP header with time stamps.
                "http" => 66,
                _ => 0,
            };
            let mut seed = match target {
                "wire_medium" => Vec::new(),
                "wire_stack" => vec![0],
                // Defragmentation and flow make up packets of their own.
                "defrag" | "defrag_oracle" | "flow" | "portscan" | "reassembly"
                | "reassembly_oracle" => Vec::new(),
                _ => vec![0, 0],
            };
            if let Some(seed) = application_seed(target, &frame) {
                seeds.push(seed);
                continue;
            }
            seed.extend(frame.get(layer_at..).unwrap_or_default());
            seeds.push(seed);
        }
    }
    seeds
}

/// For parsers of messages: what stands behind the headers of the commonest frames. Where a
/// message is not at the beginning, they look for one.
fn application_seed(target: &str, frame: &[u8]) -> Option<Vec<u8>> {
    let at = match target {
        "dns" => 42,
        "fix" => 54,
        "ftp" => 66,
        _ => return None,
    };
    let message = frame.get(at..).unwrap_or_default();
    Some([&[2], message].concat())
}

/// This workspace's folder.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Some frames of a capture of any format.
fn frames(capture: Vec<u8>) -> Vec<Vec<u8>> {
    let options = Options {
        packet_count_max: Some(40),
        ..Options::default()
    };
    let mut frames = Vec::new();
    let Ok(mut source) = Source::from_memory(vec![("seed".into(), capture)], &options) else {
        return frames;
    };
    let mut piece = Piece::default();
    while let Ok(true) = source.fill(&mut piece) {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let start = frame.start as usize;
            let bytes = piece.bytes.get(start..start + frame.captured_len as usize);
            frames.push(head(bytes.unwrap_or_default(), 400));
        }
    }
    frames
}

fn head(bytes: &[u8], len: usize) -> Vec<u8> {
    bytes.get(..len).unwrap_or(bytes).to_vec()
}

/// The contents of all files in a folder, in the order of their names.
fn files_in(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| std::fs::read(path).ok())
        .collect()
}
