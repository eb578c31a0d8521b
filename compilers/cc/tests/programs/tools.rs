//! What these tests need beside the crate: a C compiler, make, libpcap's headers, libclang.

use flowpin_cc::{LibraryError, Output, ReadError, Sources, collect};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The C compilers that are installed; clang beside gcc, where it is there.
pub(crate) fn compilers() -> Vec<&'static str> {
    let is_there = |name: &&str| {
        let has_pcap = Path::new("/usr/include/pcap.h").exists();
        let version = Command::new(name).arg("--version").output();
        let make = Command::new("make").arg("--version").output();
        has_pcap && version.is_ok() && make.is_ok()
    };
    let gcc = ["cc"].into_iter().find(|name| is_there(name));
    let clang = ["clang-19", "clang"]
        .into_iter()
        .find(|name| is_there(name));
    gcc.into_iter().chain(clang).collect()
}

/// Why libclang cannot be used; none if it can.
pub(crate) fn has_libclang() -> Option<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("empty.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let sources = Sources::of_files(folder.path(), &[source], &[]).unwrap();
    match collect(&sources) {
        Err(ReadError::Library(LibraryError::Missing)) => Some("libclang-19-dev"),
        Err(ReadError::Library(LibraryError::TooOld(_))) => Some("libclang of at least 19.1"),
        _ => None,
    }
}

pub(crate) fn skipped(why: &str) {
    println!("skipped: {why} is not installed");
}

/// Writes an output below a folder.
pub(crate) fn write(output: &Output, folder: &Path) {
    for file in &output.files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.text).unwrap();
    }
}

/// What a command prints; it must succeed.
pub(crate) fn run(command: &mut Command, what: &str) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let (out, err) = (&output.stdout, &output.stderr);
    let (out, err) = (String::from_utf8_lossy(out), String::from_utf8_lossy(err));
    assert!(
        output.status.success(),
        "{what}: {}\n{out}{err}",
        output.status
    );
    out.into_owned()
}

/// Eight UDP packets between eight hosts, as a pcap file.
pub(crate) fn small_capture() -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    for host in 0..8_u8 {
        let mut frame = vec![0; 12];
        frame.extend_from_slice(&[8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend_from_slice(&[10, 0, 0, host, 10, 0, 1, host, 0, 7, 0, 9, 0, 8, 0, 0]);
        for word in [1, 0, frame.len() as u32, frame.len() as u32] {
            file.extend_from_slice(&u32::to_le_bytes(word));
        }
        file.extend_from_slice(&frame);
    }
    file
}
