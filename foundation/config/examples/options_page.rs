//! Prints the page that lists every option: `docs/user/options.md`.

fn main() {
    print!("{}", flowpin_config::options_page());
}
