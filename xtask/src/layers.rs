//! Which crate may depend on which: `apps → engine → pipeline → foundation`, and no stage on
//! another.

use crate::finding::Finding;
use crate::tidy::UNSAFE_ALLOWED;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Where a crate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Foundation,
    Pipeline,
    /// Offline tools: what they make, stages run.
    Compiler,
    Engine,
    /// What the engine accounts for, in words: for apps.
    Explanation,
    App,
    /// The trace generator: on top of readers and of the test kit's multiplier, for apps.
    Generator,
    /// Test kit, cross-crate tests, this crate: may use everything, nobody ships them.
    Support,
}

impl Layer {
    fn of(folder: &str) -> Option<Self> {
        match folder {
            "testkit/gen" => return Some(Self::Generator),
            "engine/explanation" => return Some(Self::Explanation),
            _ => {}
        }
        match folder.split('/').next()? {
            "foundation" => Some(Self::Foundation),
            "pipeline" => Some(Self::Pipeline),
            "compilers" => Some(Self::Compiler),
            "engine" => Some(Self::Engine),
            "apps" | "bindings" => Some(Self::App),
            "testkit" | "tests" | "xtask" | "bench" => Some(Self::Support),
            _ => None,
        }
    }

    /// Whether a crate here may depend on one there, in what is shipped.
    fn may_use(self, other: Self) -> bool {
        match self {
            Self::Foundation | Self::Pipeline | Self::Compiler => other == Self::Foundation,
            Self::Engine => matches!(other, Self::Foundation | Self::Pipeline),
            Self::Explanation => matches!(other, Self::Foundation | Self::Engine),
            Self::App => matches!(
                other,
                Self::Foundation
                    | Self::Compiler
                    | Self::Engine
                    | Self::Explanation
                    | Self::Generator
            ),
            Self::Generator => matches!(other, Self::Foundation | Self::Pipeline | Self::Support),
            Self::Support => true,
        }
    }
}

/// Checks the edges between the workspace's crates, and that each takes part in its lints.
pub(crate) fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let root = metadata["workspace_root"]
        .as_str()
        .context("cargo metadata names no root")?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let mut findings = Vec::new();
    for package in packages {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let folder = relative(root, Path::new(manifest).parent());
        let Some(layer) = Layer::of(&folder) else {
            findings.push(Finding::error(folder, "stands in no layer"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let Some(path) = dependency["path"].as_str() else {
                continue;
            };
            let target = relative(root, Some(Path::new(path)));
            let is_dev = dependency["kind"].as_str() == Some("dev");
            findings.extend(edge(&folder, layer, &target, is_dev));
        }
        findings.extend(lints(&folder, &fs::read_to_string(manifest)?));
    }
    Ok(findings)
}

fn edge(folder: &str, layer: Layer, target: &str, is_dev: bool) -> Option<Finding> {
    let Some(other) = Layer::of(target) else {
        return Some(Finding::error(folder, format!("depends on {target}")));
    };
    let is_for_tests = is_dev && other == Layer::Support;
    if layer.may_use(other) || is_for_tests {
        return None;
    }
    Some(Finding::error(
        folder,
        format!(
            "must not depend on {target}: apps → engine → pipeline → foundation, and no stage on \
             another"
        ),
    ))
}

fn lints(folder: &str, manifest: &str) -> Option<Finding> {
    let has_own = UNSAFE_ALLOWED
        .iter()
        .any(|allowed| allowed.starts_with(folder));
    let takes_part = manifest.contains("[lints]\nworkspace = true");
    (!takes_part && !has_own).then(|| {
        Finding::error(
            format!("{folder}/Cargo.toml"),
            "does not say `[lints] workspace = true`",
        )
    })
}

fn relative(root: &str, path: Option<&Path>) -> String {
    path.and_then(|path| path.strip_prefix(root).ok())
        .unwrap_or(Path::new("outside"))
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::{Layer, edge};

    fn is_refused(folder: &str, target: &str, is_dev: bool) -> bool {
        edge(folder, Layer::of(folder).unwrap(), target, is_dev).is_some()
    }

    /// Dependencies point one way.
    #[test]
    fn edges_against_the_layers_are_refused() {
        assert!(is_refused("foundation/packet", "engine", false));
        assert!(is_refused(
            "pipeline/50-flow",
            "pipeline/20-dispatch",
            false
        ));
        assert!(is_refused("pipeline/50-flow", "pipeline/20-dispatch", true));
        assert!(is_refused("apps/flowpin", "pipeline/50-flow", false));
        assert!(is_refused("engine", "compilers/grammar", false));
        assert!(is_refused(
            "pipeline/80-parse/text",
            "compilers/grammar",
            false
        ));
        assert!(is_refused("engine", "testkit", false));
        assert!(is_refused("engine", "testkit/gen", false));
        assert!(is_refused("apps/flowpin", "testkit", false));
        assert!(is_refused("engine", "elsewhere", false));
    }

    /// What the layers allow is allowed, and tests may use the test kit.
    #[test]
    fn edges_along_the_layers_are_allowed() {
        assert!(!is_refused("pipeline/50-flow", "foundation/packet", false));
        assert!(!is_refused("engine", "pipeline/50-flow", false));
        assert!(!is_refused("apps/flowpin", "engine", false));
        assert!(!is_refused("apps/flowpin", "compilers/grammar", false));
        assert!(!is_refused("compilers/grammar", "foundation/lexer", false));
        assert!(!is_refused("pipeline/50-flow", "testkit", true));
        assert!(!is_refused("testkit", "pipeline/50-flow", false));
        assert!(!is_refused("apps/flowpin", "testkit/gen", false));
    }
}
