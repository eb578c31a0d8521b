//! What names a data connection, and what does not.

use crate::events::{ends, of_type};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::{pcap, product};
use serde_json::Value;
use std::collections::BTreeMap;

/// Several connections, one step after the other.
#[derive(Default)]
struct Net {
    at_ns: u64,
    connections: Vec<Connection>,
    frames: Vec<(u64, Vec<u8>)>,
}

struct Connection {
    hosts: [u8; 2],
    ports: [u16; 2],
    next: [u32; 2],
}

const CLIENT: u8 = 1;
const SERVER: u8 = 2;
const OTHER: u8 = 3;

impl Net {
    /// Opens a connection between two hosts of 10.0.0.0/24, and returns its number.
    fn open(&mut self, hosts: [u8; 2], ports: [u16; 2]) -> usize {
        let number = self.connections.len();
        self.connections.push(Connection {
            hosts,
            ports,
            next: [1000, 5000],
        });
        self.send(number, true, flags::SYN, b"");
        self.send(number, false, flags::SYN | flags::ACK, b"");
        self.send(number, true, flags::ACK, b"");
        number
    }

    fn say(&mut self, number: usize, by_client: bool, text: &str) {
        self.send(number, by_client, flags::PSH | flags::ACK, text.as_bytes());
        self.send(number, !by_client, flags::ACK, b"");
    }

    fn close(&mut self, number: usize) {
        self.send(number, true, flags::FIN | flags::ACK, b"");
        self.send(number, false, flags::FIN | flags::ACK, b"");
        self.send(number, true, flags::ACK, b"");
    }

    fn send(&mut self, number: usize, by_client: bool, control: u8, bytes: &[u8]) {
        self.at_ns += 1_000_000;
        let one = &mut self.connections[number];
        let ([client, server], [from, to]) = (one.hosts, one.ports);
        let [mine, theirs] = one.next;
        let ip = Ip::v4([10, 0, 0, client], [10, 0, 0, server]);
        let (ip, tcp) = if by_client {
            (ip, Tcp::new(from, to, mine, theirs, control))
        } else {
            (ip.reversed(), Tcp::new(to, from, theirs, mine, control))
        };
        let counted = u32::from(control & (flags::SYN | flags::FIN) != 0);
        one.next[usize::from(!by_client)] += counted + u32::try_from(bytes.len()).unwrap();
        let frame = ip.tcp(tcp, bytes).ethernet();
        self.frames.push((START_NS + self.at_ns, frame));
    }

    /// A control connection whose user has logged in.
    fn control(&mut self, port: u16) -> usize {
        let number = self.open([CLIENT, SERVER], [port, 21]);
        self.say(number, false, "220 FTP ready\r\n");
        self.talk(number, "USER ftp", "230 in");
        number
    }

    fn talk(&mut self, number: usize, command: &str, reply: &str) {
        self.say(number, true, &format!("{command}\r\n"));
        self.say(number, false, &format!("{reply}\r\n"));
    }

    /// A connection that carries something from server to client.
    fn data(&mut self, hosts: [u8; 2], ports: [u16; 2]) {
        let number = self.open(hosts, ports);
        self.say(number, false, "whatever it may be\n");
        self.close(number);
    }

    /// What the command writes of it, and the summary.
    fn run(&self, more: &[&str]) -> (BTreeMap<String, Vec<u8>>, Value) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made-up.pcap");
        let frames = self
            .frames
            .iter()
            .map(|(at, frame)| (*at, frame.as_slice()));
        std::fs::write(&path, pcap::ethernet_file(frames).unwrap()).unwrap();
        let logs = folder.path().join("logs");
        let words = [
            "run",
            "--json",
            "-r",
            path.to_str().unwrap(),
            "-l",
            logs.to_str().unwrap(),
        ];
        let outcome = product::run(&[&words[..], more].concat()).unwrap();
        assert!(outcome.analysed(), "{}", outcome.stderr);
        // There is no folder where nothing is written.
        let files = product::files(&logs).unwrap_or_default();
        (files, outcome.json().unwrap())
    }

    fn events(&self, more: &[&str]) -> Vec<Value> {
        let (files, _) = self.run(more);
        let text = String::from_utf8(files["eve.json"].clone()).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The server's ports of connections that are named so, but for control connections.
    fn named(&self) -> Vec<String> {
        let events = self.events(&[]);
        let flows = of_type(&events, "flow").into_iter();
        let named = flows.filter(|flow| flow["app_proto"] == "ftp-data");
        let mut ends: Vec<_> = named.map(ends).collect();
        ends.sort();
        ends
    }
}

const START_NS: u64 = 1_700_000_000_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// RFC 2577 §3: PORT with the address of a third host names nothing, neither that host's
/// connections nor the client's own ones with the same port.
#[test]
fn a_bounce_names_nothing() {
    let mut net = Net::default();
    let control = net.control(40_000);
    net.talk(control, "PORT 10,0,0,3,0,80", "200 ok");
    net.say(control, true, "RETR f\r\n");
    net.say(control, false, "150 go\r\n");
    net.data([SERVER, OTHER], [20, 80]);
    net.data([CLIENT, OTHER], [40_100, 80]);
    net.data([SERVER, CLIENT], [20, 80]);
    net.close(control);
    assert_eq!(net.named(), [""; 0]);
}

/// Behind a translator a server may tell an address that the client does not use: the server's own
/// counts, and nobody else's.
#[test]
fn the_server_is_where_it_is() {
    let mut net = Net::default();
    let control = net.control(40_000);
    net.talk(
        control,
        "PASV",
        "227 Entering Passive Mode (10,0,0,3,117,50)",
    );
    net.data([CLIENT, OTHER], [40_100, 30_002]);
    net.data([OTHER, SERVER], [40_101, 30_002]);
    net.data([CLIENT, SERVER], [40_102, 30_002]);
    net.close(control);
    assert_eq!(net.named(), ["10.0.0.1 40102 10.0.0.2 30002"]);
}

/// An announcement is for one connection that begins behind it, and not long behind.
#[test]
fn an_announcement_is_used_once() {
    let mut net = Net::default();
    let before = net.open([CLIENT, SERVER], [40_090, 443]);
    net.at_ns += 5 * SECOND_NS;
    let control = net.control(40_000);
    net.talk(control, "EPSV", "229 Extended (|||443|)");
    net.data([CLIENT, SERVER], [40_100, 443]);
    net.data([CLIENT, SERVER], [40_101, 443]);
    net.say(before, false, "whatever\n");
    net.close(before);
    net.talk(control, "EPSV", "229 Extended (|||444|)");
    net.at_ns += 301 * SECOND_NS;
    net.data([CLIENT, SERVER], [40_102, 444]);
    net.close(control);
    assert_eq!(net.named(), ["10.0.0.1 40100 10.0.0.2 443"]);
}

/// The same port twice: each transfer has its own announcement, though both end before either is
/// written.
#[test]
fn a_port_may_be_announced_again() {
    let mut net = Net::default();
    let control = net.control(40_000);
    for (port, file) in [(40_100, "one"), (40_101, "two"), (40_102, "three")] {
        net.talk(control, "PASV", "227 (10,0,0,2,117,50)");
        net.say(control, true, &format!("RETR {file}\r\n"));
        net.say(control, false, "150 go\r\n");
        net.data([CLIENT, SERVER], [port, 30_002]);
        net.say(control, false, "226 done\r\n");
    }
    net.close(control);
    let events = net.events(&[]);
    let told = of_type(&events, "ftp_data").into_iter();
    let mut files: Vec<_> = told
        .map(|one| {
            (
                one["src_port"].to_string(),
                one["ftp_data"]["filename"].to_string(),
            )
        })
        .collect();
    files.sort();
    let expected = [
        ("40100", "\"one\""),
        ("40101", "\"two\""),
        ("40102", "\"three\""),
    ];
    assert_eq!(
        files,
        expected.map(|(port, file)| (port.to_owned(), file.to_owned()))
    );
}

/// Of a capture that has only what the server sends: its replies announce, with or without data.
#[test]
fn the_servers_side_alone_is_enough() {
    let mut net = Net::default();
    let control = net.control(40_000);
    net.talk(control, "EPSV", "229 Extended (|||30001|)");
    net.data([CLIENT, SERVER], [40_100, 30_001]);
    net.talk(control, "EPSV", "229 Extended (|||30002|)");
    let empty = net.open([CLIENT, SERVER], [40_101, 30_002]);
    net.close(empty);
    net.close(control);
    net.frames
        .retain(|(_, frame)| frame[26..30] == [10, 0, 0, SERVER]);
    let expected = [
        "10.0.0.1 40100 10.0.0.2 30001",
        "10.0.0.1 40101 10.0.0.2 30002",
    ];
    assert_eq!(net.named(), expected);
    let events = net.events(&[]);
    let ftp = of_type(&events, "ftp");
    assert!(ftp.iter().all(|event| event["ftp"]["command"].is_null()));
    let ports = ftp
        .iter()
        .filter_map(|event| event["ftp"]["dynamic_port"].as_u64());
    assert_eq!(ports.collect::<Vec<_>>(), [30_001, 30_002]);
}

/// A long transfer has its name in every record, and one event. The summary counts it once.
#[test]
fn records_of_connections_that_go_on_have_the_name() {
    let mut net = Net::default();
    let control = net.control(40_000);
    net.talk(control, "EPSV", "229 Extended (|||30002|)");
    net.say(control, true, "RETR f\r\n");
    net.say(control, false, "150 go\r\n");
    let data = net.open([CLIENT, SERVER], [40_100, 30_002]);
    for _ in 0..40 {
        net.at_ns += SECOND_NS;
        net.say(data, false, "more of it\n");
    }
    net.close(data);
    net.close(control);
    let (files, summary) = net.run(&["--interim", "10s", "--format", "eve,zeek"]);
    let text = String::from_utf8(files["eve.json"].clone()).unwrap();
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_data = |event: &&&Value| event["dest_port"] == 30_002;
    let interim = of_type(&events, "flow_interim");
    let interim: Vec<_> = interim.iter().filter(is_data).collect();
    assert!(interim.len() >= 3, "{}", interim.len());
    let flows = of_type(&events, "flow");
    let all = interim.into_iter().chain(flows.iter().filter(is_data));
    assert!(all.clone().all(|flow| flow["app_proto"] == "ftp-data"));
    assert_eq!(of_type(&events, "ftp_data").len(), 1);
    let services = summary["connections"]["by_protocol"].as_array().unwrap();
    let row = services.iter().find(|row| row["name"] == "ftp-data");
    assert_eq!(row.unwrap()["connections"], 1, "{services:?}");
}

/// Many sessions, spread over all workers: byte for byte the same in every format, whatever the
/// shape; and nothing is named where FTP is not read.
#[test]
fn names_are_the_same_for_every_shape() {
    let mut net = Net::default();
    for nth in 0..60_u16 {
        let control = net.control(41_000 + nth);
        for round in 0..3 {
            let port = 31_000 + nth * 3 + round;
            let announced = format!("229 Extended (|||{port}|)");
            net.talk(control, "EPSV", &announced);
            net.say(control, true, &format!("STOR file {nth} {round}\r\n"));
            net.say(control, false, "150 go\r\n");
            net.data([CLIENT, SERVER], [42_000 + nth * 3 + round, port]);
            net.say(control, false, "226 done\r\n");
            net.at_ns += SECOND_NS;
        }
        net.close(control);
    }
    let formats = ["--format", "eve,zeek,csv,parquet", "--pipeline"];
    let (first, summary) = net.run(&[&formats[..], &["1x1"]].concat());
    for shape in ["2x2", "3x3", "2x1"] {
        let (files, other) = net.run(&[&formats[..], &[shape]].concat());
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            first.keys().collect::<Vec<_>>()
        );
        for (name, bytes) in &files {
            assert!(first[name] == *bytes, "{name} of {shape}");
        }
        let rows = |summary: &Value| summary["connections"].clone();
        assert_eq!(rows(&other), rows(&summary), "{shape}");
    }
    let text = String::from_utf8(first["conn.log"].clone()).unwrap();
    assert_eq!(text.matches("\tftp-data\t").count(), 180);
    let eve = String::from_utf8(first["eve.json"].clone()).unwrap();
    assert_eq!(eve.matches("\"event_type\":\"flow\"").count(), 240);
    assert_eq!(eve.matches("\"event_type\":\"ftp_data\"").count(), 180);
    let unread = net.events(&["--parse", "http"]);
    assert!(unread.iter().all(|event| event["app_proto"] != "ftp-data"));
}

/// One control connection with a transfer.
fn one_transfer() -> Net {
    let mut net = Net::default();
    let control = net.control(41_000);
    net.talk(control, "CWD up", "250 ok");
    net.talk(control, "SITE PSWD s3cret5 s3cret6", "200 ok");
    net.talk(control, "EPSV", "229 Extended (|||31000|)");
    net.say(control, true, "RETR a\r\n");
    net.say(control, false, "150 go\r\n");
    net.data([CLIENT, SERVER], [42_000, 31_000]);
    net.say(control, false, "226 done\r\n");
    net.close(control);
    net
}

/// A message counts once, under its protocol's name, whatever is written of it.
#[test]
fn the_summary_counts_messages_the_same_for_every_format() {
    let net = one_transfer();
    let counts = |formats: &str| net.run(&["--format", formats]).1["messages"]["by_kind"].clone();
    let expected = counts("eve");
    let (ftp, data) = (&expected["ftp"], &expected["ftp_data"]);
    assert!(ftp.as_u64().unwrap() >= 5 && data == 1, "{expected}");
    assert_eq!(expected.as_object().unwrap().len(), 2, "{expected}");
    for formats in [
        "none",
        "zeek",
        "csv",
        "parquet",
        "eve,zeek",
        "zeek-json,csv",
    ] {
        assert_eq!(counts(formats), expected, "{formats}");
    }
}

/// The records of a connection are numbered from 0, by events and by columns, and the number of one
/// is the same whatever else is written.
#[test]
fn records_are_numbered_the_same_for_every_format() {
    let net = one_transfer();
    let column = |formats: &[&str]| {
        let (files, _) = net.run(&[&["--all-fields", "--format"], formats].concat());
        let text = String::from_utf8(files["ftp.csv"].clone()).unwrap();
        let at = text.lines().next().unwrap().split(',');
        let at = at
            .into_iter()
            .position(|name| name == "transaction")
            .unwrap();
        let from_end = text.lines().next().unwrap().split(',').count() - at;
        let rows = text.lines().skip(1);
        let numbers = rows.map(|row| row.rsplit(',').nth(from_end - 1).unwrap().to_owned());
        (numbers.collect::<Vec<_>>(), text)
    };
    let (numbers, alone) = column(&["csv"]);
    let expected: Vec<_> = (0..numbers.len())
        .map(|number| number.to_string())
        .collect();
    assert!(numbers.len() >= 4);
    assert_eq!(numbers, expected);
    assert!(
        !alone.contains("s3cret") && alone.contains("SITE,PSWD <hidden>"),
        "{alone}"
    );
    assert!(column(&["eve,csv,parquet"]).1 == alone);
    let events = net.events(&[]);
    let numbers = of_type(&events, "ftp")
        .into_iter()
        .map(|event| event["tx_id"].as_u64().unwrap());
    assert!(numbers.eq(0..of_type(&events, "ftp").len() as u64));
}
