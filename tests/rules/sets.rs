//! Values that are looked up in files: sets of rules, hashes of files, lists of indicators.

use crate::talk::{EXCHANGE, alerts, log, mixed, talk};
use flowpin_config::Plan;
use flowpin_rules::{Loaded, Reader};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn plan(loaded: Loaded) -> Plan {
    let mut plan = Plan::default();
    plan.rules.loaded = Some(Arc::new(loaded.set));
    (plan.files.md5, plan.files.sha256) = (true, true);
    plan
}

/// Rules of a file in this folder.
fn rules(folder: &Path, text: &str) -> Loaded {
    let file = folder.join("test.rules");
    fs::write(&file, text).unwrap();
    let mut reader = Reader::default();
    reader.read(&file).unwrap();
    reader.finish()
}

/// The numbers of the rules that alert over the exchange, in order.
fn sids(loaded: Loaded) -> Vec<u64> {
    assert!(loaded.problems.is_empty(), "{}", loaded.problems[0]);
    let alerts = alerts(&talk(EXCHANGE, 9, 1), plan(loaded));
    let sids = alerts
        .iter()
        .map(|one| one["alert"]["signature_id"].as_u64().unwrap());
    sids.collect()
}

/// `printf a.example | base64`; the MD5 and SHA-256 of `hello world` (FIPS 180-4's tools).
#[test]
fn buffers_and_files_are_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("hosts.lst", "# hosts\nYS5leGFtcGxl\n");
    write("hosts.rep", "YS5leGFtcGxl,40\n");
    write("ips.lst", "10.0.0.1\n2001:db8::7\n");
    write("md5.lst", "5eb63bbbe01eeed093cb22bb8f5acdc3  hello.txt\n");
    write(
        "sha256.lst",
        "B94D27B9934D3E08A52E52D7DA7DABFAC484EFE37A5380EE9088F7ACE2EFCDE9\n",
    );
    let rules = rules(
        folder.path(),
        "\
alert http any any -> any any (http.host; dataset:isset,hosts,type string,load hosts.lst; sid:1;)
alert http any any -> any any (http.host; dataset:isnotset,hosts; sid:2;)
alert http any any -> any any (http.host; datarep:reps,>,39,type string,load hosts.rep; \
http.method; content:\"POST\"; sid:3;)
alert http any any -> any any (http.host; datarep:reps,>,40; sid:4;)
alert http any any -> any any (ip.src; dataset:isset,ips,type ip,load ips.lst; http.uri; \
content:\"/two\"; sid:5;)
alert http any any -> any any (ip.dst; dataset:isset,ips; http.uri; content:\"/two\"; sid:6;)
alert ip any any -> any any (filemd5:md5.lst; sid:7;)
alert ip any any -> any any (filesha256:sha256.lst; sid:8;)
alert http any any -> any any (filemd5:!md5.lst; sid:9;)
",
    );
    let mut found = sids(rules);
    found.sort_unstable();
    // The second request's body is no hello.
    assert_eq!(found, [1, 1, 3, 5, 7, 8, 9]);
}

/// Rules of others read no file elsewhere: neither by its name nor by a link.
#[test]
fn files_of_values_lie_below_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(folder.path().join("secret"), "YQ==\n").unwrap();
    std::os::unix::fs::symlink("../secret", own.join("link")).unwrap();
    fs::write(own.join("wrong"), "\nno base64!\n").unwrap();
    fs::create_dir(own.join("folder")).unwrap();
    for (file, why) in [
        ("../secret", "below the folder of the rules alone"),
        ("/etc/passwd", "below the folder of the rules alone"),
        ("link", "below the folder of the rules alone"),
        ("absent", "No such file"),
        ("folder", "not a regular file"),
        ("wrong", "line 2 is no value of the set's type"),
    ] {
        let rule = format!(
            "alert http any any -> any any (http.host; dataset:isset,x,type string,load {file}; \
             sid:1;)\nalert ip any any -> any any (filemd5:{file}; sid:2;)\n"
        );
        let problems = rules(&own, &rule).problems;
        assert_eq!(problems.len(), 2, "{file}");
        assert!(problems[0].why.contains(why), "{file}: {}", problems[0].why);
    }
}

/// A name is one set: of one type, from one file, with numbers or without.
#[test]
fn rules_agree_about_a_set() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::write(folder.path().join(name), "YQ==,1\n").unwrap();
    }
    let first =
        "alert http any any -> any any (http.host; datarep:x,>,0,type string,load a; sid:1;)";
    for (second, why) in [
        ("datarep:x,>,5,load a", ""),
        (
            "datarep:x,>,5,load b",
            "another rule loads this set from another file",
        ),
        (
            "datarep:x,>,5,type md5",
            "another rule gives this set another type",
        ),
        ("dataset:isset,x", "one rule's set has numbers"),
    ] {
        let second = format!("alert http any any -> any any (http.host; {second}; sid:2;)");
        let problems = rules(folder.path(), &format!("{first}\n{second}\n")).problems;
        let found = problems.first().map_or("", |one| &one.why);
        assert!(
            found.starts_with(why) && problems.len() == usize::from(!why.is_empty()),
            "{second}: {found}"
        );
    }
}

/// Each kind of entry where it is seen: an address once in a connection, a host below its domain;
/// and the same alerts in every shape.
#[test]
fn indicators_alert_in_every_shape() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list of mine.csv");
    fs::write(
        &list,
        "type,indicator\nip,10.1.1[.]2\nnet,10.0.0.0/30\nhost,example\ndomain,a[.]example\n\
         url,hxxp://A.example/two\nfile,5eb63bbbe01eeed093cb22bb8f5acdc3\n",
    )
    .unwrap();
    let loaded = || {
        let mut reader = Reader::default();
        reader.read_indicators(&list).unwrap();
        reader.finish()
    };
    // A domain has two labels.
    assert_eq!(loaded().problems.len(), 1);
    let frames = mixed((1..9).map(|host| talk(EXCHANGE, 9, host)).collect());
    let written = |pipeline: &str| {
        let mut plan = plan(loaded());
        plan.pipeline = pipeline.parse().unwrap();
        plan.piece_bytes = 4096;
        log(&frames, plan)
    };
    let reference = written("1x1");
    let count = |kind: &str| {
        let text = format!("\"Indicator ({kind}) of list_of_mine.csv\"");
        let lines = reference.lines();
        lines
            .filter(|line| line.contains("\"gid\":9000,") && line.contains(&text))
            .count()
    };
    let counts = ["address", "network", "domain", "url", "md5", "sha256"].map(count);
    assert_eq!(counts, [8, 3, 16, 8, 8, 0]);
    for pipeline in ["1x3", "2x1", "2x4", "3x3"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

/// What one connection adds to a set, the next ones find there: in the order of alerts, whatever
/// the shape.
#[test]
fn rules_write_sets_in_the_order_of_alerts() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
alert http any any -> any any (http.uri; content:\"/one\"; http.user_agent; \
dataset:isnotset,agents; sid:1;)
alert http any any -> any any (http.uri; content:\"/one\"; http.user_agent; \
dataset:set,agents,type string; noalert; sid:2;)
alert http any any -> any any (http.uri; content:\"/one\"; http.user_agent; to_lowercase; \
dataset:isset,agents,type string; sid:3;)
alert http any any -> any any (http.uri; content:\"/one\"; http.user_agent; \
dataset:unset,never,type string; sid:4;)
pass http any any -> any any (http.user_agent; dataset:isset,agents; sid:5;)
";
    let text = text.replace("isnotset,agents;", "isnotset,agents,type string;");
    let loaded = rules(folder.path(), &text);
    assert!(loaded.problems.is_empty(), "{}", loaded.problems[0]);
    let frames = mixed((1..20_u8).map(|host| talk(EXCHANGE, 7, host)).collect());
    let written = |pipeline: &str| {
        let mut plan = plan(loaded_again(&folder, &text));
        plan.pipeline = pipeline.parse().unwrap();
        log(&frames, plan)
    };
    let reference = written("1x1");
    let count = |sid: u32| {
        let sid = format!("\"signature_id\":{sid},");
        reference.lines().filter(|line| line.contains(&sid)).count()
    };
    // The first connection alone has an agent that was not seen before; from it on all find it.
    assert_eq!([1, 2, 3, 4].map(count), [1, 0, 19, 19]);
    for pipeline in ["1x3", "2x2", "3x3"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

fn loaded_again(folder: &tempfile::TempDir, text: &str) -> Loaded {
    rules(folder.path(), text)
}
