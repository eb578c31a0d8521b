//! Every capture of the corpus against `capinfos`: as many packets, or a reason why not.

use flowpin_capture::{Options, Source};
use flowpin_config::Input;
use flowpin_packet::Piece;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the count differs from capinfos': part of the path, ours, theirs, why.
const EXPLAINED: &[(&str, u64, u64, &str)] = &[(
    "bug-6875-01/fuzz.pcap",
    1,
    2,
    "damaged lengths make Wireshark guess a variant with longer record headers (Nokia's), \
     whose first two records are garbage",
)];

/// The corpus, if there is one here.
pub(crate) fn root() -> Option<PathBuf> {
    let shared = std::env::var_os("FLOWPIN_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let root = shared.join("corpus");
    if root.is_dir() {
        return Some(root);
    }
    println!("skipped: no corpus at {}", root.display());
    None
}

/// What this reader makes of a file.
enum Outcome {
    Read { packets: u64, damaged: bool },
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
    assert_eq!(report.files[0].packets, packets, "{}", path.display());
    assert_eq!(source.progress().packets, packets);
    Outcome::Read {
        packets,
        damaged: report.is_damaged(),
    }
}

/// Packets and whether there was an error; none if capinfos says neither.
fn capinfos(path: &Path) -> Option<(u64, bool)> {
    let out = Command::new("capinfos")
        .args(["-T", "-r", "-c", "-M"])
        .arg(path)
        .output()
        .ok()?;
    let (text, errors) = (
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
    );
    let damaged = errors.contains("appears to") || errors.contains("doesn't support");
    let count = text
        .trim()
        .rsplit('\t')
        .next()
        .and_then(|count| count.parse().ok());
    let partial = || {
        errors
            .split_once("after reading ")?
            .1
            .split(' ')
            .next()?
            .parse()
            .ok()
    };
    Some((count.or_else(partial)?, damaged))
}

fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut todo) = (Vec::new(), vec![root.to_owned()]);
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whatever lies in the corpus is read as capinfos reads it, or refused with a reason.
#[test]
fn every_capture_is_read_as_by_capinfos_or_refused_with_a_reason() {
    let Some(root) = root() else { return };
    let has_capinfos = Command::new("capinfos").arg("--version").output().is_ok();
    if !has_capinfos {
        println!("no comparison: capinfos is not installed");
    }
    let (mut read_count, mut compared, mut refused) = (0, 0, 0);
    for path in files(&root) {
        match read(&path) {
            Outcome::Refused(reason) => {
                refused += 1;
                assert!(reason.contains(path.to_str().unwrap()), "{reason}");
            }
            Outcome::Read { packets, damaged } => {
                read_count += 1;
                if !has_capinfos {
                    continue;
                }
                let theirs = capinfos(&path).unwrap_or_else(|| panic!("{}", path.display()));
                let text = path.to_str().unwrap();
                let explained = EXPLAINED.iter().find(|(part, ..)| text.ends_with(part));
                let expected = explained.map_or(theirs.0, |&(_, ours, counted, _)| {
                    assert_eq!(counted, theirs.0);
                    ours
                });
                assert_eq!((packets, damaged), (expected, theirs.1), "{text}");
                compared += 1;
            }
        }
    }
    println!("{read_count} captures read, {compared} compared, {refused} files refused");
    assert!(read_count > 2000);
}
