//! l7-filter's own patterns, where they are at hand.

use flowpin_pattern::l7::read_paths;
use flowpin_pattern::{Limits, PatternSet, Rewrite, Source};
use regex_automata::nfa::{self, thompson::pikevm::PikeVM};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("FLOWPIN_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let folder = shared.join("corpus/l7-protocols/protocols");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

/// Every file loads; those that match by chance are only hints.
#[test]
fn all_patterns_load_and_loose_ones_only_hint() {
    let Some(folder) = folder() else { return };
    let limits = Limits::default();
    let (patterns, errors) = read_paths(&[folder], &limits).unwrap();
    for error in &errors {
        println!("{error}");
    }
    let sources: Vec<Source> = patterns
        .into_iter()
        .map(|one| Source {
            name: one.name,
            hir: one.hir,
        })
        .collect();
    let begun = std::time::Instant::now();
    let (set, refused) = PatternSet::build(&sources, Rewrite::Exact, &limits);
    println!(
        "compiled in {:?}, {:?} states and bytes",
        begun.elapsed(),
        set.size()
    );
    for group in &set.groups {
        println!(
            "group of {} patterns, {} states, hint {}, gated {}",
            group.patterns.len(),
            group.automaton.states(),
            group.is_hint,
            group.is_gated
        );
    }
    for (number, refusal) in &refused {
        println!("refused {}: {refusal}", sources[*number].name);
    }
    for one in &set.patterns {
        println!(
            "{} {:.2e} {:.2e} {} states",
            one.name, one.rating.random, one.rating.english, one.states
        );
    }
    let bytes = set.to_bytes(7);
    let begun = std::time::Instant::now();
    let loaded = PatternSet::from_bytes(&bytes, 7);
    println!("loaded {} bytes in {:?}", bytes.len(), begun.elapsed());
    assert_eq!(loaded.as_ref(), Some(&set));
    assert!(errors.is_empty());
    assert_eq!(set.patterns.len() + refused.len(), sources.len());
    let english = |name: &str| {
        set.patterns
            .iter()
            .find(|one| one.name == name)
            .unwrap()
            .rating
    };
    assert!((0.3..0.5).contains(&english("skypeout").english));
    assert!((0.06..0.12).contains(&english("kugoo").english));
}

/// Conversations that their own pattern does not match: later packets, or of its relatives.
const NOT_THEIRS: &[&str] = &[
    "aresdownload-c",
    "chikka-a-2",
    "chikka-a-3",
    "chikka-b-2",
    "chikka-b-4",
    "stun-1",
    "stun-2",
    "validcertssl-1",
];

/// The conversations that came with the patterns: every pattern matches those that another engine
/// says it does, and each conversation is matched by the pattern of its name.
#[test]
fn recorded_conversations_match_as_another_engine_says() {
    let Some(folder) = folder() else { return };
    let limits = Limits::default();
    let (patterns, _) = read_paths(std::slice::from_ref(&folder), &limits).unwrap();
    let talks: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder.join("../testing/data"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            (name.to_owned(), std::fs::read(&path).unwrap())
        })
        .collect();
    let mut named = BTreeSet::new();
    for pattern in &patterns {
        let other = nfa::thompson::Compiler::new()
            .configure(nfa::thompson::Config::new().utf8(false))
            .build_from_hir(&pattern.hir)
            .map(|nfa| PikeVM::new_from_nfa(nfa).unwrap())
            .unwrap();
        let source = [Source {
            name: pattern.name.clone(),
            hir: pattern.hir.clone(),
        }];
        let (set, _) = PatternSet::build(&source, Rewrite::Exact, &limits);
        for (name, bytes) in &talks {
            let mut search = set.start();
            let found = set.feed(&mut search, bytes);
            let is_found = found.or_else(|| set.at_end(&search)).is_some();
            let text: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != 0).collect();
            let expected = other.is_match(&mut other.create_cache(), &text);
            assert_eq!(is_found, expected, "{} in {name}", pattern.name);
            if is_found && name.starts_with(&pattern.name) {
                named.insert(name.as_str());
            }
        }
    }
    for (name, _) in &talks {
        let has_pattern = patterns.iter().any(|one| name.starts_with(&one.name));
        let is_exempt = NOT_THEIRS.contains(&name.as_str()) || !has_pattern;
        assert_ne!(named.contains(name.as_str()), is_exempt, "{name}");
    }
    assert!(named.len() >= 40, "{}", named.len());
}
