//! Data connections against what the clients that opened or took them noted.

use crate::events::{ends, events, of_type, plain};
use flowpin_testkit::corpus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Every data connection of the lab has its name, its command and its file: active and passive,
/// over IPv4 and IPv6, behind a translator, empty, and of files that look like another protocol. No
/// other connection has.
#[test]
fn data_connections_are_those_of_the_clients_sockets() {
    let folder = corpus::workspace().join("testkit/captures");
    let truth = fs::read_to_string(folder.join("ftp-modes.json")).unwrap();
    let truth: Value = serde_json::from_str(&truth).unwrap();
    let events = events(&folder.join("ftp-modes.pcap.gz"), "all");
    let flows: BTreeMap<String, &Value> = of_type(&events, "flow")
        .into_iter()
        .filter(|flow| flow["src_port"].is_u64())
        .map(|flow| (ends(flow), flow))
        .collect();
    let told: BTreeMap<String, &Value> = of_type(&events, "ftp_data")
        .into_iter()
        .map(|event| (ends(event), event))
        .collect();
    let facts = truth["facts"].as_array().unwrap().iter();
    let transfers: Vec<&Value> = facts
        .map(|fact| &fact["transfer"])
        .filter(|one| one.is_object())
        .collect();
    assert!(transfers.len() > 40, "{}", transfers.len());
    for one in &transfers {
        let address = |key: &str| plain(one[key].as_str().unwrap());
        let key = format!(
            "{} {} {} {}",
            address("client"),
            one["client_port"],
            address("server"),
            one["server_port"]
        );
        assert_eq!(flows[&key]["app_proto"], "ftp-data", "{one}");
        let data = &told[&key]["ftp_data"];
        assert_eq!(data["command"], one["command"], "{one}");
        let file = data["filename"].as_str().unwrap_or_default();
        assert_eq!(file, one["file"].as_str().unwrap(), "{one}");
        let control = told[&key]["flowpin"]["control"].as_str().unwrap();
        let of_control = flows
            .values()
            .find(|flow| flow["flowpin"]["uid"] == control);
        let ports = ["src_port", "dest_port"].map(|key| &of_control.unwrap()[key]);
        assert!(ports.contains(&&one["control"]), "{one}");
    }
    // And curl's.
    let named = flows
        .values()
        .filter(|flow| flow["app_proto"] == "ftp-data");
    assert_eq!(named.count(), transfers.len() + 1);
    assert_eq!(told.len(), transfers.len() + 1);
}

/// What a file looks like is told beside.
#[test]
fn what_a_file_looks_like_is_not_lost() {
    let capture = corpus::workspace().join("testkit/captures/ftp-modes.pcap.gz");
    let events = events(&capture, "all");
    for (name, looks_like) in [
        ("looks-like-http.txt", "http"),
        ("looks-like-ssh.txt", "ssh"),
    ] {
        let data = of_type(&events, "ftp_data");
        let of_file = data
            .iter()
            .filter(|one| one["ftp_data"]["filename"] == name);
        let uids: Vec<&Value> = of_file.map(|one| &one["flowpin"]["uid"]).collect();
        assert_eq!(uids.len(), 4, "{name}");
        for flow in of_type(&events, "flow") {
            if uids.contains(&&flow["flowpin"]["uid"]) {
                assert_eq!(flow["app_proto_orig"], looks_like, "{flow}");
            }
        }
    }
}

/// Replies to commands that were sent at once are those that the client heard, in its order.
#[test]
fn commands_sent_at_once_have_the_replies_that_the_client_heard() {
    let folder = corpus::workspace().join("testkit/captures");
    let truth = fs::read_to_string(folder.join("ftp-modes.json")).unwrap();
    let truth: Value = serde_json::from_str(&truth).unwrap();
    let mut facts = truth["facts"].as_array().unwrap().iter();
    let fact = facts.find_map(|fact| fact.get("at_once")).unwrap();
    let events = events(&folder.join("ftp-modes.pcap.gz"), "all");
    let ftp = of_type(&events, "ftp");
    let bounce = ftp
        .iter()
        .find(|event| event["ftp"]["command_data"] == "10,91,2,3,0,80");
    let uid = &bounce.unwrap()["flowpin"]["uid"];
    let mut heard = String::new();
    let mut commands = Vec::new();
    for event in ftp.iter().filter(|event| event["flowpin"]["uid"] == *uid) {
        let ftp = &event["ftp"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let command = format!("{} {}", text(&ftp["command"]), text(&ftp["command_data"]));
        commands.push(command.trim().to_owned());
        for reply in ftp["reply"].as_array().unwrap() {
            heard.push_str(&text(reply));
            heard.push('\n');
        }
    }
    let sent = fact["commands"].as_array().unwrap().iter();
    let sent = sent.map(|one| one.as_str().unwrap().replace("s3cret", "<hidden>"));
    let expected: Vec<String> = std::iter::once(String::new()).chain(sent).collect();
    assert_eq!(commands, expected);
    let lines = fact["heard"].as_str().unwrap().lines();
    let without_codes = lines.map(|line| match line.as_bytes() {
        [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ' | b'-', ..] => &line[4..],
        _ => line,
    });
    assert_eq!(
        heard.lines().collect::<Vec<_>>(),
        without_codes.collect::<Vec<_>>()
    );
    let anomalies = of_type(&events, "anomaly");
    let is_bounce = |one: &&&Value| one["anomaly"]["event"] == "ftp_bounce";
    assert_eq!(anomalies.iter().filter(is_bounce).count(), 1);
}
