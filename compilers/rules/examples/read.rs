//! Reads rules and tells what is wrong: `cargo run -p flowpin-rules --example read -- PATH`.

use flowpin_rules::Reader;
use std::path::Path;

fn main() {
    let mut reader = Reader::default();
    for path in std::env::args().skip(1) {
        if let Err(why) = reader.read(Path::new(&path)) {
            println!("{why}");
        }
    }
    let loaded = reader.finish();
    for problem in &loaded.problems {
        println!("{problem}");
    }
    println!(
        "{} rules, {} refused",
        loaded.set.rules.len(),
        loaded.problems.len()
    );
}
