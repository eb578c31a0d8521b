//! Records that are larger than the packets from which they are made.

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;

/// All within a granule of time, and so few bytes of them in each piece that no piece alone has
/// too many: still only so many wait for the granule's end.
#[test]
fn large_records_do_not_wait_for_the_end_of_a_granule() {
    let request = [
        b"GET /",
        &[b'a'; 30_000][..],
        b" HTTP/1.1\r\nHost: a\r\n\r\n",
    ]
    .concat();
    let server = [b'\x03'; 8000];
    let response = [
        &b"HTTP/1.1 200 OK\r\nServer: "[..],
        &server,
        b"\r\nContent-Length: 0\r\n\r\n",
    ]
    .concat();
    let mut frames = Vec::new();
    for number in 0..400u16 {
        let [high, low] = number.to_be_bytes();
        let ip = Ip::v4([10, 0, high, low], [192, 0, 2, 1]);
        let len = u32::try_from(request.len()).unwrap();
        let ack = flags::ACK;
        frames.extend([
            ip.tcp(Tcp::new(5000, 80, 1000, 0, flags::SYN), b""),
            ip.reversed()
                .tcp(Tcp::new(80, 5000, 2000, 1001, flags::SYN | ack), b""),
            ip.tcp(Tcp::new(5000, 80, 1001, 2001, ack), &request),
            ip.reversed()
                .tcp(Tcp::new(80, 5000, 2001, 1001 + len, ack), &response),
        ]);
    }
    let frames: Vec<_> = frames.iter().map(|packet| packet.ethernet()).collect();
    let start = 1_700_000_000_000_000_000;
    let timed = (start..)
        .step_by(1000)
        .zip(frames.iter().map(Vec::as_slice));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.pcap");
    std::fs::write(&path, ethernet_file(timed).unwrap()).unwrap();
    for shape in ["1x1", "1x2", "2x2", "3x2"] {
        let mut plan = Plan {
            inputs: vec![Input::File(path.clone())],
            pipeline: shape.parse().unwrap(),
            ..Plan::default()
        };
        plan.parse.all_fields = true;
        plan.output.formats = vec![Format::Eve];
        plan.output.dir = folder.path().join(shape);
        let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
        let written = std::fs::metadata(plan.output.dir.join("eve.json")).unwrap();
        let held = report.workers.iter().map(|worker| worker.held_bytes_max);
        let most = held.max().unwrap();
        assert!(written.len() > 20 << 20, "{shape}: {}", written.len());
        assert!(most < 2 << 20, "{shape}: {most}");
    }
}
