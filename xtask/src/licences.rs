//! Whether every dependency may be passed on under Apache-2.0 OR MIT.

use crate::finding::Finding;
use anyhow::{Context, Result};
use serde_json::Value;

/// Checks the licence of each package that cargo would build.
pub(crate) fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    Ok(packages.iter().filter_map(finding).collect())
}

fn finding(package: &Value) -> Option<Finding> {
    let name = package["name"].as_str().unwrap_or_default();
    let licence = package["license"].as_str().unwrap_or("none named");
    (!permits(licence)).then(|| {
        let text = format!("licence `{licence}` is not on the list in xtask/src/licences.rs");
        Finding::error(name, text)
    })
}

/// Whether some alternative of a licence expression has permissive terms only. Of expressions with
/// parentheses only `(A OR B) AND C` is understood; others are refused, to be looked at.
fn permits(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ");
    let is_permissive = |term: &str| PERMISSIVE.contains(&term.trim());
    if plain.contains('(') {
        return plain.split(" AND ").all(|group| {
            let group = group.trim().trim_start_matches('(').trim_end_matches(')');
            group.split(" OR ").any(is_permissive)
        });
    }
    plain
        .split(" OR ")
        .any(|alternative| alternative.split(" AND ").all(is_permissive))
}

const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

#[cfg(test)]
mod tests {
    use super::permits;

    /// One permissive alternative is enough; every part of a conjunction is needed.
    #[test]
    fn alternatives_and_conjunctions_are_told_apart() {
        assert!(permits("MIT OR Apache-2.0"));
        assert!(permits("MIT/Apache-2.0"));
        assert!(permits("GPL-3.0 OR MIT"));
        assert!(permits("MIT AND BSD-3-Clause"));
        assert!(permits("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(permits(
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"
        ));
        assert!(!permits("GPL-3.0"));
        assert!(!permits("MIT AND GPL-3.0"));
        assert!(!permits("(MIT OR Apache-2.0) AND GPL-2.0"));
        assert!(!permits("none named"));
    }
}
