//! Dictionaries by the command, and sides that are silent for too long.

use flowpin_testkit::product::{self, Outcome};
use flowpin_testkit::{build::talk, corpus};
use serde_json::{Value, json};
use std::path::Path;

/// A message with BodyLength and CheckSum as they should be.
fn message(body: &str) -> Vec<u8> {
    let body = body.replace('|', "\u{1}");
    let mut wire = format!("8=FIX.4.4\u{1}9={}\u{1}{body}", body.len()).into_bytes();
    let sum = wire.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    wire.extend(format!("10={sum:03}\u{1}").into_bytes());
    wire
}

/// Two logons, and what follows: who, after how many seconds, what.
fn session(folder: &Path, more: &[(bool, f64, &str)]) {
    let ends = |is_client: bool| match is_client {
        true => "49=C|56=S|",
        false => "49=S|56=C|",
    };
    let logons = [
        (true, 0.1, "35=A|34=1|98=0|108=10|"),
        (false, 0.1, "35=A|34=1|98=0|108=10|"),
    ];
    let said: Vec<(bool, f64, Vec<u8>)> = logons
        .iter()
        .chain(more)
        .map(|&(is_client, later, body)| {
            let (kind, rest) = body.split_once('|').unwrap();
            let body = format!("{kind}|{}52=20260101-00:00:00|{rest}", ends(is_client));
            (is_client, later, message(&body))
        })
        .collect();
    let turns: Vec<(bool, f64, &[u8])> = said
        .iter()
        .map(|(is_client, later, bytes)| (*is_client, *later, bytes.as_slice()))
        .collect();
    std::fs::write(folder.join("a.pcap"), talk(9999, &turns).unwrap()).unwrap();
}

fn run(folder: &Path, more: &[&str]) -> Outcome {
    let capture = folder.join("a.pcap");
    let words = [
        "run",
        "-q",
        "-r",
        capture.to_str().unwrap(),
        "--output",
        "-",
    ];
    product::run(&[&words, more].concat()).unwrap()
}

fn events(outcome: &Outcome, kind: &str) -> Vec<Value> {
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let lines = str::from_utf8(&outcome.stdout).unwrap().lines();
    let all = lines.map(|line| serde_json::from_str(line).unwrap());
    all.filter(|event: &Value| event["event_type"] == kind)
        .collect()
}

const DESK: &str = "<fix>
 <messages><message name='DeskNews' msgtype='U7' msgcat='app'>
  <group name='NoDesks' required='N'><field name='DeskCode' required='N'/></group>
 </message></messages>
 <fields>
  <field number='9000' name='NoDesks' type='NUMINGROUP'/>
  <field number='9001' name='DeskCode' type='CHAR'><value enum='L' description='LONDON'/></field>
 </fields>
</fix>";

/// What a dictionary names has its name in records: messages, fields, values, groups. The setting
/// and the flag do the same.
#[test]
fn a_dictionary_s_names_are_in_records() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    session(at, &[(true, 1.0, "35=U7|34=2|9000=2|9001=L|9001=X|")]);
    let dictionary = at.join("desk.xml");
    std::fs::write(&dictionary, DESK).unwrap();
    let config = at.join("all.toml");
    std::fs::write(&config, "[parse]\nall_fields = true\n").unwrap();
    let both = at.join("both.toml");
    let quoted = format!("fix_dictionaries = ['{}']", dictionary.display());
    std::fs::write(&both, format!("[parse]\nall_fields = true\n{quoted}\n")).unwrap();
    let [config, both, dictionary] =
        [&config, &both, &dictionary].map(|path| path.to_str().unwrap());
    let news = |words: &[&str]| {
        let all = events(&run(at, words), "fix");
        let found = all.into_iter().map(|event| event["fix"].clone());
        let found: Vec<Value> = found.filter(|fix| fix["msg_type"] == "U7").collect();
        assert_eq!(found.len(), 1);
        found[0].clone()
    };
    let without = news(&["-c", config]);
    assert_eq!(without["msg_name"], Value::Null);
    let with = news(&["-c", config, "--fix-dictionary", dictionary]);
    assert_eq!(with["msg_name"], "DeskNews");
    let text = with.to_string();
    for wanted in ["NoDesks", "DeskCode", "LONDON", "9000[1]"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert_eq!(news(&["-c", both]), with);
}

/// QuickFIX's own files load, one on top of the other.
#[test]
fn quickfix_s_dictionaries_load() {
    let Some(shared) = corpus::shared_dir("QuickFIX's data dictionaries") else {
        return;
    };
    let spec = shared.join("corpus/fix/quickfix+quickfix/spec");
    let folder = tempfile::tempdir().unwrap();
    session(folder.path(), &[]);
    let mut words = Vec::new();
    for name in ["FIX40.xml", "FIX44.xml", "FIXT11.xml", "FIX50SP2.xml"] {
        words.push("--fix-dictionary".to_owned());
        words.push(spec.join(name).to_str().unwrap().to_owned());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let names = events(&run(folder.path(), &words), "fix");
    let names: Vec<&Value> = names
        .iter()
        .map(|event| &event["fix"]["msg_name"])
        .collect();
    assert_eq!(names, [&json!("Logon"), &json!("Logon")]);
}

/// A file that is none is named, with its line and what is wrong: one line, exit code 2.
#[test]
fn a_bad_dictionary_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    session(folder.path(), &[]);
    let path = folder.path().join("desk.xml");
    let cases = [
        (
            DESK.replace("number='9001'", "number='x'"),
            "line 7: \"x\" is no tag",
        ),
        (
            "<html>\n</html>".to_owned(),
            "line 1: not a QuickFIX data dictionary",
        ),
        ("<fix>".to_owned(), "desk.xml: "),
    ];
    for (text, wanted) in cases {
        std::fs::write(&path, text).unwrap();
        for more in [&["-T"][..], &[]] {
            let words = [&["--fix-dictionary", path.to_str().unwrap()], more].concat();
            let outcome = run(folder.path(), &words);
            assert_eq!(outcome.code, 2, "{}", outcome.stderr);
            assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
            assert!(outcome.stderr.contains("desk.xml"), "{}", outcome.stderr);
            assert!(
                outcome.stderr.contains(wanted),
                "{wanted}: {}",
                outcome.stderr
            );
        }
    }
}

/// HeartBtInt is 10: who says nothing for more than 12 seconds is late, whoever spoke meanwhile; a
/// Logout ends the promise.
#[test]
fn a_side_that_is_silent_for_too_long_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let late = |more: &[(bool, f64, &str)]| {
        session(folder.path(), more);
        let odd = events(&run(folder.path(), &[]), "anomaly");
        let odd = odd
            .iter()
            .filter(|event| event["anomaly"]["event"] == "fix_heartbeat_late");
        odd.count()
    };
    let beat = "35=0|34=2|";
    assert_eq!(late(&[(true, 11.0, beat), (false, 0.5, beat)]), 0);
    assert_eq!(late(&[(true, 11.0, beat), (true, 11.0, "35=0|34=3|")]), 1);
    assert_eq!(late(&[(true, 13.0, beat), (false, 0.1, beat)]), 2);
    let bye = "35=5|34=2|";
    assert_eq!(
        late(&[
            (true, 1.0, bye),
            (false, 1.0, bye),
            (true, 99.0, "35=5|34=3|")
        ]),
        0
    );
}
