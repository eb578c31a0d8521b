//! Writes the seeds of one target into libFuzzer's corpus folder.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(target) = std::env::args().nth(1) else {
        eprintln!("usage: seed TARGET");
        return ExitCode::from(2);
    };
    let corpus = flowpin_fuzz::folder().join("corpus").join(&target);
    let written = std::fs::create_dir_all(&corpus).and_then(|()| {
        flowpin_fuzz::seeds(&target)
            .iter()
            .enumerate()
            .try_for_each(|(number, seed)| {
                std::fs::write(corpus.join(format!("seed-{number}")), seed)
            })
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", corpus.display());
            ExitCode::FAILURE
        }
    }
}
