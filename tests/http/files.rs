//! `--extract`: bodies as files, the same for every pipeline.

use flowpin_testkit::{corpus, product};
use std::collections::BTreeMap;
use std::fs;

/// Each file has the bytes whose hash its record tells, whatever the number of workers.
#[test]
fn bodies_become_files_the_same_for_every_pipeline() {
    let capture = corpus::workspace().join("testkit/captures/http.pcapng");
    let runs = ["1x1", "2x2", "3x3"].map(|shape| {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("settings.toml"), "[files]\nsha256 = true\n").unwrap();
        let capture = capture.to_str().unwrap();
        let (settings, logs, files) = (path("settings.toml"), path("logs"), path("files"));
        let words = [
            "run",
            "-r",
            capture,
            "-l",
            &logs,
            "-c",
            &settings,
            "--extract",
            &files,
            "--pipeline",
            shape,
        ];
        let outcome = product::run(&words).unwrap();
        assert!(outcome.analysed(), "{}", outcome.stderr);
        let eve = fs::read_to_string(folder.path().join("logs/eve.json")).unwrap();
        let told: Vec<String> = eve
            .lines()
            .filter(|line| line.contains("\"fileinfo\""))
            .map(str::to_owned)
            .collect();
        let entries = fs::read_dir(files).unwrap().flatten();
        let bytes: BTreeMap<_, _> = entries
            .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
            .collect();
        (told, bytes)
    });
    let [(told, files), others @ ..] = &runs;
    assert!(!files.is_empty() && told.len() == files.len());
    for (told_there, files_there) in others {
        assert_eq!((told, files), (told_there, files_there));
    }
    let mut sizes: Vec<u64> = files.values().map(|bytes| bytes.len() as u64).collect();
    let size = |line: &String| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["fileinfo"]["sha256"].as_str().unwrap().len(), 64);
        event["fileinfo"]["size"].as_u64().unwrap()
    };
    let mut told_sizes: Vec<u64> = told.iter().map(size).collect();
    sizes.sort_unstable();
    told_sizes.sort_unstable();
    assert_eq!(sizes, told_sizes);
}
