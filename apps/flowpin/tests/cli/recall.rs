//! `--record-if` live: of several interfaces, and by another user who is confined.

use crate::live::{json, read, with_a_cable};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Connections of a run by their ends: what they speak, and how many packets of each side.
fn connections(folder: &Path, logs: &str) -> BTreeMap<String, (String, Value, Value)> {
    let mut found = BTreeMap::new();
    for line in read(folder, &format!("{logs}/eve.json")).lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event_type"] != "flow" {
            continue;
        }
        let ends = ["src_ip", "src_port", "dest_ip", "dest_port", "proto"];
        let ends = ends.map(|name| event[name].to_string()).join(" ");
        let flow = &event["flow"];
        let app = event["app_proto"].as_str().unwrap_or_default().to_owned();
        let count = |name: &str| flow[name].clone();
        found.insert(ends, (app, count("pkts_toserver"), count("pkts_toclient")));
    }
    found
}

/// Checks that the recording, which was read again, has all packets of connections that speak DNS,
/// and no others.
#[track_caller]
fn assert_dns_is_recorded(folder: &Path, live: &str, again: &str) {
    let mut expected = connections(folder, live);
    let all = expected.len();
    expected.retain(|_, (app, ..)| app == "dns");
    assert!(!expected.is_empty() && expected.len() < all);
    assert_eq!(connections(folder, again), expected);
}

/// Packets of two interfaces become one recording in the order of their times, with connections of
/// both.
#[test]
fn two_interfaces_are_recorded_by_what_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        ip link add name c type veth peer name d
        sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null || true
        ip link set dev c up; ip link set dev d up
        for shape in 1x1 2x2; do
            rm -f other
            capture -i b -i d -w $shape.pcapng --record-if app:dns -l live-$shape --json \\
                --pipeline $shape
            $F gen mix --connections 60 --seed 8 -i c --topspeed --truth other >/dev/null &
            sender=$!
            send; wait $sender; stop
            mv summary summary-$shape
            $F run -r $shape.pcapng -l again-$shape -q
        done";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let sent = |name: &str| json(folder, name)["totals"]["packets"].as_u64().unwrap();
    for shape in ["1x1", "2x2"] {
        let summary = json(folder, &format!("summary-{shape}"));
        assert_eq!(summary["traffic"]["packets"], sent("truth") + sent("other"));
        assert_dns_is_recorded(folder, &format!("live-{shape}"), &format!("again-{shape}"));
    }
}

/// The recording is made by the user whom the run becomes, also its later files, when the run can
/// open nothing else any more.
#[test]
fn another_user_records_what_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        # Only where there are other users.
        [ "$(awk '{ sum += $3 } END { print sum }' /proc/self/uid_map)" -gt 65534 ] || exit 0
        chmod 755 .; mkdir out; chown nobody out
        capture -i b -w out/found.pcapng --write-rotate 20KiB --record-if app:dns -l out/live \
            --json --user nobody
        grep '^Uid:' /proc/$pid/status >user
        send; stop
        stat -c %U out/*.pcapng | sort -u >owner
        $F run $(for file in out/*.pcapng; do echo -r $file; done) -l again -q"#;
    if with_a_cable(script, folder).is_none() || !folder.join("user").exists() {
        println!("skipped: no other users here");
        return;
    }
    assert_eq!(read(folder, "code"), "0\n", "{}", read(folder, "told"));
    assert!(!read(folder, "user").contains("\t0\t"));
    assert_eq!(read(folder, "owner"), "nobody\n");
    let files = std::fs::read_dir(folder.join("out")).unwrap();
    assert!(
        files.count() > 2,
        "logs, and several files of the recording"
    );
    assert_dns_is_recorded(folder, "out/live", "again");
}
