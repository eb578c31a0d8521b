//! The page of keywords is that of this version.

/// The table in the documentation is the one that rules are read by.
#[test]
fn the_page_of_keywords_is_up_to_date() {
    let written = include_str!("../../../docs/user/rule-keywords.md");
    assert!(
        written == flowpin_rule::keywords_page(),
        "cargo run -p flowpin-rule --example keywords_page > docs/user/rule-keywords.md"
    );
}
