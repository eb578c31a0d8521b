//! For each protocol something that is it, and something that nearly is.
//!
//! Both are made up by hand from the specifications. A near miss is the same bytes with one of them
//! changed: the byte at `miss.0` becomes `miss.1`. Protocols whose files have tests of their own
//! are tested there.

mod table;

use crate::testing::{datagrams, stream};
use std::path::Path;
use table::EXAMPLES;

/// Over what an example comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The client's stream.
    Client,
    /// The server's stream.
    Server,
    /// A datagram of the client.
    Datagram,
}
use By::{Client, Datagram, Server};

struct Example {
    name: &'static str,
    by: By,
    /// The server's port; 50,001 where it must not matter.
    port: u16,
    bytes: &'static [u8],
    miss: (usize, u8),
}

fn what(one: &Example, bytes: &[u8]) -> Option<&'static str> {
    let ports = (50_000, one.port);
    match one.by {
        Client => stream(&[(true, bytes)], ports),
        Server => stream(&[(false, bytes)], ports),
        Datagram => datagrams(&[(true, bytes)], ports),
    }
}

#[test]
fn each_example_is_told_by_itself() {
    let wrong: Vec<_> = EXAMPLES
        .iter()
        .filter(|one| what(one, one.bytes) != Some(one.name))
        .map(|one| (one.name, what(one, one.bytes)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// What a stream is does not depend on where segments cut it, neither for what is told nor for what
/// nearly is.
#[test]
fn segments_change_nothing_about_an_example() {
    let mut wrong = Vec::new();
    for one in EXAMPLES.iter().filter(|one| one.by != Datagram) {
        let mut missed = one.bytes.to_vec();
        missed[one.miss.0] = one.miss.1;
        for bytes in [one.bytes, &missed] {
            let whole = what(one, bytes);
            for size in [1, 2, 3, 5, 8] {
                let segments = bytes.chunks(size).map(|part| (one.by == Client, part));
                let turns: Vec<(bool, &[u8])> = segments.collect();
                let cut = stream(&turns, (50_000, one.port));
                if cut != whole {
                    wrong.push((one.name, size, whole, cut));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// One wrong byte where the specification allows none.
#[test]
fn each_near_miss_is_not_told() {
    let mut wrong = Vec::new();
    for one in EXAMPLES {
        let mut bytes = one.bytes.to_vec();
        assert_ne!(
            bytes[one.miss.0], one.miss.1,
            "{}: changes nothing",
            one.name
        );
        bytes[one.miss.0] = one.miss.1;
        if what(one, &bytes) == Some(one.name) {
            wrong.push(one.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The sources of all protocols, by file.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(sources(&path));
        } else {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
    texts
}

/// The tests in a protocol's own file, if there are any.
fn tests_of<'a>(sources: &'a [String], name: &str) -> Option<&'a str> {
    let named = format!("name: \"{name}\",");
    let of = |text: &&String| {
        let head = text.split("rules:").next();
        head.is_some_and(|head| head.contains(&named))
    };
    let (_, tests) = sources.iter().find(of)?.split_once("mod tests")?;
    Some(tests)
}

/// One direction is enough: for every protocol some test shows the bytes of one side, and no more,
/// and it is told. None needs both; which of its flows do is in the table of
/// `tests/identify/tests/corpus.rs`.
#[test]
fn each_protocol_is_told_by_one_direction() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocols"));
    let is_of_one = |text: &str, name: &str| {
        // Of helpers with a side's name, of SCTP's (`told`), and of turns or datagrams that all
        // have the same direction.
        let sides = ["client(", "server(", "datagram(", "told(", "two("];
        let [to_server, to_client] = ["(true, ", "(false, "].map(|side| text.contains(side));
        let helps = sides.iter().any(|side| text.contains(side));
        text.contains(&format!("Some(\"{name}\")")) && (helps || to_server != to_client)
    };
    let mut lacking = Vec::new();
    for protocol in crate::testing::identifier().protocols() {
        let name = protocol.name;
        let tests = tests_of(&sources, name).unwrap_or_default();
        let is_example = EXAMPLES.iter().any(|one| one.name == name);
        if !is_example && !tests.split(";\n").any(|text| is_of_one(text, name)) {
            lacking.push(name);
        }
    }
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// Every protocol of the table has something that is it and something that nearly is: among the
/// examples above, or in its own file.
#[test]
fn each_protocol_has_an_example_and_a_near_miss() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocols"));
    let mut lacking = Vec::new();
    for protocol in crate::testing::identifier().protocols() {
        let name = protocol.name;
        if EXAMPLES.iter().any(|one| one.name == name) {
            continue;
        }
        let tests = tests_of(&sources, name).unwrap_or_default();
        let is_told = tests.contains(&format!("Some(\"{name}\")"));
        let nearly = ["None", "assert_ne!", "Some(Answer::No)"];
        if !is_told || !nearly.iter().any(|word| tests.contains(word)) {
            lacking.push(name);
        }
    }
    assert!(lacking.is_empty(), "{lacking:?}");
}
