//! Wireshark's conversation tables (what `tshark -z conv,…` prints), from one long-lived
//! process, so that thousands of captures take a minute instead of a quarter of an hour.

use super::Conversation;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running `sharkd` (Debian: `wireshark-common`, which `tshark` brings).
#[derive(Debug)]
pub struct Sharkd {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    settings: Vec<(String, String)>,
    number: u64,
}

impl Sharkd {
    /// Starts it with these preferences.
    ///
    /// # Errors
    /// It is not installed, or it refuses a preference.
    pub fn start(settings: &[(&str, &str)]) -> io::Result<Self> {
        let (process, requests, answers) = spawn()?;
        let settings = settings.iter().map(|&(n, v)| (n.to_owned(), v.to_owned()));
        let mut sharkd = Self {
            process,
            requests,
            answers,
            settings: settings.collect(),
            number: 0,
        };
        sharkd.set_up()?;
        Ok(sharkd)
    }

    fn set_up(&mut self) -> io::Result<()> {
        for (name, value) in self.settings.clone() {
            self.send("setconf", &json!({"name": name, "value": value}))?;
            let answer = self.answer()?;
            if answer.get("error").is_some() {
                return Err(io::Error::other(format!("{name}: {}", answer["error"])));
            }
        }
        Ok(())
    }

    /// The TCP, UDP and SCTP conversations of a capture, sorted; none if it cannot read the file
    /// (or dies of it). Of a file that is cut short: those of what came before.
    ///
    /// # Errors
    /// It cannot be started again after it died.
    pub fn conversations(&mut self, path: &Path) -> io::Result<Option<Vec<Conversation>>> {
        match self.load_and_tap(path) {
            Ok(result) => Ok(result.map(|result| {
                let mut found: Vec<_> = rows(&result).collect();
                found.sort();
                found
            })),
            Err(_) => self.restart().map(|()| None),
        }
    }

    /// A file that is cut short is loaded without an answer: so both requests go out together.
    fn load_and_tap(&mut self, path: &Path) -> io::Result<Option<Value>> {
        let load = self.send("load", &json!({"file": path}))?;
        let taps = json!({"tap0": "conv:TCP", "tap1": "conv:UDP", "tap2": "conv:SCTP"});
        let tap = self.send("tap", &taps)?;
        let mut is_loaded = true;
        loop {
            let mut answer = self.answer()?;
            if answer["id"] == load {
                is_loaded = answer.get("error").is_none();
            } else if answer["id"] == tap {
                return Ok(is_loaded.then(|| answer["result"].take()));
            }
        }
    }

    fn send(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        self.number += 1;
        let request = json!({
            "jsonrpc": "2.0", "id": self.number, "method": method, "params": params});
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        Ok(self.number)
    }

    fn answer(&mut self) -> io::Result<Value> {
        let mut line = Vec::new();
        if self.answers.read_until(b'\n', &mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        serde_json::from_slice(&line).map_err(io::Error::other)
    }

    /// Ends the process and starts another one with the same preferences.
    ///
    /// # Errors
    /// As [`Sharkd::start`].
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        let (process, requests, answers) = spawn()?;
        self.process = process;
        self.requests = requests;
        self.answers = answers;
        self.set_up()
    }

    fn stop(&mut self) {
        // It may be gone already: then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Sharkd {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn() -> io::Result<(Child, ChildStdin, BufReader<ChildStdout>)> {
    let mut process = Command::new("sharkd")
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    match (process.stdin.take(), process.stdout.take()) {
        (Some(requests), Some(answers)) => Ok((process, requests, BufReader::new(answers))),
        _ => Err(io::Error::other("sharkd without pipes")),
    }
}

fn rows(result: &Value) -> impl Iterator<Item = Conversation> + '_ {
    let taps = result["taps"].as_array().into_iter().flatten();
    taps.flat_map(|tap| {
        let protocol = tap["proto"].as_str().unwrap_or_default().to_lowercase();
        let rows = tap["convs"].as_array().into_iter().flatten();
        rows.filter_map(move |row| row_of(&protocol, row))
    })
}

fn row_of(protocol: &str, row: &Value) -> Option<Conversation> {
    let end = |address: &str, port: &str| -> Option<(IpAddr, u16)> {
        let address = row[address].as_str()?.parse().ok()?;
        Some((address, row[port].as_str()?.parse().ok()?))
    };
    let count = |name: &str| row[name].as_u64().unwrap_or(0);
    Some(Conversation::new(
        protocol,
        end("saddr", "sport")?,
        end("daddr", "dport")?,
        (count("txf"), count("txb")),
        (count("rxf"), count("rxb")),
    ))
}
