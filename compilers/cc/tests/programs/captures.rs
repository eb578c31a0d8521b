//! Programs that read captures: the same lines on any number of cores, without a data race.

use crate::tools::{compilers, has_libclang, run, skipped, write};
use flowpin_cc::{
    Backend, Key, Output, Question, Sources, check, collect, model::Texts, transform,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// A capture of this repository, with TCP, UDP and more.
pub(crate) fn capture() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("testkit/captures/lab-day.pcapng")
        .canonicalize()
        .unwrap()
}

fn transformed(backend: Backend) -> Output {
    transformed_file(&folder().join("hosts.c"), backend)
}

pub(crate) fn transformed_file(source: &Path, backend: Backend) -> Output {
    let sources = Sources::of_files(&folder(), &[source.to_owned()], &[]).unwrap();
    let model = collect(&sources).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    transform(&model, &texts, backend).unwrap()
}

pub(crate) fn sorted(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

pub(crate) fn build(compiler: &str, flags: &str, output: &Output) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(output, folder.path());
    let mut make = Command::new("make");
    make.arg("-sC")
        .arg(folder.path())
        .arg(format!("CC={compiler}"));
    run(make.arg(format!("CFLAGS={flags}")), compiler);
    folder
}

/// What the sequential program prints, and the lines of its file.
fn sequential(folder: &Path) -> (String, Vec<String>) {
    let program = folder.join("sequential");
    let mut compile = Command::new("cc");
    compile
        .arg("-w")
        .arg(self::folder().join("hosts.c"))
        .arg("-o")
        .arg(&program);
    run(compile.arg("-lpcap"), "cc");
    let out = folder.join("sequential.out");
    let printed = run(
        Command::new(&program)
            .arg(&out)
            .args([capture(), capture()]),
        "sequential",
    );
    (printed, sorted(&out))
}

fn compare(program: &Path, expected: &(String, Vec<String>), ways: u32) {
    let out = program.with_extension("out");
    let what = format!("{} on {ways}", program.display());
    let mut parallel = Command::new(program);
    parallel.env("FLOWPIN_WAYS", ways.to_string()).arg(&out);
    let printed = run(parallel.args([capture(), capture()]), &what);
    assert_eq!(printed, expected.0, "{what}");
    let lines = sorted(&out);
    // Begin and end are once for the program, or once for each core.
    let alone = |lines: &[String]| -> Vec<String> {
        let mut lines = lines.to_vec();
        lines.retain(|line| line != "end");
        lines.dedup();
        lines
    };
    assert_eq!(alone(&lines), alone(&expected.1), "{what}");
    assert_eq!(
        lines.iter().filter(|line| *line == "begin").count(),
        1,
        "{what}"
    );
}

/// Both backends, any number of ways, more of them than cores.
#[test]
fn any_number_of_cores_gives_the_same_lines() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    for backend in [Backend::Context, Backend::Thread] {
        let output = transformed(backend);
        for compiler in compilers() {
            let folder = build(compiler, "-O2 -Wall -Werror", &output);
            let expected = sequential(folder.path());
            for ways in [1, 2, 3, 4, 7] {
                compare(&folder.path().join("program"), &expected, ways);
            }
        }
    }
}

/// With FLOWPIN_ACCOUNT each packet is accounted for: read, and taken by one of the cores.
#[test]
fn every_packet_is_accounted_for() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let built = build("cc", "-O1 -Wall -Werror", &transformed(Backend::Context));
    let out = built.path().join("out");
    for ways in ["1", "3"] {
        let mut parallel = Command::new(built.path().join("program"));
        parallel
            .env("FLOWPIN_WAYS", ways)
            .env("FLOWPIN_ACCOUNT", "1");
        let done = parallel.arg(&out).arg(capture()).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        if ways == "1" {
            assert!(
                said.starts_with("flowpin: one core, which reads itself; "),
                "{said}"
            );
            continue;
        }
        let number = |word: &str| word.parse::<usize>().unwrap();
        let (read, rest) = said.split_once(" packets read, 0 lost; reader ").unwrap();
        let read = number(read.strip_prefix("flowpin: ").unwrap());
        let (_, cores) = rest.split_once("flowpin: program: ").unwrap();
        let taken = cores.trim().split(", ").map(|core| {
            let (count, seconds) = core.split_once(" taken in ").unwrap();
            assert!(seconds.ends_with(" s"), "{said}");
            number(count)
        });
        assert_eq!(taken.sum::<usize>(), read, "{said}");
        assert!(read > 1000, "{said}");
    }
}

/// ThreadSanitizer finds no two cores at one variable, AddressSanitizer no byte out of place.
#[test]
fn sanitizers_find_nothing() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let output = transformed(Backend::Context);
    for (sanitizer, ways) in [("thread", [2, 4]), ("address,undefined", [1, 2])] {
        let flag = format!("-fsanitize={sanitizer}");
        if !has_sanitizer(sanitizer) {
            skipped(&format!("the run-time of {flag}"));
            continue;
        }
        let folder = build(
            "cc",
            &format!("-g -O1 {flag} -fno-sanitize-recover"),
            &output,
        );
        let expected = sequential(folder.path());
        for ways in ways {
            compare(&folder.path().join("program"), &expected, ways);
        }
    }
}

/// Time passes for every core, also for one without packets: what is idle is reported as idle. Left
/// without its tick, the same program would be wrong, and differ.
#[test]
fn time_passes_on_all_cores() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let temporary = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(folder().join("idle.c")).unwrap();
    let source = temporary.path().join("idle.c");
    let lines = |text: &str, ways: &str| -> Vec<String> {
        fs::write(&source, text).unwrap();
        let built = build(
            "cc",
            "-O1 -Wall -Werror",
            &transformed_file(&source, Backend::Context),
        );
        let mut program = Command::new(built.path().join("program"));
        program.env("FLOWPIN_WAYS", ways).arg(capture());
        let mut lines: Vec<String> = run(&mut program, "idle")
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    };
    let alone = lines(&text, "1");
    assert!(
        alone.iter().any(|line| line.starts_with("idle")),
        "{alone:?}"
    );
    for ways in ["2", "3", "7"] {
        assert_eq!(lines(&text, ways), alone, "{ways} ways");
    }
    let without = text.replace("#pragma flowpin tick period(100ms)", "");
    assert_ne!(lines(&without, "7"), alone);
}

/// These tests would notice: a variable that stays one for all cores is found by ThreadSanitizer,
/// or changes what the program says.
#[test]
fn a_variable_left_shared_is_caught() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    if !has_sanitizer("thread") {
        return skipped("the run-time of -fsanitize=thread");
    }
    for (file, variable) in [
        ("idle.c", "pairs"),
        ("idle.c", "count"),
        ("hosts.c", "seen"),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let source = temporary.path().join(file);
        let text = fs::read_to_string(folder().join(file)).unwrap();
        let said = |text: &str, ways: &str| {
            fs::write(&source, text).unwrap();
            let output = transformed_file(&source, Backend::Context);
            let built = build("cc", "-g -O1 -fsanitize=thread", &output);
            let out = built.path().join("out");
            let mut program = Command::new(built.path().join("program"));
            program
                .env("FLOWPIN_WAYS", ways)
                .env("TSAN_OPTIONS", "exitcode=66");
            let printed = program.arg(&out).arg(capture()).output().unwrap();
            let text = String::from_utf8_lossy(&printed.stdout).into_owned();
            let file = fs::read_to_string(&out).unwrap_or_default();
            let mut lines: Vec<String> = text
                .lines()
                .chain(file.lines())
                .map(str::to_owned)
                .collect();
            lines.sort();
            lines.dedup();
            (printed.status.success(), lines)
        };
        let expected = said(&text, "1");
        assert_eq!(said(&text, "4"), expected, "{file}");
        let mutant = format!("#pragma flowpin shared {variable} unchecked\n{text}");
        // On a busy machine cores may run one after the other, and nothing shows.
        let is_caught = (0..5).any(|_| said(&mutant, "4") != expected);
        assert!(is_caught, "{variable} of {file}");
    }
}

/// Whether programs can be linked with a sanitizer.
pub(crate) fn has_sanitizer(name: &str) -> bool {
    let probe = tempfile::tempdir().unwrap();
    let source = probe.path().join("probe.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut compile = Command::new("cc");
    compile.arg(format!("-fsanitize={name}")).arg(&source);
    let compiled = compile.arg("-o").arg(probe.path().join("probe")).output();
    compiled.is_ok_and(|output| output.status.success())
}

/// A program that cannot start says so once, with its own exit code.
#[test]
fn a_start_that_fails_ends_all_cores() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let folder = build("cc", "-O1", &transformed(Backend::Context));
    let mut program = Command::new(folder.path().join("program"));
    program
        .env("FLOWPIN_WAYS", "3")
        .arg(folder.path().join("out"))
        .arg("nowhere.pcap");
    let output = program.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
}

/// A program that counts by connection is affine; one that counts all packets is not, and the
/// lines that differ are named.
#[test]
fn the_check_tells_programs_apart() {
    if compilers().is_empty() {
        return skipped("cc");
    }
    let folder = tempfile::tempdir().unwrap();
    let pcap = folder.path().join("small.pcap");
    fs::write(&pcap, crate::tools::small_capture()).unwrap();
    let question = |script: &str| Question {
        command: ["sh", "-c", script, "sh"].map(Into::into).to_vec(),
        capture: pcap.clone(),
        key: Key::IpPair,
        ways: 3,
        ignored: vec!["#".to_owned()],
        folder: folder.path().to_owned(),
    };
    let bytes = "od -An -v -tx1 -w16 -j24 \"$1\" | wc -l";
    let affine = check(&question("echo same | head -n 0; echo '# ignored'")).unwrap();
    assert!(affine.is_affine(), "{affine:?}");
    let other = check(&question(bytes)).unwrap();
    assert!(!other.is_affine() && other.missing.len() == 1, "{other:?}");
    assert_eq!(other.packets.iter().sum::<u64>(), 8);
    assert!(check(&question("exit 7")).is_err());
}

/// On an interface that falls silent, what has come is counted, and a signal ends all cores.
#[test]
fn interfaces_are_read_until_a_signal() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-n", "bash", "-c", script]);
        command
    };
    let up = "ip link set lo up";
    if !namespace(up)
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return skipped("unshare or ip, or the right to use them,");
    }
    let output = transformed_file(&folder().join("live.c"), Backend::Context);
    let built = build("cc", "-O1 -Wall -Werror", &output);
    // Each datagram is seen twice on the loopback: as sent, and as received.
    let script = format!(
        "{up}; cd {}; ./program lo 2>ready & \
         for i in $(seq 100); do grep -q ready ready && break; sleep 0.05; done; sleep 0.5; \
         for host in 2 3 4 5 6; do echo x >/dev/udp/127.0.0.$host/9; done; sleep 0.5; \
         kill -INT $!; wait $!",
        built.path().display()
    );
    for ways in ["1", "3"] {
        let said = run(namespace(&script).env("FLOWPIN_WAYS", ways), ways);
        let count: u32 = said.split(' ').next().unwrap().parse().unwrap();
        // ICMP's answers, that the port is closed, are packets, too.
        assert!(count >= 10, "{ways} ways: {said}");
    }
}

/// `check` divides a capture as the run-time does, also what is cut short or makes no sense.
#[test]
fn the_check_divides_as_the_run_time_does() {
    if compilers().is_empty() {
        return skipped("cc");
    }
    let temporary = tempfile::tempdir().unwrap();
    let program = temporary.path().join("hash");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    let mut compile = Command::new("cc");
    compile.args([
        "-g",
        "-O1",
        "-Wall",
        "-Werror",
        "-fsanitize=address,undefined",
        "-I",
    ]);
    compile.args([
        &runtime,
        &folder().join("hash.c"),
        &runtime.join("flowpin_hash.c"),
    ]);
    if !has_sanitizer("address,undefined") {
        return skipped("the run-time of -fsanitize=address");
    }
    run(compile.arg("-o").arg(&program), "cc");
    let mut input = Vec::new();
    let mut expected = String::new();
    for (link_type, frame) in frames() {
        input.extend_from_slice(&u32::to_le_bytes(link_type));
        input.extend_from_slice(&u32::to_le_bytes(frame.len() as u32));
        input.extend_from_slice(&frame);
        let hashes = [Key::IpPair, Key::FourTuple].map(|key| key.hash(link_type, &frame));
        expected += &format!("{} {}\n", hashes[0], hashes[1]);
    }
    let file = temporary.path().join("frames");
    fs::write(&file, input).unwrap();
    let mut hash = Command::new(&program);
    let said = run(hash.stdin(fs::File::open(&file).unwrap()), "hash");
    assert_eq!(said, expected);
}

/// Frames with every header that the key reads, at every length, filled with pseudo-random bytes.
fn frames() -> Vec<(u32, Vec<u8>)> {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let mut frames = Vec::new();
    for length in 0..96 {
        for link_type in [0, 1, 12, 101, 113, 228, 276, 999] {
            for ether_type in [[8, 0], [0x86, 0xdd], [0x81, 0], [8, 6]] {
                let mut frame: Vec<u8> = (0..length).map(|_| random()).collect();
                let ip = match link_type {
                    0 => 4,
                    1 => 14,
                    113 => 16,
                    276 => 20,
                    _ => 0,
                };
                let protocol = [1, 6, 17, 132, 50][usize::from(random()) % 5];
                let version = if ether_type[0] == 8 { 0x45 } else { 0x60 };
                let fragment = random() & random() & 0x20;
                let icmp = [3, 8, 11][usize::from(random()) % 3];
                let set = [
                    (ip, version),
                    (ip + 6, fragment),
                    (ip + 7, 0),
                    (ip + 9, protocol),
                ];
                let more = [(ip + 20, icmp), (ip + 28, 0x45), (12, ether_type[0])];
                for (at, byte) in set.into_iter().chain(more) {
                    if let Some(place) = frame.get_mut(at) {
                        *place = byte;
                    }
                }
                if let (1, Some(place)) = (link_type, frame.get_mut(13)) {
                    *place = ether_type[1];
                }
                frames.push((link_type, frame));
            }
        }
    }
    frames
}
