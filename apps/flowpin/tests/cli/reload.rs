//! USR2: a live run takes its filter and rules as they are by then, and loses no packet.

use crate::live::{json, read, with_a_cable};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// `reload WORD` asks for a reload, and waits until the run has said WORD once more.
const RELOAD: &str = r#"
    reload() {
        before=$(grep -c "$1" told || true); tries=0
        kill -USR2 $pid
        until [ "$(grep -c "$1" told || true)" -gt "$before" ]; do
            tries=$((tries + 1)); [ $tries -lt 600 ] || { cat told >&2; exit 7; }
            sleep 0.05
        done
    }
"#;

/// Runs a script with `reload`; whether it could be run.
fn with_reloads(script: &str, folder: &Path) -> bool {
    with_a_cable(&format!("{RELOAD}{script}"), folder).is_some()
}

/// How often each rule has alerted.
fn alerts(folder: &Path) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for line in read(folder, "live/eve.json").lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if let Some(sid) = event["alert"]["signature_id"].as_u64() {
            *counts.entry(sid).or_default() += 1;
        }
    }
    counts
}

/// Rules from one moment on are the new ones; a file without any leaves those that were there, in
/// one line. It is so in every shape, and for a run that is confined.
#[test]
fn rules_are_exchanged_while_a_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for shape in ["1x1", "1x2", "2x2", "3x2"] {
        let script = format!(
            r#"
            mkdir -p rules
            rule() {{ echo "alert tcp any any -> any any (msg:\"$1\"; flags:S; sid:$1;)"; }}
            rule 1 >rules/mine.rules
            capture -i b -S rules -l live --force --json --pipeline {shape}; send; sleep 0.4
            {{ rule 2; rule 3; }} >rules/new; mv rules/new rules/mine.rules
            reload ' reloaded: 2 rules'; send; sleep 0.4
            echo 'alert tcp any any -> any (nonsense' >rules/mine.rules
            reload 'not reloaded: .*the run goes on as it was'; send; stop"#
        );
        if !with_reloads(&script, folder) {
            return;
        }
        let told = read(folder, "told");
        assert_eq!(read(folder, "code"), "0\n", "{told}");
        let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
        let sent = truth["totals"]["packets"].as_u64().unwrap();
        assert_eq!(summary["traffic"]["packets"], 3 * sent, "{shape}");
        assert_eq!(summary["conservation"]["missing"], 0);
        assert_eq!(summary["run"]["reloads"], 1, "{summary}");
        assert_eq!(told.matches("not reloaded").count(), 1, "{told}");
        let counts = alerts(folder);
        let once = counts[&1];
        assert!(once > 0);
        assert_eq!(
            counts,
            BTreeMap::from([(1, once), (2, 2 * once), (3, 2 * once)]),
            "{shape}: {told}"
        );
        let rules = &summary["alerts"]["by_rule"];
        assert_eq!(rules.as_array().unwrap().len(), 3, "{rules}");
    }
}

/// A run that has begun without rules takes some, tells how long packets waited for that, and has
/// the memory of one without rules: its recording gives its records whatever is evicted.
#[test]
fn a_run_without_rules_takes_some() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for shape in ["1x1", "2x2"] {
        let script = format!(
            r#"
            mkdir -p conf; echo >conf/flowpin.toml
            capture -i b -c conf/flowpin.toml -l live --force --json --pipeline {shape}
            send; sleep 0.4
            echo 'alert tcp any any -> any any (msg:"one"; flags:S; sid:1;)' >conf/mine.rules
            echo 'alert http any any -> any any (http.method; content:"GET"; sid:2;)' \
                >>conf/mine.rules
            printf '[rules]\nfiles = ["conf/mine.rules"]\n' >conf/flowpin.toml
            reload ' reloaded: 2 rules (peak memory .*, packets waited [0-9.]* ms)'
            send; stop; mv summary reloaded; mv told told-reloaded
            echo >conf/flowpin.toml
            capture -i b -c conf/flowpin.toml -w all.pcapng -l little --memory 16MiB --force \
                --pipeline {shape}
            reload 'reloaded: nothing has changed'; send; stop
            $F run -r all.pcapng -l again --memory 16MiB --force -q"#
        );
        if !with_reloads(&script, folder) {
            return;
        }
        let told = read(folder, "told-reloaded");
        let (summary, truth) = (json(folder, "reloaded"), json(folder, "truth"));
        let sent = truth["totals"]["packets"].as_u64().unwrap();
        assert_eq!(summary["traffic"]["packets"], 2 * sent, "{told}");
        assert_eq!(summary["run"]["reloads"], 1, "{told}");
        let counts = alerts(folder);
        assert!(counts[&1] > 0 && counts[&2] > 0, "{counts:?}");
        let live = read(folder, "live/eve.json");
        let requests = live.matches("\"http_method\":\"GET\"").count() as u64;
        // Half of them came before the rules.
        assert!(counts[&2] < requests, "{counts:?}, {requests} requests");
        assert!(read(folder, "little/eve.json") == read(folder, "again/eve.json"));
    }
}

/// Packets that come while rules and the filter are exchanged again and again are all there, and
/// each is compared with one of the sets of rules.
#[test]
fn no_packet_is_lost_while_settings_change() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        rule() { echo "alert tcp any any -> any any (msg:\"$1\"; flags:S; sid:$1;)"; }
        rule 1 >mine.rules; echo ip >filter
        capture -i b -F filter -S mine.rules -w all.pcapng -l live --json --pipeline 1x2
        for times in 1 2 3 4 5 6; do send; done &
        sender=$!
        for sid in 2 3 4 5 6; do
            rule $sid >mine.rules; echo "ip or vlan $sid" >filter
            reload 'another filter, 1 rule '
        done
        wait $sender; stop
        $F run -r all.pcapng -l again -q"#;
    if !with_reloads(script, folder) {
        return;
    }
    let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
    let sent = truth["totals"]["packets"].as_u64().unwrap();
    assert_eq!(summary["traffic"]["packets"], 6 * sent);
    assert_eq!(summary["quality"]["dropped"], 0);
    assert_eq!(summary["run"]["reloads"], 5);
    let total: u64 = alerts(folder).values().sum();
    assert!(total > 0 && total.is_multiple_of(6), "{total}");
    // What does not tell of alerts is what the recording gives.
    let live = read(folder, "live/eve.json");
    let live = live.replace("\"alerted\":true", "\"alerted\":false");
    let others = live
        .lines()
        .filter(|line| !line.contains("\"event_type\":\"alert\""));
    assert!(others.eq(read(folder, "again/eve.json").lines()));
}

/// The filter is exchanged, whether the kernel runs it or, as it names VLANs, the run; one that
/// does not compile leaves the one before. The recording gives the run's records.
#[test]
fn the_filter_is_exchanged_while_a_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        echo udp >filter
        capture -i b -F filter -w all.pcapng -l live --json; send; sleep 0.3
        echo 'not udp # the others' >filter; reload ' reloaded: another filter'; send; sleep 0.3
        echo 'not (' >filter; reload 'not reloaded: filter "not (" does not compile'; sleep 0.3
        echo 'udp and not vlan' >filter; reload ' reloaded: another filter'; send; sleep 0.3
        echo 'not udp' >filter; reload ' reloaded: another filter'; send; stop
        $F run -r all.pcapng -l again -q"#;
    if !with_reloads(script, folder) {
        return;
    }
    assert_eq!(read(folder, "code"), "0\n", "{}", read(folder, "told"));
    let (summary, truth) = (json(folder, "summary"), json(folder, "truth"));
    let sent = truth["totals"]["packets"].as_u64().unwrap();
    assert_eq!(summary["traffic"]["packets"], 2 * sent);
    assert!(read(folder, "live/eve.json") == read(folder, "again/eve.json"));
}

/// Settings that a run cannot change are named, and the others taken. What lies elsewhere than the
/// settings did when the run gave up its rights is out of reach, and that is said.
#[test]
fn what_cannot_change_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        mkdir conf other
        echo 'alert tcp any any -> any any (sid:1;)' >conf/mine.rules
        cp conf/mine.rules other/mine.rules
        settings() { printf '[input]\nfilter = "%s"\n[live]\nring = "%s"\n%s' "$1" "$2" "$3"; }
        settings udp '8 MiB' "" >conf/flowpin.toml
        capture -i b -c conf/flowpin.toml -l logs
        settings tcp '9 MiB' '[rules]
files = ["conf/mine.rules"]' >conf/flowpin.toml
        reload ' reloaded: another filter, 1 rule .*; not before the next start: \[live\] ring'
        stop
        settings tcp '8 MiB' '[rules]
files = ["conf/mine.rules"]' >conf/flowpin.toml
        capture -i b -c conf/flowpin.toml -l logs --force
        settings udp '8 MiB' '[rules]
files = ["other/mine.rules"]' >conf/flowpin.toml
        reload 'not reloaded: .*'
        cp told refused
        settings tcp '8 MiB' '' >conf/flowpin.toml
        reload 'a run that has rules goes on with some'
        stop"#;
    if !with_reloads(script, folder) {
        return;
    }
    let told = read(folder, "refused");
    let line = told.lines().last().unwrap();
    // Without Landlock it could be read.
    if told.contains("cannot keep the run from other files") {
        return;
    }
    for part in ["other/mine.rules", "this run reads below conf"] {
        assert!(line.contains(part), "{line}");
    }
}
