//! Prints the page that lists every field: `docs/user/records.md`.

fn main() {
    print!("{}", flowpin_engine::records_page());
}
