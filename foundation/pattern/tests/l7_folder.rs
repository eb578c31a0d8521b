//! l7-filter's own patterns, where they are at hand.

use flowpin_pattern::l7::read_paths;
use flowpin_pattern::{Limits, PatternSet, Rewrite, Source};
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
