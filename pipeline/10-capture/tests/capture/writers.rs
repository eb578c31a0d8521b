//! What is written is read back, by us and by others.

use crate::build::{Sample, pieces_of, read, samples};
use flowpin_capture::{PcapWriter, PcapngWriter, Precision, link_number};
use flowpin_packet::{LinkType, Timestamp};
use proptest::prelude::*;

fn pcap(samples: &[Sample], precision: Precision) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), 1, precision).unwrap();
    for s in samples {
        writer
            .write(Timestamp(s.time_ns), s.wire_len, &s.bytes)
            .unwrap();
    }
    writer.flush().unwrap();
    writer.into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Both writers, with several link types in one pcapng.
    #[test]
    fn what_is_written_is_read_back(mut samples in samples(30), piece_len in 64_usize..500) {
        for precision in [Precision::Micros, Precision::Nanos] {
            let (got, _) = read(vec![pcap(&samples, precision)], &pieces_of(piece_len)).unwrap();
            prop_assert_eq!(&got, &samples);
        }
        let links = [LinkType::Ethernet, LinkType::Raw, LinkType::LinuxSll2];
        let mut writer = PcapngWriter::new(Vec::new()).unwrap();
        for (link, name) in links.into_iter().zip(["", "lo", "wlan0"]) {
            writer.add_interface(link_number(link).unwrap(), name).unwrap();
        }
        for (i, s) in samples.iter_mut().enumerate() {
            let interface = u32::try_from(i % 3).unwrap();
            s.link = links[i % 3];
            s.time_ns += 1; // nanoseconds survive
            writer.write(interface, Timestamp(s.time_ns), s.wire_len, &s.bytes).unwrap();
        }
        let (got, report) = read(vec![writer.into_inner()], &pieces_of(piece_len)).unwrap();
        prop_assert_eq!(&got, &samples);
        prop_assert_eq!(&report.files[0].damage, &None);
    }
}

/// What no reader would take is not written.
#[test]
fn impossible_packets_are_refused() {
    let mut pcap = PcapWriter::new(Vec::new(), 1, Precision::Nanos).unwrap();
    let now = Timestamp(0);
    assert!(pcap.write(now, 300_000, &vec![0; 262_145]).is_err());
    assert!(pcap.write(now, 3, &[0; 4]).is_err());
    assert!(pcap.write(Timestamp::MAX, 4, &[0; 4]).is_err());
    assert!(pcap.write(now, 4, &[0; 4]).is_ok());
    let mut pcapng = PcapngWriter::new(Vec::new()).unwrap();
    assert!(pcapng.write(0, now, 4, &[0; 4]).is_err());
    pcapng.add_interface(1, "").unwrap();
    assert!(pcapng.write(0, now, 3, &[0; 4]).is_err());
    assert!(pcapng.write(0, Timestamp::MAX, 4, &[0; 4]).is_ok());
}

/// A full disk is an error of the write or of the flush, never silence.
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut writer = PcapWriter::new(std::io::BufWriter::new(full), 1, Precision::Nanos).unwrap();
    writer.write(Timestamp(0), 4, &[0; 4]).unwrap();
    assert_eq!(
        writer.flush().unwrap_err().kind(),
        std::io::ErrorKind::StorageFull
    );
}
