//! Our `fix` records, as events.

use flowpin_testkit::product;
use serde_json::Value;
use std::path::Path;

/// One `fix` record.
pub(crate) struct Event {
    pub(crate) client: String,
    pub(crate) fix: Value,
}

impl Event {
    pub(crate) fn to_server(&self) -> bool {
        self.fix["to_server"] == true
    }

    /// A field as text; nothing if it is not there.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.fix[key].as_str()
    }
}

/// All `fix` records of a capture, and the text of everything written.
pub(crate) fn events(capture: &Path) -> (Vec<Event>, String) {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture.to_str().unwrap();
    let output = folder.path().to_str().unwrap();
    let words = [
        "run", "-q", "--format", "eve", "-k", "none", "-r", capture, "-l", output,
    ];
    let outcome = product::run(&words).unwrap();
    assert!(outcome.analysed(), "{capture}: {}", outcome.stderr);
    let all = product::files(folder.path()).unwrap();
    let text = String::from_utf8_lossy(&all["eve.json"]).into_owned();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let found = lines.filter(|event: &Value| event["event_type"] == "fix");
    let events = found.map(|event| Event {
        client: format!(
            "{}:{}",
            event["src_ip"].as_str().unwrap(),
            event["src_port"]
        ),
        fix: event["fix"].clone(),
    });
    (events.collect(), text)
}
