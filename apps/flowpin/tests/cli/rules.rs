//! `flowpin rules profile` over a bundled capture.

use crate::program::{capture, code, flowpin, stderr, stdout, text};
use std::fs;

/// A rule that fits, one that is compared in vain, one that never is: by comparisons and matches.
/// No figure of time is held to anything.
#[test]
fn a_profile_counts_comparisons_and_matches() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("r.rules");
    fs::write(
        &rules,
        "alert http any any -> any any (msg:\"fits\"; http.method; content:\"GET\"; sid:1;)\n\
         alert http any any -> any any (msg:\"in vain\"; http.method; content:\"GET\"; \
         http.host; content:\"no.such.host\"; sid:2;)\n\
         alert tcp any any -> any 1 (msg:\"never\"; content:\"nothing has this\"; sid:3;)\n",
    )
    .unwrap();
    let lab = capture("lab-day.pcapng");
    let output = flowpin(&["rules", "profile", "-r", &lab, "--top", "9", text(&rules)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let shown = stdout(&output);
    // share, time and its unit, checks, each and its unit, matches, rule
    let row = |sid: &str| {
        let mut rows = shown.lines().filter(|line| line.contains(sid));
        let row: Vec<&str> = rows.next()?.split_whitespace().collect();
        let count = |at: usize| row[at].parse::<u64>().unwrap();
        Some((count(3), count(6)))
    };
    let (checks, matches) = row("1:1 fits").unwrap();
    assert!(matches > 0 && matches <= checks, "{shown}");
    let in_vain = row("1:2 in vain");
    assert!(in_vain.is_none_or(|(_, matches)| matches == 0), "{shown}");
    assert_eq!(row("1:3 never"), None, "{shown}");
    // The one buffer that is examined, and searched.
    let (buffers, searches) = shown.split_once("\nSearches").unwrap();
    for part in [buffers, searches] {
        assert_eq!(part.matches("\n  http.method ").count(), 1, "{shown}");
    }
}

/// A damaged capture is told, with the exit code that says so.
#[test]
fn a_profile_tells_of_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (rules, cut) = (
        folder.path().join("r.rules"),
        folder.path().join("cut.pcapng"),
    );
    fs::write(
        &rules,
        "alert tcp any any -> any any (content:\"x\"; sid:1;)\n",
    )
    .unwrap();
    let whole = fs::read(capture("lab-day.pcapng")).unwrap();
    fs::write(&cut, &whole[..whole.len() - 9]).unwrap();
    let output = flowpin(&["rules", "profile", "-r", text(&cut), text(&rules)]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("cut.pcapng"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("Rules  by time"));
}

/// Alerts about ICMP have the Community ID of their packet, computed by the Python package
/// `communityid`: of errors by type and code, of an echo as its connection's record.
#[test]
fn alerts_about_icmp_have_their_own_community_id() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("r.rules");
    let rule = "alert icmp any any -> any any (itype:<99; sid:1;)\n";
    fs::write(&rules, rule).unwrap();
    let lab = capture("lab-day.pcapng");
    let output = flowpin(&["run", "-q", "-r", &lab, "-S", text(&rules), "--output", "-"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let events = stdout(&output);
    let events: Vec<serde_json::Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of_kind = |kind: &'static str| events.iter().filter(move |one| one["event_type"] == kind);
    for (packet, id) in [
        (890, "1:Wtwenq1dDT1m5f+/XQHZ23g4WxA="),
        (892, "1:a6v3JRvKstCO6irgnhjuLRFg/Gg="),
        (1113, "1:wTgPuKh8VgYEaX1dytBkogt+/RY="),
    ] {
        let mut alerts = of_kind("alert");
        let alert = alerts.find(|one| one["pcap_cnt"] == packet).unwrap();
        assert_eq!(alert["community_id"], id, "{packet}");
    }
    let mut echoes = 0;
    for flow in of_kind("flow").filter(|one| one["icmp_type"] == 8) {
        // Errors that quote an echo belong to its connection, and are no echoes.
        let of_echo = |one: &serde_json::Value| [0, 8].iter().any(|kind| one["icmp_type"] == *kind);
        let of_flow = of_kind("alert").filter(|one| one["flow_id"] == flow["flow_id"]);
        for alert in of_flow.filter(|one| of_echo(one)) {
            assert_eq!(alert["community_id"], flow["community_id"], "{alert}");
            echoes += 1;
        }
    }
    assert!(echoes > 0);
}
