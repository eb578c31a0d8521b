//! `--metrics ADDRESS`: counters of the run, for Prometheus and others that read its text form.
//!
//! One client at a time, with a short patience: a slow one holds up no thread of the run. The form
//! is OpenMetrics 1.0: names end in their unit, those that only rise in `_total`.

use crate::counters::Counters;
use flowpin_engine::{Control, Progress};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// Answers requests until the process ends.
#[derive(Debug)]
pub(crate) struct Metrics;

impl Metrics {
    /// Listens. The address is taken when this returns.
    ///
    /// # Errors
    /// The address cannot be listened on; a thread cannot be started.
    pub(crate) fn serve(
        address: SocketAddr,
        control: &Control,
        counters: &Counters,
    ) -> io::Result<()> {
        let listener = TcpListener::bind(address)?;
        let (control, counters) = (control.clone(), counters.clone());
        let answer = move || {
            for client in listener.incoming() {
                match client {
                    // A client that leaves early has what it wanted.
                    Ok(client) => drop(answer(&client, || text(&control, &counters))),
                    Err(_) => thread::sleep(PATIENCE),
                }
            }
        };
        Builder::new().name("metrics".to_owned()).spawn(answer)?;
        Ok(())
    }
}

/// Reads a request and answers it.
fn answer(mut client: &TcpStream, text: impl FnOnce() -> String) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut request = [0; REQUEST_LEN_MAX];
    let mut len = 0;
    let began = Instant::now();
    while let Some(room) = request.get_mut(len..).filter(|room| !room.is_empty()) {
        match client.read(room)? {
            _ if began.elapsed() > PATIENCE => break,
            0 => break,
            count => len += count,
        }
        let read = request.get(..len).unwrap_or_default();
        if read.windows(4).any(|end| end == b"\r\n\r\n") {
            break;
        }
    }
    let request = request.get(..len).unwrap_or_default();
    let (status, kind, body) = match path(request) {
        Some("/metrics") => ("200 OK", OPEN_METRICS, text()),
        Some("/") => ("200 OK", "text/plain", "flowpin: see /metrics\n".to_owned()),
        Some(_) => ("404 Not Found", "text/plain", "see /metrics\n".to_owned()),
        None => ("400 Bad Request", "text/plain", "GET /metrics\n".to_owned()),
    };
    let len = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len}\r\n\
         Connection: close\r\n\r\n"
    );
    client.write_all(head.as_bytes())?;
    client.write_all(body.as_bytes())
}

/// The path of a request to read something, without its query.
fn path(request: &[u8]) -> Option<&str> {
    let end = request.iter().position(|&byte| byte == b'\r')?;
    let line = str::from_utf8(request.get(..end)?).ok()?;
    let mut words = line.strip_prefix("GET ")?.split(' ');
    let target = words.next()?;
    let is_http = words
        .next()
        .is_some_and(|version| version.starts_with("HTTP/1."));
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    is_http.then_some(path)
}

/// All counters.
fn text(control: &Control, counters: &Counters) -> String {
    let progress = counters.progress();
    let Progress {
        packets,
        bytes_read,
        dropped,
        ..
    } = progress;
    let mut text = String::new();
    let mut put = |name: &str, help: &str, value: u64| {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "# TYPE flowpin_{name} counter\n# HELP flowpin_{name} {help}\n\
             flowpin_{name}_total {value}\n"
        );
    };
    put("packets", "Packets read.", packets);
    put(
        "dropped_packets",
        "Packets that the kernel had no room for.",
        dropped,
    );
    put("read_bytes", "Bytes read, as pcap or pcapng.", bytes_read);
    put(
        "records",
        "Records written, of all types.",
        control.records_written(),
    );
    put(
        "running_seconds",
        "Seconds since the start.",
        counters.elapsed().as_secs(),
    );
    let cpu = flowpin_engine::cpu_time().as_secs();
    put("processor_seconds", "Processor time of all threads.", cpu);
    let _ = writeln!(
        text,
        "# TYPE flowpin_losses counter\n# HELP flowpin_losses Caps reached and things left out, by \
         name (docs/user/summary.md)."
    );
    for (loss, count) in control.losses().iter() {
        let _ = writeln!(
            text,
            "flowpin_losses_total{{name=\"{}\"}} {count}",
            loss.name()
        );
    }
    let _ = writeln!(
        text,
        "# TYPE flowpin_reloads counter\n# HELP flowpin_reloads Settings taken while the run went \
         on (USR2), and those that could not be."
    );
    for (result, count) in ["done", "failed"].iter().zip(control.reload_counts()) {
        let _ = writeln!(text, "flowpin_reloads_total{{result=\"{result}\"}} {count}");
    }
    for (name, help, latency) in [
        (
            "record_latency_seconds",
            "From a packet to its record in the log, last.",
            0,
        ),
        ("record_latency_max_seconds", "The longest of them.", 1),
    ] {
        let seconds = control.record_latency()[latency].as_secs_f64();
        let _ = writeln!(
            text,
            "# TYPE flowpin_{name} gauge\n# HELP flowpin_{name} {help}\nflowpin_{name} {seconds:.6}"
        );
    }
    let memory = flowpin_engine::resident_bytes();
    let _ = writeln!(
        text,
        "# TYPE flowpin_resident_bytes gauge\n# HELP flowpin_resident_bytes Memory in use.\n\
         flowpin_resident_bytes {memory}\n# EOF"
    );
    text
}

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// A client's time for its request, and for each part of the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// More than any program sends that reads metrics.
const REQUEST_LEN_MAX: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn requests_name_a_path() {
        for (request, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", Some("/metrics")),
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", Some("/metrics")),
            ("GET / HTTP/1.1\r\n", Some("/")),
            ("POST /metrics HTTP/1.1\r\n", None),
            ("GET /metrics\r\n", None),
            ("GET /metrics HTTP/1.1", None),
            ("\u{fffd}\r\n", None),
            ("", None),
        ] {
            assert_eq!(path(request.as_bytes()), expected, "{request:?}");
        }
    }
}
