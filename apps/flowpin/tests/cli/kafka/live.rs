//! A capture from an interface, confined, that sends to a cluster.

use super::{broker, lines};
use crate::namespace::{Live, inside, send};
use crate::program::{flowpin, stdout, text};
use flowpin_testkit::corpus;
use flowpin_testkit::kafka::Extras;
use std::thread::sleep;
use std::time::Duration;

/// Confined, a run finds a broker by its name again that was killed and came back; its recording
/// gives the lines that were sent.
#[test]
fn a_confined_run_finds_its_broker_again() {
    if !corpus::is_long() {
        return corpus::skip("Kafka", "needs FLOWPIN_TEST_LONG=1");
    }
    inside("kafka::live::a_confined_run_finds_its_broker_again", run);
}

fn run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(mut broker) = broker(folder, Extras::default()) else {
        return;
    };
    let address = broker.address();
    let (_, port) = address.rsplit_once(':').unwrap();
    let to = format!("kafka://localhost:{port}/live");
    let recording = folder.join("all.pcapng");
    let live = Live::start(folder, &["--output", &to, "-w", text(&recording)], &[]);
    assert!(live.is_confined(), "{}", live.told());
    send("7");
    sleep(Duration::from_secs(2));
    broker.kill();
    // Its records fall due while nobody takes them.
    send("8");
    live.wait_for("is away");
    sleep(Duration::from_secs(1));
    broker.resume().unwrap();
    live.wait_for("is back");
    send("9");
    sleep(Duration::from_secs(1));
    let told = live.told();
    assert_eq!(live.stop(), 0, "{told}");
    let again = flowpin(&["run", "-q", "-r", text(&recording), "--output", "-"]);
    let again: Vec<_> = stdout(&again).lines().collect();
    let (got, doubled) = lines(&broker.read("live").unwrap());
    assert!(again.len() > 180);
    assert_eq!((got.len(), doubled), (again.len(), 0));
    assert!(got.iter().eq(&again));
}
