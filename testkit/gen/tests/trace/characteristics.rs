//! What was asked for comes out, within 2 %.

use crate::measure::{measure, packets};
use flowpin_gen::{Kind, Options, PRESETS, Troubles, generate};
use flowpin_testkit::pcap::Capture;

pub(crate) fn capture(options: &Options) -> Capture {
    let mut bytes = Vec::new();
    let totals = generate(options, &mut bytes, None).unwrap();
    assert_eq!(totals.file_bytes, bytes.len() as u64);
    let capture = Capture::parse(bytes).unwrap();
    assert_eq!(totals.packets, capture.packets.len() as u64);
    capture
}

#[track_caller]
fn assert_near(what: &str, is: f64, asked: f64) {
    let tolerance = 0.02 * asked;
    assert!(
        (is - asked).abs() <= tolerance.max(1e-4),
        "{what}: {is}, not {asked}"
    );
}

/// The presets are of use only if they are like the traces that they are named after.
#[test]
fn presets_have_the_published_characteristics() {
    for preset in &PRESETS {
        // Enough for averages, not for patience.
        let part = 60_000.0 / preset.packets as f64;
        let options = preset.options(part.min(1.0));
        let trace = capture(&options);
        let is = measure(&packets(&trace));
        let name = preset.name;
        assert_near(name, is.packet_len, options.packet_len);
        assert_near(
            name,
            is.connection_rate,
            1000.0 / options.packets_per_connection,
        );
        assert_near(name, is.straddling, options.straddling);
        assert_near(name, is.chunked, options.chunked);
        if options.concurrency >= 100.0 {
            assert_near(name, is.concurrency, options.concurrency);
        }
    }
}

/// The generator's own account must be what a reader of the trace finds.
#[test]
fn characteristics_are_those_that_a_reader_measures() {
    let options = Options {
        connections: 3_000,
        straddling: 0.08,
        chunked: 0.25,
        v6: 0.3,
        ..Options::new(Kind::Http)
    };
    let mut bytes = Vec::new();
    let told = generate(&options, &mut bytes, None)
        .unwrap()
        .characteristics();
    let trace = Capture::parse(bytes).unwrap();
    let is = measure(&packets(&trace));
    for (what, told, is) in [
        ("length", told.packet_len, is.packet_len),
        ("rate", told.connection_rate, is.connection_rate),
        ("straddling", told.straddling, is.straddling),
        ("chunked", told.chunked, is.chunked),
        ("concurrency", told.concurrency, is.concurrency),
    ] {
        assert!(
            (told - is).abs() < 1e-9 * told.max(1.0),
            "{what}: {told} {is}"
        );
    }
    assert_near("IPv6", told.v6, 0.3);
}

/// Each can be chosen without the others.
#[test]
fn shares_and_lengths_are_met_alone() {
    for (straddling, chunked, header_len) in [
        (0.0, 0.0, Some(600)),
        (0.15, 0.0, Some(700)),
        (0.0, 0.4, None),
        (0.05, 0.1, Some(300)),
    ] {
        let options = Options {
            straddling,
            chunked,
            header_len,
            ..Options::new(Kind::Http)
        };
        let trace = capture(&options);
        let is = measure(&packets(&trace));
        assert_near("straddling", is.straddling, straddling);
        assert_near("chunked", is.chunked, chunked);
    }
}

/// Figures from two machines can be compared only if the traces are the same.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let options = Options {
        connections: 200,
        troubles: Troubles {
            lost: 0.02,
            duplicated: 0.02,
            ..Troubles::default()
        },
        ..Options::new(Kind::Mix)
    };
    assert_eq!(capture(&options).bytes, capture(&options).bytes);
    let other = Options {
        seed: 2,
        ..options.clone()
    };
    assert_ne!(capture(&options).bytes, capture(&other).bytes);
}
