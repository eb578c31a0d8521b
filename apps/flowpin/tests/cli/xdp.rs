//! `flowpin run -i … --capture af-xdp`: packets taken away before the host gets them. Where the
//! kernel does not let us, as in a user namespace, the tests are skipped and say so.

use crate::live::{json, read, with_a_cable};
use crate::wire::{are_there, timeless};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs a script whose runs capture by AF_XDP; whether it could be run.
fn with_xdp(script: &str, folder: &Path) -> bool {
    let probe = r#"
        "$F" run -i b --capture af-xdp --format none >/dev/null 2>probed & pid=$!
        until grep -qs 'capturing from\|flowpin: .*AF_XDP' probed; do
            kill -0 $pid 2>/dev/null || break
            sleep 0.02
        done
        kill -INT $pid 2>/dev/null || true; wait $pid || true; pid="#;
    if with_a_cable(probe, folder).is_none() {
        return false;
    }
    let told = read(folder, "probed");
    if !told.contains("flowpin: capturing from b\n") {
        println!("skipped: {}", told.trim());
        return false;
    }
    with_a_cable(script, folder).is_some()
}

/// All queues together give the records of a ring, and their recording gives them again, byte for
/// byte; how packets come is said.
#[test]
fn records_are_those_of_a_ring() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for shape in ["1x1", "1x2", "3x2"] {
        let script = format!(
            "capture -i b -l ring --force --pipeline {shape}; send; stop
             capture -i b --capture af-xdp -w all.pcapng -l xdp --force --json --pipeline {shape}
             send; stop
             for shape in 1x1 1x3 2x2 3x3; do
                 $F run -r all.pcapng -l $shape -q --force --pipeline $shape
             done
             ip -details link show dev b >after"
        );
        if !with_xdp(&script, folder) {
            return;
        }
        let told = read(folder, "told");
        assert_eq!(read(folder, "code"), "0\n", "{told}");
        assert!(told.contains("b: AF_XDP, native, copied"), "{told}");
        assert!(told.contains("b: its driver has no zero-copy ("), "{told}");
        let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
        assert_eq!(
            summary["traffic"]["packets"], truth["totals"]["packets"],
            "{shape}"
        );
        assert_eq!(summary["quality"]["dropped"], 0);
        let records = timeless(folder, "xdp/eve.json");
        assert!(records.len() > 60);
        assert_eq!(records, timeless(folder, "ring/eve.json"), "{shape}");
        let live = read(folder, "xdp/eve.json");
        for again in ["1x1", "1x3", "2x2", "3x3"] {
            assert!(
                live == read(folder, &format!("{again}/eve.json")),
                "{shape}, {again}"
            );
        }
        assert!(!read(folder, "after").contains("prog/xdp"));
    }
}

/// Filters run in Flowpin, also another one that comes while the run goes on; a queue is a part of
/// its interface.
#[test]
fn filters_and_queues_divide_what_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        total=0
        for what in 'b udp' 'b not udp' 'b@0' 'b@1' 'b@2' 'b@3' 'b@0 -i b@1 -i b@2 -i b@3'; do
            capture -i $what --capture af-xdp --json --format none; send; stop
            mv summary \"s$total\"; total=$((total + 1))
        done
        echo udp >filter
        capture -i b --capture af-xdp -F filter --json --format none; send; sleep 0.3
        echo 'not udp' >filter; kill -USR2 $pid
        until grep -q 'reloaded: another filter' told; do sleep 0.02; done
        send; stop; mv summary s7
        $F run -i b@4 --capture af-xdp --format none 2>refused || echo $? >refusal";
    if !with_xdp(script, folder) {
        return;
    }
    crate::live::divided_and_whole(folder);
}

/// What finds no free frame is counted once: packets read and dropped are those sent. Long frames
/// have several parts, and are one packet.
#[test]
fn every_packet_is_read_or_counted_as_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        gen() {
            $F gen http --packets 20000 --packet-len $1 -i a --topspeed --truth truth >/dev/null
        }
        capture -i b --capture af-xdp --json --format none --ring '2 MiB'
        kill -STOP $pid; gen 1000; kill -CONT $pid; stop
        mv summary dropped; mv truth many
        ip link set dev a mtu 9000; ip link set dev b mtu 9000
        capture -i b --capture af-xdp --json --format none --ring '256 MiB'
        gen 8000; stop";
    if !with_xdp(script, folder) {
        return;
    }
    let count = |value: &Value| value.as_u64().unwrap();
    let (summary, truth) = (json(folder, "dropped"), json(folder, "many"));
    let dropped = count(&summary["quality"]["dropped"]);
    let taken = count(&summary["traffic"]["packets"]);
    assert!(dropped > 0 && taken > 0, "{taken} read, {dropped} dropped");
    assert_eq!(taken + dropped, count(&truth["totals"]["packets"]));
    assert_eq!(summary["conservation"]["missing"], 0);
    let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
    for (seen, sent) in [("packets", "packets"), ("bytes", "frame_bytes")] {
        assert_eq!(summary["traffic"][seen], truth["totals"][sent], "{seen}");
    }
}

/// Queues that are added while a run goes on have no socket: a line says so, and what comes by them
/// is counted.
#[test]
fn packets_of_added_queues_are_counted() {
    if !are_there("packets_of_added_queues_are_counted", &["ethtool"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        ethtool -L a tx 2; ethtool -L b rx 2 tx 2
        capture -i b --capture af-xdp --json --format none; send; sleep 0.3
        ethtool -L b rx 4; ethtool -L a tx 4
        until grep -q 'there are 4 receive queues' told; do sleep 0.02; done
        send; stop
        ethtool -L b rx 4 tx 4";
    if !with_xdp(script, folder) {
        return;
    }
    let told = read(folder, "told");
    let line = "b: there are 4 receive queues in use now, no longer 2; packets of new ones go to";
    assert!(told.contains(line), "{told}");
    let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
    let count = |value: &Value| value.as_u64().unwrap();
    let missed = count(&summary["losses"]["queues_added"]);
    assert!(missed > 0, "{summary}");
    let taken = count(&summary["traffic"]["packets"]);
    assert_eq!(taken + missed, 2 * count(&truth["totals"]["packets"]));
}

/// The host is told what it loses, another program is not pushed aside, a kill leaves nothing, and
/// an interface without its own XDP is taken by the kernel's.
#[test]
fn what_the_host_loses_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        ip address add 10.9.9.1/24 dev b
        capture -i b --capture af-xdp --format none
        $F run -i b --capture af-xdp --format none 2>refused || echo $? >refusal
        mv told addresses
        kill -9 $pid; wait $pid || true
        tries=0
        while ip -details link show dev b | grep -q prog/xdp; do
            tries=$((tries + 1)); [ $tries -lt 100 ] || exit 7
            sleep 0.02
        done
        capture -i lo --capture af-xdp --json --format none; stop; mv told generic
        capture -i b --capture af-xdp --json --format none
        ip link set dev b down; sleep 0.2; ip link set dev b up; sleep 1.2
        send; sleep 0.3; ip link del dev b
        code=0; wait $pid || code=$?; echo $code >code";
    if !with_xdp(script, folder) {
        return;
    }
    let told = read(folder, "addresses");
    assert!(
        told.contains("b has the address 10.9.9.1: AF_XDP takes what it receives away"),
        "{told}"
    );
    assert_eq!(read(folder, "refusal"), "3\n");
    assert!(read(folder, "refused").contains("another program has an XDP program on b"));
    let told = read(folder, "generic");
    assert!(told.contains("lo: AF_XDP, generic, copied"), "{told}");
    assert_eq!(read(folder, "code"), "4\n");
    let told = read(folder, "told");
    assert!(told.contains("b: the link is up again, after "), "{told}");
    let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
    assert_eq!(
        summary["traffic"]["packets"], truth["totals"]["packets"],
        "{told}"
    );
    assert!(fs::exists(folder.join("probed")).unwrap());
}
