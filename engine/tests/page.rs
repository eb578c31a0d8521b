//! The documentation of the records is the tables that the writers use.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

/// A column or field that was added must be in the page too.
#[test]
fn the_page_of_records_is_not_stale() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/user/records.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(
        page == flowpin_engine::records_page(),
        "stale: cargo run -p flowpin-engine --example records_page > docs/user/records.md"
    );
}
