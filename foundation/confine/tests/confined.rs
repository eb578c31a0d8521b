//! What a confined process can still do, and what it cannot: tried in a process of its own.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

/// Names the folder for the process that confines itself.
const FOLDER: &str = "FLOWPIN_TEST_CONFINED";

/// In a process of its own: each line is something that went otherwise than it should.
#[test]
fn confined() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let kept = fs::File::open("/etc/hostname").or_else(|_| fs::File::open("/etc/passwd"));
    let (folder, read) = (folder.join("logs"), folder.join("rules"));
    let folders = [&folder, &read].map(std::slice::from_ref);
    let done = flowpin_confine::confine(folders[0], folders[1], false).unwrap();
    // What a capture needs.
    let path = folder.join("eve.json");
    fs::write(&path, "one\n").unwrap();
    let mut more = fs::OpenOptions::new().append(true).open(&path).unwrap();
    more.write_all(b"two\n").unwrap();
    more.sync_all().unwrap();
    fs::rename(&path, folder.join("eve.json.1")).unwrap();
    fs::remove_file(folder.join("eve.json.1")).unwrap();
    fs::create_dir(folder.join("sub")).unwrap();
    fs::read_to_string("/proc/self/status").unwrap();
    assert_eq!(
        fs::read_to_string(read.join("mine.rules")).unwrap(),
        "rules"
    );
    assert_eq!(fs::read_dir(&read).unwrap().count(), 1);
    assert_eq!(thread::spawn(|| 7).join().unwrap(), 7);
    let mut text = String::new();
    kept.unwrap().read_to_string(&mut text).unwrap();
    // What it does not.
    let refused = |what: &str, is_refused: bool| assert!(is_refused, "could still {what}");
    refused(
        "start a program",
        Command::new("/bin/true").spawn().is_err(),
    );
    refused(
        "connect",
        TcpStream::connect("127.0.0.1:9").is_err_and(is_forbidden),
    );
    refused(
        "bind",
        UdpSocket::bind("127.0.0.1:0").is_err_and(is_forbidden),
    );
    refused(
        "listen",
        UnixStream::connect("/run/x").is_err_and(is_forbidden),
    );
    if done.files {
        refused(
            "read files",
            fs::read("/etc/passwd").is_err_and(is_forbidden),
        );
        refused(
            "list folders",
            fs::read_dir("/etc").is_err_and(is_forbidden),
        );
        let beside = folder.parent().unwrap().join("flowpin-confined-beside");
        refused(
            "write files",
            fs::write(beside, "x").is_err_and(is_forbidden),
        );
        refused(
            "write what it reads",
            fs::write(read.join("mine.rules"), "x").is_err_and(is_forbidden),
        );
        refused("use links", {
            let link = folder.join("link");
            let linked = std::os::unix::fs::symlink("/etc/passwd", &link);
            linked.is_err() || fs::read(link).is_err_and(is_forbidden)
        });
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    assert!(
        status.contains("NoNewPrivs:\t1\n") && status.contains("Seccomp:\t2\n"),
        "{status}"
    );
    println!("confined, files {}", done.files);
}

fn is_forbidden(error: std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::PermissionDenied
}

#[test]
fn a_confined_process_can_do_its_work_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["logs", "rules"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("rules/mine.rules"), "rules").unwrap();
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "confined", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout).into_owned();
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{told}{said}");
    assert!(told.contains("confined, files"), "{told}");
}

/// A name that nobody has is told as that, before anything is given up.
#[test]
fn a_user_that_is_not_there_is_named() {
    let told = flowpin_confine::become_user("no-such-user-here").unwrap_err();
    assert!(
        told.to_string().contains("no user no-such-user-here"),
        "{told}"
    );
}
