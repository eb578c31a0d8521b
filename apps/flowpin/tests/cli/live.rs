//! `flowpin run -i`: live capture, on a cable between two interfaces of a namespace.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A cable with four queues from `a` to `b`, then `$1` in the folder `$2`, with `$F` for Flowpin.
///
/// `capture` starts a run and waits until it captures, `send` sends a trace of the same seed,
/// `stop` ends the run when it has read what was sent.
const SCRIPT: &str = r#"
set -eu
pid=
# Whatever fails, no run is left.
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null || true' EXIT
ip link add name a numrxqueues 4 numtxqueues 4 type veth peer name b numrxqueues 4 numtxqueues 4
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null || true
ip link set dev a up; ip link set dev b up; ip link set dev lo up
cd "$2"
capture() {
    # Of an earlier run.
    rm -f told summary code
    "$F" run "$@" >summary 2>told & pid=$!
    until grep -qs 'capturing from' told; do
        kill -0 $pid || { cat told >&2; exit 1; }
        sleep 0.02
    done
}
send() {
    rm -f truth
    "$F" gen mix --connections 60 --seed 7 -i a --topspeed --truth truth >/dev/null
}
stop() { sleep 0.3; kill -INT $pid; code=0; wait $pid || code=$?; echo $code >code; }
eval "$1"
"#;

/// Runs a script in a namespace of its own; none if the system does not let us.
pub(crate) fn with_a_cable(script: &str, folder: &Path) -> Option<Output> {
    for rights in [&["--net"][..], &["--net", "--user", "--map-root-user"]] {
        let run = |script: &str, words: &[&str]| {
            let mut command = Command::new("unshare");
            command.args(rights).args(["sh", "-c", script, "sh"]);
            command.args(words).env("F", env!("CARGO_BIN_EXE_flowpin"));
            command.output().ok()
        };
        let is_there = run("ip link add name a type veth peer name b", &[]);
        if is_there.is_some_and(|done| done.status.success()) {
            let done = run(SCRIPT, &[script, folder.to_str()?])?;
            let told = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.success(), "{told}");
            return Some(done);
        }
    }
    println!("skipped: no network namespace (`unshare`, `ip`) without more rights");
    None
}

pub(crate) fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

pub(crate) fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&read(folder, name)).unwrap()
}

/// A live run and its recording, read again in every shape, give the same bytes; and every packet
/// that was sent is among them.
#[test]
fn a_recording_gives_the_records_of_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for shape in ["1x1", "1x2", "2x2", "3x2"] {
        let script = format!(
            "capture -i b -w all.pcapng -l live --force --json --pipeline {shape}; send; stop
             for shape in 1x1 1x3 2x2 3x3; do
                 $F run -r all.pcapng -l $shape -q --force --pipeline $shape
             done"
        );
        if with_a_cable(&script, folder).is_none() {
            return;
        }
        assert_eq!(read(folder, "code"), "0\n", "{}", read(folder, "told"));
        let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
        let sent = &truth["totals"]["packets"];
        assert_eq!(summary["traffic"]["packets"], *sent, "{shape}");
        assert_eq!(summary["quality"]["dropped"], 0);
        let latency = |name: &str| summary["quality"][name].as_f64().unwrap();
        let (most, mean) = (
            latency("record_latency_max_s"),
            latency("record_latency_mean_s"),
        );
        assert!(0.0 < mean && mean <= most, "{mean} {most}");
        let live = read(folder, "live/eve.json");
        assert!(live.lines().count() > 60);
        let flows = live
            .lines()
            .filter(|line| line.contains("\"event_type\":\"flow\""));
        assert!(
            flows
                .clone()
                .all(|flow| flow.contains(",\"in_iface\":\"b\","))
        );
        assert!(!live.contains("\"queue\":"));
        for again in ["1x1", "1x3", "2x2", "3x3"] {
            assert!(
                live == read(folder, &format!("{again}/eve.json")),
                "{shape}, {again}"
            );
        }
    }
}

/// Where queues are captured one by one, records name them, and so do those of the recording.
#[test]
fn records_name_interface_and_queue() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        formats='--format eve --format csv --format zeek'
        capture -i b@0 -i b@1 -i b@2 -i b@3 -w all.pcapng -l live $formats --pipeline 2x2
        send; stop
        for shape in 1x1 1x3 3x3; do
            $F run -r all.pcapng -l $shape -q $formats --pipeline $shape --memory 16MiB
        done";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let live = read(folder, "live/eve.json");
    let events: Vec<Value> = (live.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let flows = events.iter().filter(|event| event["event_type"] == "flow");
    assert!(flows.count() > 30);
    let names = |event: &Value| {
        (
            event["in_iface"].clone(),
            event["flowpin"]["queue"].as_u64(),
        )
    };
    let mut of_flow = std::collections::BTreeMap::new();
    for event in events.iter().filter(|event| !event["flow_id"].is_null()) {
        let (name, queue) = names(event);
        assert_eq!(name, "b", "{event}");
        assert!(queue.unwrap() < 4, "{event}");
        // A connection's first packet came by one of them.
        if event["event_type"] != "alert" && event["event_type"] != "anomaly" {
            let flow = event["flow_id"].as_u64().unwrap();
            assert_eq!(*of_flow.entry(flow).or_insert(queue), queue, "{event}");
        }
    }
    let rows = read(folder, "live/conn.csv");
    let mut rows = rows.lines();
    assert!(rows.next().unwrap().ends_with(",interface,queue"));
    assert!(rows.all(|row| {
        ["b,0", "b,1", "b,2", "b,3"]
            .iter()
            .any(|end| row.ends_with(end))
    }));
    assert!(!read(folder, "live/conn.log").contains("interface"));
    for again in ["1x1", "1x3", "3x3"] {
        for file in ["eve.json", "conn.csv"] {
            let other = read(folder, &format!("{again}/{file}"));
            assert!(
                read(folder, &format!("live/{file}")) == other,
                "{again}, {file}"
            );
        }
    }
}

/// A recording in many files, read as one or file by file, gives the records of its run, and each
/// file is a whole capture; of those that are too many, the first are removed.
#[test]
fn a_recording_in_many_files_gives_the_records_of_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "capture -i b -w all.pcapng --write-rotate 20KiB -l live; send; stop
        cat all-*.pcapng | $F run -r - -l piped -q
        $F run $(for file in all-*.pcapng; do echo -r $file; done) -l named -q --json >read
        capture -i b -w last.pcapng --write-rotate 20KiB --write-keep 2 -l kept; send; stop
        capture -i b -w total.pcapng --write-rotate 20KiB --write-total 70KiB -l total; send; stop
        capture -i b -w hour.pcapng --write-rotate 1h -l hour; send; stop";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let live = read(folder, "live/eve.json");
    assert!(live == read(folder, "piped/eve.json"));
    assert!(live == read(folder, "named/eve.json"));
    let names = |stem: &str| {
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
        let named = files.filter(|file| file.file_name().to_str().unwrap().starts_with(stem));
        let mut named: Vec<_> = named
            .map(|file| {
                (
                    file.file_name().into_string().unwrap(),
                    file.metadata().unwrap().len(),
                )
            })
            .collect();
        named.sort();
        named
    };
    let all = names("all");
    assert!(
        all.len() > 5 && all.iter().all(|(_, len)| *len <= 20 << 10),
        "{all:?}"
    );
    let damaged = &json(folder, "read")["inputs"];
    let damaged = damaged
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| !file["damage"].is_null());
    assert_eq!(damaged.count(), 0);
    let last = names("last");
    assert_eq!(last.len(), 2, "{last:?}");
    assert!(
        last[0].0 >= all[all.len() - 3].0.replace("all", "last"),
        "{last:?}"
    );
    let total = names("total-");
    let bytes: u64 = total.iter().map(|(_, len)| len).sum();
    assert!((40 << 10..=70 << 10).contains(&bytes), "{total:?}");
    assert!(total.last().unwrap().0 >= all[all.len() - 3].0.replace("all", "total"));
    let [(hour, _)] = names("hour-").try_into().unwrap();
    assert!(hour.ends_with("-00-00Z.pcapng"), "{hour}");
}

/// A compressed recording gives the records of its run, in one file or in many, and is a whole file
/// of its kind.
#[test]
fn compressed_recordings_give_the_records_of_their_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        for name in all.pcapng.gz all.pcapng.zst; do
            capture -i b -w $name -l live-$name; send; stop
            $F run -r $name -l again-$name -q --json >read-$name
        done
        capture -i b -w many.pcapng.zst --write-rotate 20KiB -l live-many; send; stop
        cat many-*.pcapng.zst | $F run -r - -l again-many -q
        gzip -t all.pcapng.gz && echo whole >tested
        ls many-*.zst | wc -l >count";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    for name in ["all.pcapng.gz", "all.pcapng.zst", "many"] {
        let live = read(folder, &format!("live-{name}/eve.json"));
        assert!(live.lines().count() > 60);
        assert!(
            live == read(folder, &format!("again-{name}/eve.json")),
            "{name}"
        );
    }
    assert_eq!(read(folder, "tested"), "whole\n");
    assert!(read(folder, "count").trim().parse::<u32>().unwrap() > 5);
    let input = &json(folder, "read-all.pcapng.zst")["inputs"][0];
    assert!(input["damage"].is_null(), "{input}");
}

/// The kernel keeps what does not pass the filter, and all queues together have what the
/// interface has, whichever way they are named.
#[test]
fn filters_and_queues_divide_the_packets() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        total=0
        for what in 'b udp' 'b not udp' 'b@0' 'b@1' 'b@2' 'b@3' 'b not vlan' \\
            'b@0 -i b@1 -i b@2 -i b@3'
        do
            capture -i $what --json --format none; send; stop
            mv summary \"s$total\"; total=$((total + 1))
        done
        $F run -i b@4 --format none 2>refused || echo $? >refusal";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    divided_and_whole(folder);
}

/// Runs of two filters, of four queues, and of all have each packet once; a fifth queue is refused.
pub(super) fn divided_and_whole(folder: &Path) {
    let sent = json(folder, "truth")["totals"]["packets"].as_u64().unwrap();
    let seen = |run: usize| {
        let summary = json(folder, &format!("s{run}"));
        summary["traffic"]["packets"].as_u64().unwrap()
    };
    assert!(seen(0) > 0 && seen(1) > 0);
    assert_eq!(seen(0) + seen(1), sent);
    assert_eq!((2..6).map(seen).sum::<u64>(), sent);
    assert_eq!((seen(6), seen(7)), (sent, sent));
    assert_eq!(read(folder, "refusal"), "3\n");
    assert!(read(folder, "refused").contains("it has 4, counted from 0"));
}

/// Several rings, which the kernel fills by queue or, where there are fewer, by hosts, have each
/// packet once; and their recording gives the records.
#[test]
fn several_rings_have_the_packets_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        for rings in 4 6; do
            capture -i b --rings $rings -w $rings.pcapng -l live-$rings --json --pipeline 1x2
            send; stop
            mv summary summary-$rings
            $F run -r $rings.pcapng -l again-$rings -q --pipeline 1x1
        done
        capture -i b --rings 4 --json --format none --ring 2MiB
        kill -STOP $pid
        $F gen http --packets 20000 --packet-len 1000 -i a --topspeed --truth many >/dev/null
        kill -CONT $pid; stop";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let sent = &json(folder, "truth")["totals"]["packets"];
    for rings in ["4", "6"] {
        let summary = json(folder, &format!("summary-{rings}"));
        assert_eq!(summary["traffic"]["packets"], *sent, "{rings}");
        let live = read(folder, &format!("live-{rings}/eve.json"));
        assert!(live.lines().count() > 60);
        assert!(live == read(folder, &format!("again-{rings}/eve.json")));
    }
    let summary = json(folder, "summary");
    let count = |value: &Value| value.as_u64().unwrap();
    let dropped = count(&summary["quality"]["dropped"]);
    let read = count(&summary["traffic"]["packets"]);
    assert!(dropped > 0, "{read} read");
    let many = json(folder, "many");
    assert_eq!(read + dropped, count(&many["totals"]["packets"]));
}

/// What the ring has no room for is counted once: packets read and dropped are those sent.
#[test]
fn every_packet_is_read_or_counted_as_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        capture -i b --json --format none --ring '1 MiB'
        kill -STOP $pid
        $F gen http --packets 20000 --packet-len 1000 -i a --topspeed --truth truth >/dev/null
        kill -CONT $pid; stop";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
    let count = |value: &Value| value.as_u64().unwrap();
    let dropped = count(&summary["quality"]["dropped"]);
    let read = count(&summary["traffic"]["packets"]);
    assert!(dropped > 0 && read > 0, "{read} read, {dropped} dropped");
    assert_eq!(read + dropped, count(&truth["totals"]["packets"]));
    assert_eq!(summary["conservation"]["missing"], 0);
}

/// Time runs without packets: what ends by time is written, while the run goes on.
#[test]
fn connections_end_by_time_without_a_packet() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // A closed connection ends after 5 s (Zeek's time-outs).
    let script = "
        capture -i b -w all.pcapng -l live; send
        tries=0
        until grep -q '\"event_type\":\"flow\"' live/eve.json; do
            tries=$((tries + 1)); [ $tries -lt 300 ] || exit 7
            sleep 0.1
        done
        cp live/eve.json before; stop
        $F run -r all.pcapng -l again -q";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    assert!(read(folder, "live/eve.json").starts_with(&read(folder, "before")));
    assert_eq!(
        read(folder, "live/eve.json"),
        read(folder, "again/eve.json")
    );
}

/// An interface that goes down and comes up again is captured from on; one that is removed ends
/// the run with what was there, and says so.
#[test]
fn a_removed_interface_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        capture -i b --json --format none
        ip link set dev b down; sleep 0.2; ip link set dev b up; sleep 0.2
        ip link set dev b mtu 9000; ip link set dev a mtu 9000; sleep 1.2
        send; sleep 0.3; ip link del dev b
        code=0; wait $pid || code=$?; echo $code >code";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    assert_eq!(read(folder, "code"), "4\n");
    let told = read(folder, "told");
    for word in [
        "b: the link is up again, after ",
        "b: the MTU is now 9000, no longer 1500",
        "b: the interface was removed; everything before it is analysed",
    ] {
        assert_eq!(told.matches(word).count(), 1, "{word}: {told}");
    }
    // A removal sets the link down first, which a look may meet.
    let downs = told
        .matches("b: the link is down; the capture waits for it")
        .count();
    assert!((1..=2).contains(&downs), "{told}");
    let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
    assert_eq!(summary["traffic"]["packets"], truth["totals"]["packets"]);
    let notes = summary["inputs"][0]["notes"].to_string();
    let times = ["once", "2 times"][downs - 1];
    assert!(
        notes.contains(&format!("b: the link was down {times}, ")),
        "{notes}"
    );
}

/// One that is removed while it is down is missed, too.
#[test]
fn an_interface_that_was_down_and_is_removed_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        ip link set dev a down
        capture -i b --format none
        sleep 0.2; ip link set dev b down; sleep 1.2; ip link del dev b
        code=0; wait $pid || code=$?; echo $code >code";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    assert_eq!(read(folder, "code"), "4\n");
    let told = read(folder, "told");
    assert!(
        told.contains("b: the link has no carrier; the capture waits"),
        "{told}"
    );
    assert!(told.contains("b: the interface was removed"), "{told}");
}

/// Counters for Prometheus while the run goes on, and signs of life for systemd, also of a run that
/// is confined.
#[test]
fn a_service_tells_how_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify"); s.settimeout(20)
said = []
while "STOPPING=1" not in said:
    said.append(s.recv(100).decode())
    print(said[-1], flush=True)
' >said & listener=$!
        until [ -S notify ]; do sleep 0.02; done
        NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=1500000 \
            capture -i b --format none --metrics 127.0.0.1:9477
        send; sleep 1.6
        python3 -c '
import urllib.request
a = urllib.request.urlopen("http://127.0.0.1:9477/metrics", timeout=5)
print(a.headers["Content-Type"]); print(a.read().decode())' >metrics
        stop; wait $listener"#;
    if with_a_cable(script, folder).is_none() {
        return;
    }
    assert_eq!(read(folder, "code"), "0\n", "{}", read(folder, "told"));
    let metrics = read(folder, "metrics");
    let sent = &json(folder, "truth")["totals"]["packets"];
    assert!(
        metrics.starts_with("application/openmetrics-text"),
        "{metrics}"
    );
    for line in [
        format!("flowpin_packets_total {sent}"),
        "flowpin_dropped_packets_total 0".to_owned(),
        "# TYPE flowpin_record_latency_max_seconds gauge".to_owned(),
        "# EOF".to_owned(),
    ] {
        assert!(metrics.lines().any(|one| one == line), "{line}: {metrics}");
    }
    let said = read(folder, "said");
    assert!(said.starts_with("READY=1\nWATCHDOG=1\n"), "{said}");
    assert!(said.ends_with("STOPPING=1\n"), "{said}");
}

/// What `flowpin doctor` finds is so: rights, queues, and links that are down.
#[test]
fn the_doctor_tells_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = "
        $F doctor b --json >up || true
        ip link set dev b down
        $F doctor >down 2>&1 || echo $? >code
        $F doctor none-such >refused 2>&1 || echo $? >refusal";
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let found = json(folder, "up");
    let findings = found[1]["findings"].as_array().unwrap();
    let of = |subject| {
        findings
            .iter()
            .find(|one| one["subject"] == subject)
            .unwrap()
    };
    assert_eq!(found[1]["name"], "Interface b, driver veth");
    assert_eq!(of("capture")["state"], "good");
    assert_eq!(of("queues")["what"], "4 receive queues");
    assert_eq!(
        of("offload")["todo"].is_null(),
        of("offload")["state"] == "good"
    );
    let down = read(folder, "down");
    assert!(
        down.contains("Interface a") && down.contains("Interface b"),
        "{down}"
    );
    assert!(!down.contains("Interface lo"), "{down}");
    assert_eq!(read(folder, "refusal"), "2\n");
    assert!(read(folder, "refused").contains("there are: "));
}

/// What cannot be captured from, or not so, is told in one line before anything is made.
#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (words, code, part) in [
        (
            &["-i", "no-such-one"][..],
            3,
            "there is no interface no-such-one",
        ),
        (&["-i", "lo", "-r", "x"], 2, "not from both"),
        (&["-w", "x", "-r", "y"], 2, "`-w` records what is captured"),
        (
            &["-i", "lo", "--write-rotate", "1h"],
            2,
            "name it with `-w FILE`",
        ),
        (
            &["-i", "lo", "-w", "x", "--write-keep", "1"],
            2,
            "`--write-rotate`",
        ),
        (
            &["-i", "lo", "-w", "x", "--write-total", "1GiB"],
            2,
            "`--write-rotate`",
        ),
        (
            &["-r", "x", "--stats-every", "1s"],
            2,
            "with `--stats FILE`",
        ),
        (&["-r", "x", "--stats", "-"], 2, "a file of its own"),
        (&["-r", "x", "--var", "A=1"], 2, "with `-S PATH`"),
        (
            &["-r", "x", "--netflow", "--format", "zeek"],
            2,
            "add it to `--format`",
        ),
        (&["-r", "x", "--shed"], 2, "`--shed` leaves work out"),
        (
            &["-r", "x", "--rings", "2"],
            2,
            "captured from an interface",
        ),
        (
            &["-i", "lo", "--rings", "2", "--capture", "af-xdp"],
            2,
            "a socket for each receive queue anyway",
        ),
        (&["-i", "a/b"], 2, "is no interface"),
        (&["-i", "lo", "-s", "0"], 2, "must be more than 0"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowpin"));
        let done = command.arg("run").args(words).current_dir(folder.path());
        let done = done.output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(code), "{words:?}: {told}");
        assert!(told.contains(part), "{words:?}: {told}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
