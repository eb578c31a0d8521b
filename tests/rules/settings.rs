//! What settings beside rules change: systems of hosts, reputation, the clients that proxies name.

use crate::talk::{EXCHANGE, Turns, alerts, log, mixed, talk};
use flowpin_config::{Plan, Settings, Xff, XffHop};
use flowpin_testkit::build::{Ip, Tcp, flags};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A plan with these rules and settings, as a program makes it.
fn plan(folder: &Path, rules: &str, change: impl FnOnce(&mut Plan)) -> Plan {
    let file = folder.join("test.rules");
    fs::write(&file, rules).unwrap();
    let mut plan = Plan::default();
    plan.rules.files = vec![file];
    change(&mut plan);
    let loaded = flowpin_rules::read_for(&plan).unwrap().unwrap();
    assert!(loaded.problems.is_empty(), "{}", loaded.problems[0]);
    flowpin_rules::put(loaded, &mut plan).unwrap();
    plan
}

/// The same bytes for every shape and little memory; those of one worker.
fn the_same(frames: &[Vec<u8>], plan: &Plan) -> String {
    let written = |pipeline: &str| {
        let mut plan = plan.clone();
        plan.pipeline = pipeline.parse().unwrap();
        log(frames, plan)
    };
    let reference = written("1x1");
    for pipeline in ["1x3", "2x2", "3x3"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
    let mut tight = plan.clone();
    tight.memory_bytes = 16 << 20;
    assert!(log(frames, tight) == reference, "little memory");
    reference
}

fn sids(found: &[Value]) -> Vec<u64> {
    let sids = found.iter().map(|one| &one["alert"]["signature_id"]);
    sids.map(|sid| sid.as_u64().unwrap()).collect()
}

/// The server of these gets four bytes twice before those in front of them.
fn overlapping(server: [u8; 4]) -> Vec<Vec<u8>> {
    let ip = Ip::v4([10, 0, 0, 1], server);
    let (ack, push) = (flags::ACK, flags::ACK | flags::PSH);
    let syn = Tcp::new(50_000, 80, 1000, 0, flags::SYN);
    let answer = Tcp::new(80, 50_000, 5000, 1001, flags::SYN | ack);
    let mut frames = vec![
        ip.tcp(syn, b""),
        ip.reversed().tcp(answer, b""),
        ip.tcp(Tcp::new(50_000, 80, 1001, 5001, ack), b""),
    ];
    let parts: [(u32, &[u8]); 3] = [(4, b"GOOD"), (4, b"EVIL"), (0, b"____")];
    for (offset, bytes) in parts {
        let tcp = Tcp::new(50_000, 80, 1001 + offset, 5001, push);
        frames.push(ip.tcp(tcp, bytes));
    }
    let tcp = Tcp::new(80, 50_000, 5001, 1009, flags::RST | ack);
    frames.push(ip.reversed().tcp(tcp, b""));
    frames.iter().map(|packet| packet.ethernet()).collect()
}

/// By destination, as in a file of settings of our own; what that says of a network counts first.
#[test]
fn systems_of_hosts_decide_what_they_read() {
    const RULES: &str = "\
alert tcp-stream any any -> any any (content:\"EVIL\"; sid:1;)
alert tcp-stream any any -> any any (content:\"GOOD\"; sid:2;)
";
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("suricata.yaml");
    let text = "%YAML 1.1\n---\nhost-os-policy:\n  windows: [0.0.0.0/0]\n  bsd: []\n\
        \x20 old-linux:\n    - 10.9.0.0/16\nrule-files:\n  - none.rules\n";
    fs::write(&yaml, text).unwrap();
    let frames = mixed(vec![overlapping([10, 9, 0, 2]), overlapping([10, 8, 0, 2])]);
    let by_yaml = |path: &Path| {
        let path = path.to_owned();
        let plan = plan(folder.path(), RULES, |plan| {
            plan.rules.suricata_yaml = Some(path)
        });
        the_same(&frames, &plan)
    };
    let reference = by_yaml(&yaml);
    assert!(by_yaml(folder.path()) == reference, "the folder's");
    let own = |text: &str| {
        let settings = Settings::from_toml(text).unwrap().into_plan().unwrap();
        let mut plan = plan(folder.path(), RULES, |_| {});
        plan.hosts = settings.hosts;
        log(&frames, plan)
    };
    let both = "[[hosts]]\nnetworks = ['0.0.0.0/0']\nsystem = 'windows'\n\
        [[hosts]]\nnetworks = ['10.9.0.0/16']\nsystem = 'old-linux'\n";
    assert!(own(both) == reference, "as settings of our own");
    assert!(own("") != reference, "it changes what is read");
    let alerts_of = |log: &str| {
        let events = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let alerts: Vec<Value> = events
            .filter(|event: &Value| event["event_type"] == "alert")
            .collect();
        let of = alerts.iter().map(|one| {
            let sid = one["alert"]["signature_id"].as_u64().unwrap();
            (one["dest_ip"].as_str().unwrap().to_owned(), sid)
        });
        of.collect::<std::collections::BTreeSet<_>>()
    };
    let of = |host: &str, sid| (host.to_owned(), sid);
    let expected = [of("10.8.0.2", 2), of("10.9.0.2", 1)];
    assert_eq!(alerts_of(&reference), expected.into());
    // The user's own settings say more of a network.
    let kept = plan(folder.path(), RULES, |plan| {
        let own = "[[hosts]]\nnetworks = ['10.9.0.0/16']\nsystem = 'windows'\n";
        plan.hosts = Settings::from_toml(own).unwrap().into_plan().unwrap().hosts;
        plan.rules.suricata_yaml = Some(yaml.clone());
    });
    let expected = [of("10.8.0.2", 2), of("10.9.0.2", 2)];
    assert_eq!(alerts_of(&log(&frames, kept)), expected.into());
}

/// Systems of hosts count without rules, too; what only rules use is refused without them.
#[test]
fn settings_count_without_rules() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("suricata.yaml");
    fs::write(&yaml, "host-os-policy: {windows: [0.0.0.0/0]}\n").unwrap();
    for path in [yaml.as_path(), folder.path()] {
        let mut plan = Plan::default();
        plan.rules.suricata_yaml = Some(path.to_owned());
        let loaded = flowpin_rules::read_for(&plan).unwrap().unwrap();
        flowpin_rules::put(loaded, &mut plan).unwrap();
        assert_eq!(plan.hosts.groups.len(), 1);
        assert_eq!(plan.live.read_again.as_slice(), std::slice::from_ref(&yaml));
        assert!(plan.rules.loaded.is_none());
    }
    let why = |change: fn(&mut Plan)| {
        let mut plan = Plan::default();
        change(&mut plan);
        flowpin_rules::read_for(&plan).unwrap_err()
    };
    let reputation = why(|plan| plan.rules.reputation = vec!["none".into()]);
    assert!(reputation.contains("`--reputation` is"), "{reputation}");
    let xff = why(|plan| plan.rules.xff = Some(Xff::Overwrite));
    assert!(xff.contains("`--alert-xff` is"), "{xff}");
}

/// A network with two systems is a mistake that nobody should have to guess.
#[test]
fn a_network_has_one_system() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("suricata.yaml");
    let text = "host-os-policy:\n  windows: [10.0.0.0/8]\n  bsd: [10.0.0.0/8]\n";
    fs::write(&yaml, text).unwrap();
    let mut plan = Plan::default();
    let file = folder.path().join("a.rules");
    fs::write(&file, "alert ip any any -> any any (sid:1;)\n").unwrap();
    plan.rules.files = vec![file];
    plan.rules.suricata_yaml = Some(yaml);
    let loaded = flowpin_rules::read_for(&plan).unwrap().unwrap();
    let why = flowpin_rules::put(loaded, &mut plan).unwrap_err();
    assert!(why.contains("10.0.0.0/8 twice"), "{why}");
}

/// Addresses with a score alert once in each direction, and conditions on other things besides.
#[test]
fn reputation_is_asked_of_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let beside = folder.path().join("iprep");
    fs::create_dir(&beside).unwrap();
    fs::write(beside.join("categories.txt"), "1,Bad,x\n2,Good,y\n").unwrap();
    let list = "10.0.0.0/30,1,20\n10.0.0.2,1,90\n10.1.1.2,2,5\n";
    fs::write(beside.join("a.list"), list).unwrap();
    let rules = "\
alert ip any any -> any any (iprep:src,Bad,>,50; sid:1;)
alert ip any any -> any any (iprep:dst,Bad,>,50; sid:2;)
alert ip any any -> any any (iprep:any,Bad,=,20; sid:3;)
alert ip any any -> any any (iprep:both,Bad,isset; sid:4;)
alert http any any -> any any (http.uri; content:\"/one\"; iprep:dst,Good,<,10; sid:5;)
alert http any any -> any any (http.uri; content:\"/one\"; iprep:src,Bad,isnotset; sid:6;)
";
    let plan = plan(folder.path(), rules, |plan| {
        plan.rules.files = vec![folder.path().to_owned()];
    });
    let of_host = |host| {
        let found = alerts(&talk(EXCHANGE, 50, host), plan.clone());
        let mut sids = sids(&found);
        sids.sort_unstable();
        sids
    };
    assert_eq!(of_host(1), [3, 3, 5]);
    assert_eq!(of_host(2), [1, 2, 5]);
    assert_eq!(of_host(9), [5, 6]);
    let hosts = (1..12).map(|host| talk(EXCHANGE, 40, host)).collect();
    the_same(&mixed(hosts), &plan);
}

/// The client that a proxy names stands beside the connection's, or in its place; the connection
/// itself is still told.
#[test]
fn proxies_name_clients() {
    let request = b"GET /one HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1, 192.0.2.9\r\n\r\n";
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let turns: Turns<'_> = &[(true, request), (false, response)];
    let rules = "\
alert http any any -> any any (http.uri; content:\"/one\"; sid:1;)
alert http any any -> any any (http.stat_code; content:\"200\"; sid:2;)
alert tcp any any -> any 80 (flags:S; sid:3;)
";
    let folder = tempfile::tempdir().unwrap();
    let frames = talk(turns, 30, 1);
    // A proxy may add a field of its own: RFC 9110 §5.3.
    let request = b"GET /one HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\
        X-Forwarded-For: 192.0.2.9\r\n\r\n";
    let apart: Turns<'_> = &[(true, request), (false, response)];
    let change = |plan: &mut Plan| plan.rules.xff = Some(Xff::ExtraData);
    let of_fields = alerts(&talk(apart, 30, 1), plan(folder.path(), rules, change));
    assert_eq!(of_fields[1]["alert"]["xff"], "192.0.2.9", "{of_fields:?}");
    let found = |change: fn(&mut Plan)| {
        let plan = plan(folder.path(), rules, change);
        the_same(&frames, &plan);
        let mut found = alerts(&frames, plan);
        found.sort_by_key(|one| one["alert"]["signature_id"].as_u64());
        found
    };
    let plain = found(|_| {});
    assert_eq!(plain.len(), 3);
    assert_eq!(plain[0]["src_ip"], "10.0.0.1");
    assert!(plain.iter().all(|one| one["alert"]["xff"].is_null()));
    let extra = found(|plan| plan.rules.xff = Some(Xff::ExtraData));
    assert_eq!(extra[0]["alert"]["xff"], "192.0.2.9");
    assert_eq!(extra[1]["alert"]["xff"], "192.0.2.9");
    assert_eq!(
        (&extra[0]["src_ip"], &extra[2]["alert"]["xff"]),
        (&"10.0.0.1".into(), &Value::Null)
    );
    let over = found(|plan| {
        plan.rules.xff = Some(Xff::Overwrite);
        plan.rules.xff_hop = Some(XffHop::First);
    });
    assert_eq!(
        (&over[0]["src_ip"], &over[0]["dest_ip"]),
        (&"192.0.2.1".into(), &"10.1.1.2".into())
    );
    assert_eq!(
        (&over[1]["src_ip"], &over[1]["dest_ip"]),
        (&"10.1.1.2".into(), &"192.0.2.1".into())
    );
    assert_eq!(over[2]["src_ip"], "10.0.0.1");
    for (before, after) in plain.iter().zip(&over) {
        assert_eq!(before["flow"], after["flow"]);
        assert_eq!(before["community_id"], after["community_id"]);
    }
}

/// Alerts about messages in datagrams have the datagram, and rules examine it beside the message.
#[test]
fn datagrams_are_payloads_of_their_messages() {
    let query = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x03abc\x07example\0\0\x01\0\x01";
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 0, 53]);
    let frames = [ip.udp(5300, 53, query).ethernet()];
    let rules = "\
alert dns any any -> any any (dns.query; content:\"abc\"; sid:1;)
alert dns any any -> any any (dns.query; content:\"abc\"; pkt_data; content:\"|00 07 01|\"; sid:2;)
";
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), rules, |plan| plan.rules.payload_bytes = 4);
    the_same(&frames, &plan);
    let found = alerts(&frames, plan);
    assert_eq!(sids(&found), [1, 2]);
    assert_eq!(
        (&found[0]["payload"], &found[0]["stream"]),
        (&"AAcBAA==".into(), &0.into())
    );
}
