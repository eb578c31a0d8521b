//! Prints what identification says of every connection in some captures, one line each.
//!
//! ```console
//! $ cargo run -p flowpin-identify-score -- captures/*.pcap > verdicts.tsv
//! ```

use flowpin_identify::Identifier;
use flowpin_identify_score::{How, read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let identifier = match Identifier::new() {
        Ok(identifier) => Arc::new(identifier),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for path in std::env::args().skip(1) {
        match read(Path::new(&path), &identifier, How::ALL) {
            Ok(lines) => lines.iter().for_each(|line| println!("{line}")),
            Err(error) => eprintln!("{path}: {error}"),
        }
    }
    ExitCode::SUCCESS
}
