//! The traces of the papers, by the characteristics that they published.
//!
//! Where a paper is silent, a value is chosen here, and said so: concurrency of the ICS'09 traces
//! (its section 4.6 takes all connections of a trace as open together), and the length
//! of packets in the Snort note, whose files were cut to some 64 bytes a packet
//! (`snap_len`), by their sizes.

use crate::options::{Kind, Options, Service};

/// Of the connections that are not probes, those open at a time, where nobody published it.
const OPEN_SHARE: f64 = 0.8;

/// A trace of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name here.
    pub name: &'static str,
    /// Which trace of which paper.
    pub source: &'static str,
    /// What traffic.
    pub kind: Kind,
    /// Packets.
    pub packets: u64,
    /// TCP connections.
    pub connections: u64,
    /// Bytes of a packet, on average.
    pub packet_len: f64,
    /// Open connections, on average; 0 where nobody published it.
    concurrency: f64,
    straddling: f64,
    chunked: f64,
    header_len: Option<u32>,
    packets_per_s: f64,
    mix: Mix,
}

/// Connections by service, as Table 2 of the ICS'09 paper counts them.
#[derive(Clone, Copy, Debug)]
struct Mix {
    http: f64,
    pop3: f64,
    smtp: f64,
    imap: f64,
    telnet: f64,
    bittorrent: f64,
    others: f64,
}

const NO_MIX: Mix = Mix {
    http: 0.0,
    pop3: 0.0,
    smtp: 0.0,
    imap: 0.0,
    telnet: 0.0,
    bittorrent: 0.0,
    others: 0.0,
};

/// File-4; also taken for the other captures of the same campus.
const CAMPUS: Mix = Mix {
    http: 1_504.0,
    smtp: 4.0,
    bittorrent: 18_000.0,
    others: 32.0,
    ..NO_MIX
};

const fn ics09(
    name: &'static str,
    source: &'static str,
    packets: u64,
    connections: u64,
    packet_len: f64,
    mix: Mix,
) -> Preset {
    Preset {
        name,
        source,
        kind: Kind::Mix,
        packets,
        connections,
        packet_len,
        concurrency: 0.0,
        straddling: 0.0,
        chunked: 0.0,
        header_len: None,
        packets_per_s: 410_000.0,
        mix,
    }
}

const fn parser(name: &'static str, source: &'static str, kind: Kind, packets: u64) -> Preset {
    Preset {
        name,
        source,
        kind,
        packets,
        connections: 0,
        packet_len: 0.0,
        concurrency: 0.0,
        straddling: 0.0,
        chunked: 0.0,
        header_len: None,
        packets_per_s: 1_000_000.0,
        mix: NO_MIX,
    }
}

/// All of them.
pub const PRESETS: [Preset; 16] = [
    ics09(
        "ics09-file-1",
        "ICS'09 File-1",
        646_703,
        9_191,
        186.0,
        CAMPUS,
    ),
    ics09(
        "ics09-file-2",
        "ICS'09 File-2",
        297_024,
        4_384,
        201.0,
        CAMPUS,
    ),
    ics09(
        "ics09-file-3",
        "ICS'09 File-3",
        594_064,
        8_768,
        205.0,
        CAMPUS,
    ),
    ics09(
        "ics09-file-4",
        "ICS'09 File-4",
        2_376_256,
        35_072,
        204.0,
        CAMPUS,
    ),
    ics09(
        "ics09-file-5",
        "ICS'09 File-5",
        9_496_620,
        140_194,
        202.0,
        CAMPUS,
    ),
    ics09(
        "ics09-file-6",
        "ICS'09 File-6",
        17_092_300,
        253_371,
        208.0,
        CAMPUS,
    ),
    ics09(
        "ics09-file-7",
        "ICS'09 File-7 (DARPA)",
        3_393_924,
        111_777,
        307.0,
        Mix {
            http: 110_103.0,
            pop3: 39.0,
            smtp: 1_265.0,
            telnet: 390.0,
            others: 201.0,
            ..NO_MIX
        },
    ),
    ics09(
        "ics09-file-8",
        "ICS'09 File-8 (DARPA)",
        3_201_341,
        103_578,
        243.0,
        Mix {
            http: 67_621.0,
            pop3: 7_407.0,
            smtp: 3_254.0,
            imap: 2_533.0,
            telnet: 3_347.0,
            others: 190.0,
            ..NO_MIX
        },
    ),
    ics09(
        "ics09-file-9",
        "ICS'09 File-9 (Defcon)",
        3_960_205,
        12_736,
        194.0,
        Mix {
            http: 3_934.0,
            pop3: 1.0,
            smtp: 11.0,
            telnet: 55.0,
            others: 692.0,
            ..NO_MIX
        },
    ),
    ics09(
        "ics09-file-10",
        "ICS'09 File-10 (Defcon)",
        1_050_364,
        1_043,
        851.0,
        Mix {
            http: 765.0,
            others: 139.0,
            ..NO_MIX
        },
    ),
    Preset {
        connections: 123_117,
        packet_len: 764.0,
        concurrency: 31_768.0,
        straddling: 0.002,
        chunked: 0.03,
        ..parser(
            "parser-file-1",
            "parser paper File-1",
            Kind::Http,
            2_472_221,
        )
    },
    Preset {
        connections: 481_397,
        packet_len: 319.0,
        concurrency: 8_721.0,
        straddling: 0.219,
        chunked: 0.324,
        // "Each generated packet has a long header field" (its section V-B).
        header_len: Some(900),
        ..parser(
            "parser-file-2",
            "parser paper File-2",
            Kind::Http,
            5_697_000,
        )
    },
    Preset {
        connections: 94_800,
        packet_len: 92.0,
        concurrency: 77_709.0,
        ..parser("parser-file-3", "parser paper File-3", Kind::Fix, 1_000_000)
    },
    Preset {
        connections: 1_004_103,
        // A kilobyte of content, its headers, and ten packets almost empty.
        packet_len: 190.0,
        concurrency: 500.0,
        // 35,000 sessions a second.
        packets_per_s: 384_815.0,
        ..parser(
            "snort-http-1k",
            "Snort note, HTTP 1 kB",
            Kind::Http,
            11_039_801,
        )
    },
    Preset {
        connections: 88_995,
        packet_len: 660.0,
        concurrency: 500.0,
        // 2,000 sessions a second.
        packets_per_s: 110_169.0,
        ..parser(
            "snort-http-32k",
            "Snort note, HTTP 32 kB",
            Kind::Http,
            4_902_174,
        )
    },
    Preset {
        // The note has no trace of this size: as many bytes as with 32 kB, twice as many in each.
        connections: 44_498,
        packet_len: 687.0,
        concurrency: 500.0,
        // 1,000 sessions a second (its Table 3).
        packets_per_s: 105_000.0,
        ..parser(
            "snort-http-64k",
            "Snort note, HTTP 64 kB",
            Kind::Http,
            4_672_290,
        )
    },
];

impl Preset {
    /// The preset of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Its options, for a part of the trace: 1.0 is all of it. A part has as many packets per
    /// connection, and as many fewer connections at a time.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of packets"
    )]
    pub fn options(&self, part: f64) -> Options {
        let connections = self.connections as f64;
        let mix = self.mix.shares(connections);
        let concurrency = if self.concurrency > 0.0 {
            self.concurrency
        } else {
            let probes = mix.iter().find(|(service, _)| *service == Service::Probe);
            let all: f64 = mix.iter().map(|(_, count)| count).sum();
            let talking = 1.0 - probes.map_or(0.0, |(_, count)| count / all);
            OPEN_SHARE * connections * talking
        };
        Options {
            connections: ((connections * part) as u64).max(1),
            packets_per_connection: self.packets as f64 / connections,
            packet_len: self.packet_len,
            concurrency: (concurrency * part).max(1.0),
            straddling: self.straddling,
            chunked: self.chunked,
            header_len: self.header_len,
            packets_per_s: self.packets_per_s,
            mix,
            ..Options::new(self.kind)
        }
    }
}

impl Mix {
    /// What no service accounts for are probes: the table counts more attempts than that.
    fn shares(&self, connections: f64) -> Vec<(Service, f64)> {
        let known = [
            (Service::Http, self.http),
            (Service::Pop3, self.pop3),
            (Service::Smtp, self.smtp),
            (Service::Imap, self.imap),
            (Service::Telnet, self.telnet),
            (Service::BitTorrent, self.bittorrent),
            (Service::Irc, self.others),
        ];
        // Table 2 counts File-4 only of the campus; the shares are the same for the others.
        let campus = self.bittorrent > 0.0;
        let all = if campus { 35_072.0 } else { connections };
        let probes = (all - known.iter().map(|(_, count)| count).sum::<f64>()).max(0.0);
        let mut shares: Vec<_> = known
            .into_iter()
            .filter(|(_, count)| *count > 0.0)
            .collect();
        if probes > 0.0 {
            shares.push((Service::Probe, probes));
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables give packets, connections and the rate, each rounded: they must agree.
    #[test]
    fn presets_have_the_rates_that_the_tables_print() {
        let printed = [
            ("ics09-file-1", 14.2),
            ("ics09-file-2", 14.8),
            ("ics09-file-4", 14.8),
            ("ics09-file-7", 32.9),
            ("ics09-file-9", 3.2),
            ("ics09-file-10", 1.0),
            ("parser-file-1", 49.8),
            ("parser-file-2", 84.5),
            ("parser-file-3", 94.8),
        ];
        for (name, rate) in printed {
            let options = Preset::named(name).unwrap().options(1.0);
            let ours = 1000.0 / options.packets_per_connection;
            assert!((ours - rate).abs() / rate < 0.01, "{name}: {ours} {rate}");
        }
    }

    /// A tenth of a trace is as dense as the whole.
    #[test]
    fn a_part_of_a_trace_is_as_dense() {
        let preset = Preset::named("parser-file-1").unwrap();
        let (all, part) = (preset.options(1.0), preset.options(0.1));
        assert!((all.packets() / part.packets() - 10.0).abs() < 0.01);
        assert!((all.concurrency / part.concurrency - 10.0).abs() < 0.01);
    }
}
