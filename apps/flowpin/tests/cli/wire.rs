//! `flowpin run -i` on what real wires carry: tags, tunnels, fragments, long frames, the directions
//! of a tap on two interfaces, and programs that talk to each other.

use crate::live::{json, read, with_a_cable};
use flowpin_testkit::corpus;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Records without what depends on when packets were sent and by which interface they came, in an
/// order of their own.
pub(crate) fn timeless(folder: &Path, name: &str) -> Vec<String> {
    fn strip(value: &mut Value) {
        if let Value::Object(fields) = value {
            let names = [
                "timestamp",
                "flow_id",
                "in_iface",
                "start",
                "end",
                "age",
                "pcap_cnt",
                "rtt",
                "uid",
            ];
            names.iter().for_each(|name| drop(fields.remove(*name)));
            // Numbers of packets follow their order on several queues.
            fields.retain(|name, _| !name.ends_with("_us") && !name.ends_with("_packet"));
            fields.values_mut().for_each(strip);
        }
    }
    let text = read(folder, name);
    let records = text.lines().map(|line| {
        let mut record = serde_json::from_str(line).unwrap();
        strip(&mut record);
        record.to_string()
    });
    let mut records: Vec<_> = records.collect();
    records.sort();
    records
}

/// Each kind of frame gives the records that it gives from a file, and its recording gives them
/// byte for byte.
#[test]
fn what_wires_carry_gives_the_records_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        ip link set dev a mtu 9000; ip link set dev b mtu 9000
        wire() {
            name=$1; shift
            "$F" gen "$@" --connections 40 --seed 5 --force -w $name.pcap --no-truth >/dev/null
            "$F" run -r $name.pcap -l $name-file -q
            capture -i b -w $name.pcapng -l $name-live --json
            "$F" gen "$@" --connections 40 --seed 5 -i a --topspeed --truth truth >/dev/null
            stop; mv summary $name-summary; mv truth $name-truth
            "$F" run -r $name.pcapng -l $name-again -q --pipeline 1x2
        }
        wire vlan mix --vlan 7 --vlan 9
        wire vxlan mix --tunnel vxlan
        wire fragments fragments --datagram-len 5000
        wire fragments6 fragments --datagram-len 5000 --ipv6 1
        wire jumbo http --mtu 9000 --packet-len 6000
        ip link set dev a mtu 1500"#;
    if with_a_cable(script, folder).is_none() {
        return;
    }
    for name in ["vlan", "vxlan", "fragments", "fragments6", "jumbo"] {
        let (summary, truth) = (
            json(folder, &format!("{name}-summary")),
            json(folder, &format!("{name}-truth")),
        );
        assert_eq!(
            summary["traffic"]["packets"], truth["totals"]["packets"],
            "{name}"
        );
        let live = format!("{name}-live/eve.json");
        let records = timeless(folder, &live);
        assert!(records.len() >= 40, "{name}");
        assert_eq!(
            records,
            timeless(folder, &format!("{name}-file/eve.json")),
            "{name}"
        );
        assert!(
            read(folder, &live) == read(folder, &format!("{name}-again/eve.json")),
            "{name}"
        );
    }
}

/// A tap gives each direction on an interface of its own: together they are whole connections.
#[test]
fn two_directions_on_two_interfaces_are_one_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        ip link add name c type veth peer name d
        sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null || true
        ip link set dev c up; ip link set dev d up
        "$F" gen http --connections 60 --seed 7 -w all.pcap --truth truth >/dev/null
        "$F" run -r all.pcap -l file -q
        for shape in 1x2 2x2; do
            capture -i b -i d -w $shape.pcapng -l live-$shape --json --pipeline $shape
            python3 -c '
import socket, struct
ends = {}
for name in "ac":
    ends[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); ends[name].bind((name, 0))
data = open("all.pcap", "rb").read(); at = 24; first = set()
while at < len(data):
    kept = struct.unpack_from("<I", data, at + 8)[0]
    frame = data[at + 16 : at + 16 + kept]; at += 16 + kept
    both = frame[26:30], frame[30:34]
    if both[::-1] not in first: first.add(both)
    ends["a" if both in first else "c"].send(frame)
'
            stop; mv summary summary-$shape
            "$F" run -r $shape.pcapng -l again-$shape -q
        done"#;
    if with_a_cable(script, folder).is_none() {
        return;
    }
    for shape in ["1x2", "2x2"] {
        let summary = json(folder, &format!("summary-{shape}"));
        let sent = &json(folder, "truth")["totals"]["packets"];
        assert_eq!(summary["traffic"]["packets"], *sent, "{shape}");
        let live = format!("live-{shape}/eve.json");
        assert_eq!(
            timeless(folder, &live),
            timeless(folder, "file/eve.json"),
            "{shape}"
        );
        assert!(read(folder, &live) == read(folder, &format!("again-{shape}/eve.json")));
    }
}

/// Whoever is killed leaves a recording that can be read, and records of it that are whole.
#[test]
fn a_killed_run_leaves_what_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        capture -i b -w all.pcapng -l live; send; sleep 1.5
        kill -9 $pid; wait $pid || true; pid=
        $F run -r all.pcapng -l again -q --json >read || echo $? >code";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let (summary, truth) = (json(folder, "read"), json(folder, "truth"));
    assert_eq!(summary["traffic"]["packets"], truth["totals"]["packets"]);
    let live = read(folder, "live/eve.json");
    let again = read(folder, "again/eve.json");
    let whole = live.rfind('\n').map_or("", |end| &live[..=end]);
    assert!(again.starts_with(whole), "{live}");
}

/// Whether programs are there; says which are not.
pub(crate) fn are_there(test: &str, programs: &[&str]) -> bool {
    let is_missing = |program: &&&str| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output();
        !found.is_ok_and(|done| done.status.success())
    };
    let missing = programs.iter().find(is_missing);
    if let Some(missing) = missing {
        corpus::skip(test, &format!("no {missing}"));
    }
    missing.is_none()
}

/// A server's own log has a line for each http record, and the same.
#[test]
fn http_records_are_the_lines_of_the_servers_log() {
    let test = "http_records_are_the_lines_of_the_servers_log";
    if !are_there(test, &["nginx", "wrk"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        mkdir -p root tmp; head -c 1000 /dev/zero >root/a
        cat >nginx.conf <<END
daemon on; pid $PWD/nginx.pid; error_log $PWD/error.log; worker_processes 1;
events { }
http {
    access_log $PWD/access.log; root $PWD/root; default_type text/plain;
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp;
    uwsgi_temp_path tmp; scgi_temp_path tmp; keepalive_requests 50;
    server { listen 127.0.0.1:8080; }
}
END
        chmod 755 . root
        sed -i "1i user root;" nginx.conf
        nginx -p $PWD -c nginx.conf 2>nginx.err
        capture -i lo -l live --ring 256MiB --latency 20ms --json
        wrk -t 1 -c 8 -d 1s http://127.0.0.1:8080/a >wrk.out
        stop; kill $(cat nginx.pid)
        wc -l <access.log >lines
        grep -c '"event_type":"http"' live/eve.json >http"#;
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let summary = json(folder, "summary");
    assert_eq!(summary["quality"]["dropped"], 0);
    let lines: u64 = read(folder, "lines").trim().parse().unwrap();
    assert!(lines > 100, "{lines}");
    assert_eq!(read(folder, "http"), read(folder, "lines"));
}

/// Segments that the kernel joins to frames of 64 KiB are all there.
#[test]
fn a_bulk_transfer_is_counted_to_the_byte() {
    if !are_there("a_bulk_transfer_is_counted_to_the_byte", &["iperf3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        iperf3 -s -1 -B 127.0.0.1 --forceflush >server 2>&1 & server=$!
        until grep -qs listening server; do
            kill -0 $server || exit 7
            sleep 0.02
        done
        capture -i lo -l live --format zeek-json --ring 256MiB --latency 20ms --json
        iperf3 -c 127.0.0.1 -n 32M -J >client; wait $server; stop";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    assert_eq!(json(folder, "summary")["quality"]["dropped"], 0);
    let end = &json(folder, "client")["end"];
    let [sent, received] = ["sum_sent", "sum_received"].map(|sum| end[sum]["bytes"].as_u64());
    let records = read(folder, "live/conn.json");
    let bulk = records.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        let count = |name: &str| record[name].as_u64().unwrap_or(0);
        (count("orig_bytes"), count("missed_bytes"))
    });
    let (bytes, missed) = bulk.max().unwrap();
    assert_eq!(missed, 0, "{records}");
    // The test's cookie goes before the data. What the server had not read when time was up may
    // never have left.
    let expected = received.unwrap() + COOKIE_LEN..=sent.unwrap() + COOKIE_LEN;
    assert!(expected.contains(&bytes), "{bytes}, {expected:?}");
}

/// What an iperf3 client sends on each connection first.
const COOKIE_LEN: u64 = 37;
