//! Prints `docs/user/rule-keywords.md`.

fn main() {
    print!("{}", flowpin_rule::keywords_page());
}
