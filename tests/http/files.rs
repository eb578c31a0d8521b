//! `--extract`: bodies as files, the same for every pipeline.

use flowpin_testkit::{corpus, product};
use std::collections::BTreeMap;
use std::fs;

/// What a run with extraction leaves.
#[derive(PartialEq, Eq, Debug)]
struct Left {
    /// Its records of files.
    told: Vec<String>,
    files: BTreeMap<String, Vec<u8>>,
    summary: String,
}

/// Runs one pipeline with these settings of `[files]`.
fn run(shape: &str, settings: &str) -> Left {
    let capture = corpus::workspace().join("testkit/captures/http.pcapng");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("settings.toml"), format!("[files]\n{settings}\n")).unwrap();
    let words = ["run", "-r", capture.to_str().unwrap(), "--pipeline", shape];
    let (logs, files, settings) = (path("logs"), path("files"), path("settings.toml"));
    let paths = ["-l", &logs, "--extract", &files, "-c", &settings];
    let outcome = product::run(&[&words[..], &paths].concat()).unwrap();
    assert!(outcome.analysed(), "{}", outcome.stderr);
    let eve = fs::read_to_string(path("logs/eve.json")).unwrap();
    let is_told = |line: &&str| line.contains("\"fileinfo\"");
    let entries = fs::read_dir(path("files")).unwrap().flatten();
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read(entry.path()).unwrap())
    };
    Left {
        told: eve.lines().filter(is_told).map(str::to_owned).collect(),
        files: entries.map(read).collect(),
        summary: String::from_utf8_lossy(&outcome.stdout).into_owned(),
    }
}

/// Its records of files as JSON.
fn events(left: &Left) -> Vec<serde_json::Value> {
    let event = |line: &String| serde_json::from_str(line).unwrap();
    left.told.iter().map(event).collect()
}

/// Each file has the bytes whose hash its record tells, whatever the number of workers.
#[test]
fn bodies_become_files_the_same_for_every_pipeline() {
    let [one, two, three] = ["1x1", "2x2", "3x3"].map(|shape| run(shape, "sha256 = true"));
    assert!(!one.files.is_empty() && one.told.len() == one.files.len());
    for other in [two, three] {
        assert_eq!((&one.told, &one.files), (&other.told, &other.files));
    }
    let mut sizes: Vec<u64> = one.files.values().map(|bytes| bytes.len() as u64).collect();
    let size = |event: &serde_json::Value| {
        assert_eq!(event["fileinfo"]["sha256"].as_str().unwrap().len(), 64);
        assert_eq!(event["fileinfo"]["stored"], true);
        event["fileinfo"]["size"].as_u64().unwrap()
    };
    let mut told_sizes: Vec<u64> = events(&one).iter().map(size).collect();
    sizes.sort_unstable();
    told_sizes.sort_unstable();
    assert_eq!(sizes, told_sizes);
}

/// One file of each shard: the others are told, counted, not written, and the same for every
/// pipeline.
#[test]
fn a_run_writes_no_more_files_than_asked_for() {
    let all = run("1x1", "");
    let [one, two, three] = ["1x1", "2x2", "3x3"].map(|shape| run(shape, "count_max = 256"));
    for other in [&two, &three] {
        assert_eq!((&one.told, &one.files), (&other.told, &other.files));
    }
    assert_eq!(one.told.len(), all.told.len());
    assert!(one.files.len() < all.files.len() && !one.files.is_empty());
    let is_stored = |event: &&serde_json::Value| event["fileinfo"]["stored"] == true;
    let stored = events(&one).iter().filter(is_stored).count();
    assert_eq!(stored, one.files.len());
    let lost = all.files.len() - one.files.len();
    let line = one.summary.lines().find(|line| line.contains("http_files"));
    assert!(line.unwrap().contains(&lost.to_string()), "{}", one.summary);
}

/// 100 bytes of each shard: files end there, the same for every pipeline.
#[test]
fn a_run_writes_no_more_bytes_than_asked_for() {
    let all = run("1x1", "");
    let [one, two, three] = ["1x1", "2x2", "3x3"].map(|shape| run(shape, "total_max = '25600 B'"));
    for other in [&two, &three] {
        assert_eq!((&one.told, &one.files), (&other.told, &other.files));
    }
    for (name, bytes) in &one.files {
        assert!(
            bytes.len() <= 100 && all.files[name].starts_with(bytes),
            "{name}"
        );
    }
    let cut = one
        .files
        .iter()
        .filter(|(name, bytes)| all.files[*name] != **bytes);
    let is_cut = |event: &&serde_json::Value| event["fileinfo"]["state"] == "TRUNCATED";
    assert_eq!(cut.count(), events(&one).iter().filter(is_cut).count());
    assert!(one.summary.contains("http_file_bytes"), "{}", one.summary);
}

/// RFC 9112 §9.3.2: bodies of requests that were sent at once are complete before the first of them
/// is told; their records name the transaction that carried them all the same.
#[test]
fn a_file_names_its_transaction_also_where_requests_are_sent_at_once() {
    let capture = corpus::workspace().join("testkit/captures/http-apache.pcap.gz");
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, "[files]\nsha256 = true\n").unwrap();
    let [capture, settings, logs] =
        [&capture, &settings, folder.path()].map(|path| path.to_str().unwrap());
    let outcome = product::run(&["run", "-q", "-r", capture, "-c", settings, "-l", logs]).unwrap();
    assert!(outcome.analysed(), "{}", outcome.stderr);
    let eve = fs::read_to_string(folder.path().join("eve.json")).unwrap();
    let event = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let events: Vec<serde_json::Value> = eve.lines().map(event).collect();
    let place = |event: &serde_json::Value| (event["flow_id"].clone(), event["tx_id"].clone());
    let carrier = |file: &&serde_json::Value| {
        let is_it = |other: &&serde_json::Value| {
            other["event_type"] == "http" && place(other) == place(file)
        };
        events.iter().find(is_it).unwrap()["http"].clone()
    };
    let files = events
        .iter()
        .filter(|event| event["event_type"] == "fileinfo");
    let told: Vec<_> = files
        .map(|file| (carrier(&file), &file["fileinfo"]))
        .collect();
    assert!(told.len() > 20);
    for (http, file) in &told {
        let path = http["url"].as_str().unwrap().split('?').next().unwrap();
        assert_eq!(file["filename"], path);
    }
    // The one that is sent before the answers to the three before it.
    let is_sent = |(http, file): &&(serde_json::Value, &serde_json::Value)| {
        http["url"] == "/store" && file["size"] == 11
    };
    assert_eq!(told.iter().filter(is_sent).count(), 1);
}

/// As Suricata tells of files: the source is who sent it, and the transaction's fields stand
/// beside,
/// so that the two bodies of one POST can be told apart.
#[test]
fn a_file_has_its_sender_as_source_and_its_transaction_beside() {
    let capture = corpus::workspace().join("testkit/captures/http-apache.pcap.gz");
    let folder = tempfile::tempdir().unwrap();
    let [capture, logs] = [&capture, folder.path()].map(|path| path.to_str().unwrap());
    let words = [
        "run",
        "-q",
        "-r",
        capture,
        "--hash",
        "sha256,md5",
        "-l",
        logs,
    ];
    let outcome = product::run(&words).unwrap();
    assert!(outcome.analysed(), "{}", outcome.stderr);
    let eve = fs::read_to_string(folder.path().join("eve.json")).unwrap();
    let event = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let events: Vec<serde_json::Value> = eve.lines().map(event).collect();
    let mut senders = [0, 0];
    for file in events
        .iter()
        .filter(|event| event["event_type"] == "fileinfo")
    {
        let is_carrier = |other: &&serde_json::Value| {
            other["event_type"] == "http"
                && (&other["flow_id"], &other["tx_id"]) == (&file["flow_id"], &file["tx_id"])
        };
        let carrier = events.iter().find(is_carrier).unwrap();
        assert_eq!(file["fileinfo"]["tx_id"], file["tx_id"]);
        for name in [
            "hostname",
            "url",
            "http_method",
            "protocol",
            "http_user_agent",
        ] {
            assert_eq!(file["http"][name], carrier["http"][name], "{name}: {file}");
        }
        let is_client = file["src_port"] == carrier["src_port"];
        let from = if is_client { "src" } else { "dest" };
        for part in ["ip", "port"] {
            assert_eq!(
                file[format!("src_{part}")],
                carrier[format!("{from}_{part}")]
            );
        }
        if !is_client {
            assert_eq!(file["http"]["status"], carrier["http"]["status"]);
            assert_eq!(file["http"]["length"], carrier["http"]["length"]);
        }
        let hash = |name: &str| file["fileinfo"][name].as_str().map(str::len);
        assert_eq!(
            (hash("md5"), hash("sha1"), hash("sha256")),
            (Some(32), None, Some(64))
        );
        senders[usize::from(is_client)] += 1;
    }
    assert!(senders.iter().all(|&count| count > 0), "{senders:?}");
}
