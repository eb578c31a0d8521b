//! Records against what servers say that they were asked and answered: their own access logs.
//!
//! The captures are our own recordings (`testkit/record/web`): Apache, nginx, Node, Go and Python,
//! with curl, wrk, Node, Go and Python asking, pipelined and one by one.

use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// What both sides tell of one request, by the client's port, in order.
type Told = BTreeMap<u64, Vec<String>>;

/// Method, target, version, status and the body's length of every request are those of the
/// server's log: chunked, compressed, closed, empty and interim responses alike.
#[test]
fn records_are_the_lines_of_the_servers_logs() {
    for (name, requests) in [
        ("http-apache.pcap.gz", 22),
        ("http-node.pcapng.gz", 24),
        ("http-go.pcap.gz", 22),
        ("http-wrk.pcap.gz", 30),
        ("http-expect.pcap.gz", 31),
    ] {
        let (told, _) = told(name);
        let logged = logged(name);
        assert_eq!(told, logged, "{name}");
        assert_eq!(logged.values().flatten().count(), requests, "{name}");
    }
}

/// RFC 6455 §4: from the response with status 101 on the connection is a WebSocket.
#[test]
fn an_upgraded_connection_is_a_websocket() {
    let (_, events) = told("http-node.pcapng.gz");
    let is_it = |event: &&Value| event["event_type"] == "flow" && event["src_port"] == 53111;
    let flow = events.iter().find(is_it).unwrap();
    assert_eq!(flow["app_proto"], "websocket");
    assert_eq!(flow["app_proto_orig"], "http");
}

/// RFC 9110 §10.1.1: a client may leave out a body that was refused. Of all requests that did, one
/// was not asked to come again: only there another receiver may read the next request as the body.
#[test]
fn a_body_left_out_is_told_where_receivers_differ() {
    let (_, events) = told("http-expect.pcap.gz");
    let anomalies: Vec<(&Value, &Value)> = events
        .iter()
        .filter(|event| event["event_type"] == "anomaly")
        .map(|event| (&event["src_port"], &event["anomaly"]["event"]))
        .collect();
    assert_eq!(
        anomalies,
        [(&Value::from(53401), &"http_body_omitted".into())]
    );
}

fn told(name: &str) -> (Told, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let capture = corpus::workspace().join("testkit/captures").join(name);
    let [capture, logs] = [&capture, folder.path()].map(|path| path.to_str().unwrap());
    let outcome = product::run(&["run", "-q", "-r", capture, "-l", logs]).unwrap();
    assert!(outcome.analysed(), "{name}: {}", outcome.stderr);
    let eve = fs::read_to_string(folder.path().join("eve.json")).unwrap();
    let event = |line| serde_json::from_str::<Value>(line).unwrap();
    let events: Vec<Value> = eve.lines().map(event).collect();
    let mut told = Told::new();
    for event in events.iter().filter(|event| event["event_type"] == "http") {
        let names = ["http_method", "url", "protocol", "status", "length"];
        note(&mut told, &event["src_port"], &event["http"], names);
    }
    (told, events)
}

/// The facts beside the capture.
fn logged(name: &str) -> Told {
    let stem = name.split('.').next().unwrap();
    let path = corpus::workspace().join(format!("testkit/captures/{stem}.json"));
    let truth: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut logged = Told::new();
    for fact in truth["facts"].as_array().unwrap() {
        let names = ["method", "url", "version", "status", "body_bytes"];
        note(&mut logged, &fact["port"], fact, names);
    }
    logged
}

fn note(told: &mut Told, port: &Value, of: &Value, names: [&str; 5]) {
    let port = port.as_u64().unwrap();
    let line = names.map(|name| of[name].to_string()).join(" ");
    told.entry(port).or_default().push(line);
}
