//! Hostile input: flipped bytes and files cut anywhere.

use crate::records::number;
use flowpin_testkit::pcap::Capture;
use flowpin_testkit::{corpus, product, reorder};
use std::fs;
use std::path::{Path, PathBuf};

/// Largest resident size that any damaged capture may cause with `--memory 16 MiB`: code, pieces
/// and output buffers come on top of the connections.
const RESIDENT_MAX: u64 = 256 << 20;

/// All in the long form, else every eighth, bundled ones always.
fn sample() -> Vec<PathBuf> {
    let step = if corpus::is_long() { 1 } else { 8 };
    let mut found = corpus::bundled();
    let public = corpus::captures(&[], "damaged public captures");
    found.extend(public.into_iter().step_by(step).map(|capture| capture.path));
    found
}

/// Whatever the bytes are: an exit code that is documented, every packet accounted for, and no
/// growth. A panic or a signal has another code.
#[test]
fn flipped_bytes_neither_panic_nor_grow() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("flipped");
    fs::create_dir_all(&folder).unwrap();
    let mut failures = Vec::new();
    for (nth, path) in sample().into_iter().enumerate() {
        let file = fs::read(&path).unwrap();
        // One capture in three is flipped within the file's own header too.
        let from = if nth % 3 == 0 { 4 } else { 40 };
        let one_in = [20, 100, 1000][nth % 3];
        let flipped = reorder::flip_bytes(file, from, one_in, nth as u64);
        let target = folder.join(format!("{nth}.pcap"));
        fs::write(&target, flipped).unwrap();
        let shape = ["1x1", "2x2"][nth % 2];
        match survive(&target, shape) {
            Ok(()) => fs::remove_file(&target).unwrap(),
            Err(why) => failures.push(format!(
                "{} (from {}), {shape}: {why}",
                target.display(),
                path.display()
            )),
        }
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} failures:\n{}",
        failures.join("\n")
    );
}

fn survive(target: &Path, shape: &str) -> Result<(), String> {
    let words = [
        "run",
        "--json",
        "--format",
        "none",
        "--memory",
        "16 MiB",
        "--pipeline",
        shape,
        "-r",
    ];
    let outcome = product::run(&[&words[..], &[target.to_str().unwrap()]].concat()).unwrap();
    let stderr = outcome.stderr.trim();
    match outcome.code {
        3 if stderr.lines().count() == 1 => return Ok(()),
        0 | 4 => {}
        code => return Err(format!("exit code {code}: {stderr}")),
    }
    let summary = outcome.json().map_err(|error| error.to_string())?;
    if summary["conservation"]["missing"] != 0 {
        return Err(summary["conservation"].to_string());
    }
    match number(&summary["run"]["peak_memory_bytes"]) {
        resident if resident < RESIDENT_MAX => Ok(()),
        resident => Err(format!("{resident} bytes resident")),
    }
}

/// A file cut anywhere gives exactly the packets before the cut, and says where it is cut.
#[test]
fn a_cut_file_gives_a_prefix_of_the_packets() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["http-failures.pcap", "dns-fragments.pcap", "vxlan.pcap"] {
        let path = corpus::workspace().join("testkit/captures").join(name);
        let file = fs::read(&path).unwrap();
        let whole = Capture::parse(file.clone()).unwrap();
        // Every kind of place: within the record headers, on borders, within packets.
        for cut in (24..file.len()).step_by(file.len() / 40) {
            prefix(&file[..cut], &whole, folder.path(), name);
        }
        for packet in whole.packets.iter().step_by(7) {
            prefix(&file[..packet.bytes.end], &whole, folder.path(), name);
        }
    }
}

fn prefix(cut: &[u8], whole: &Capture, folder: &Path, name: &str) {
    let (input, output) = (folder.join("cut.pcap"), folder.join("kept.pcap"));
    fs::write(&input, cut).unwrap();
    let kept = Capture::parse(cut.to_vec()).unwrap().packets;
    let is_whole = kept.last().map_or(24, |packet| packet.bytes.end) == cut.len();
    let words = ["run", "--json", "--format", "none", "-r"];
    let outcome = product::run(&[&words[..], &[input.to_str().unwrap()]].concat()).unwrap();
    let what = format!("{name} cut at {}", cut.len());
    assert_eq!(
        outcome.code,
        if is_whole { 0 } else { 4 },
        "{what}: {}",
        outcome.stderr
    );
    let summary = outcome.json().unwrap();
    assert_eq!(
        number(&summary["traffic"]["packets"]),
        kept.len() as u64,
        "{what}"
    );
    if kept.is_empty() {
        return;
    }
    let words = ["slice", "--force", "-f", "ip or ip6 or arp", "-r"];
    let words = [
        &words[..],
        &[input.to_str().unwrap(), "-w", output.to_str().unwrap()],
    ]
    .concat();
    let outcome = product::run(&words).unwrap();
    assert!(outcome.analysed(), "{what}: {}", outcome.stderr);
    let sliced = Capture::open(&output).unwrap();
    assert_eq!(sliced.packets.len(), kept.len(), "{what}");
    for (ours, theirs) in sliced.packets.iter().zip(&whole.packets) {
        assert_eq!(sliced.data(ours), whole.data(theirs), "{what}");
        assert_eq!(ours.time_ns, theirs.time_ns, "{what}");
    }
}

/// A compressed file cut short still gives what was unpacked before the cut.
#[test]
fn a_cut_compressed_file_gives_what_came_before() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["offload.pcap.gz", "mqtt.pcapng.gz", "tls.pcap.xz"] {
        let path = corpus::workspace().join("testkit/captures").join(name);
        let file = fs::read(&path).unwrap();
        let input = folder.path().join(name);
        fs::write(&input, &file[..file.len() * 2 / 3]).unwrap();
        let words = ["run", "--json", "--format", "none", "-r"];
        let outcome = product::run(&[&words[..], &[input.to_str().unwrap()]].concat()).unwrap();
        assert_eq!(outcome.code, 4, "{name}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(name), "{}", outcome.stderr);
        let summary = outcome.json().unwrap();
        assert_eq!(summary["conservation"]["missing"], 0, "{name}");
    }
}
