//! The documentation of the options is their tables.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

/// An option that was added must be in the page too.
#[test]
fn the_page_of_options_is_not_stale() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/user/options.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(
        page == flowpin_config::options_page(),
        "stale: cargo run -p flowpin-config --example options_page > docs/user/options.md"
    );
}
