//! `flowpin gen`.

mod options;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use flowpin_config::Span;
use flowpin_gen::{PRESETS, Preset, Service};
use std::path::{Path, PathBuf};

/// What is to be made.
#[derive(Args, Debug)]
pub(crate) struct GenArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// Kinds of traces.
#[derive(Subcommand, Debug)]
pub(crate) enum What {
    /// HTTP/1.1 conversations
    Http(TraceArgs),
    /// FIX 4.2 conversations: orders and execution reports
    Fix(TraceArgs),
    /// Several services, and probes of ports among them
    Mix(TraceArgs),
    /// DNS questions and answers
    Dns(TraceArgs),
    /// SYN probes of many ports on many hosts
    Scan(TraceArgs),
    /// SYNs from forged sources to one host
    Flood(TraceArgs),
    /// UDP datagrams in fragments
    Fragments(TraceArgs),
    /// TCP connections that stay open and send in turn
    Connections(TraceArgs),
    /// Multiply a real capture: each copy has hosts of its own, checksums mended
    Replicate(ReplicateArgs),
}

/// Where a trace goes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct TargetArgs {
    /// The capture to write; `-` for standard output
    #[arg(short = 'w', long = "write", value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(required_unless_present = "interface")]
    write: Option<PathBuf>,

    /// Replace FILE, and the truth about it, if they are there
    #[arg(long, conflicts_with = "interface")]
    force: bool,

    /// Send the frames out of an interface instead, at the times of the trace (Linux)
    #[arg(short = 'i', long, value_name = "IFACE", conflicts_with_all = ["write", "format"])]
    interface: Option<String>,

    /// Send as fast as the interface takes them
    #[arg(long, requires = "interface")]
    topspeed: bool,

    /// How it is laid out [default: by the name's ending, else pcap]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Layout>,

    /// Bytes captured of each frame, at most
    #[arg(long, value_name = "BYTES", default_value_t = 262_144)]
    snap_len: u32,

    /// The same seed gives the same bytes
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

/// One of the places that [`TargetArgs`] can name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    Stdout,
    File(&'a Path),
    Interface { name: &'a str, topspeed: bool },
}

impl<'a> Target<'a> {
    /// The file, if it is one.
    pub(crate) const fn file(self) -> Option<&'a Path> {
        match self {
            Target::File(path) => Some(path),
            Target::Stdout | Target::Interface { .. } => None,
        }
    }
}

/// What a trace shall be like.
#[derive(Args, Debug)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// The truth about every connection, as JSON [default: beside FILE, if that is a file]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) truth: Option<PathBuf>,

    /// Write no truth
    #[arg(long, conflicts_with = "truth", help_heading = "Output")]
    pub(crate) no_truth: bool,

    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    net: NetArgs,
    #[command(flatten)]
    talk: TalkArgs,
    #[command(flatten)]
    trouble: TroubleArgs,
}

/// How much, and how dense.
#[derive(Args, Debug)]
#[command(next_help_heading = "Size and density")]
struct SizeArgs {
    /// Begin with the published characteristics of a trace (listed by a wrong name)
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<&'static Preset>,

    /// Only a part of the preset's connections: 0.1 is a tenth
    #[arg(long, value_name = "SHARE", requires = "preset", default_value_t = 1.0)]
    part: f64,

    /// Packets of the whole trace, about
    #[arg(long, value_name = "COUNT")]
    packets: Option<u64>,

    /// Connections of the whole trace
    #[arg(long, value_name = "COUNT")]
    connections: Option<u64>,

    /// New connections per 1,000 packets
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["packets_per_connection"])]
    rate: Option<f64>,

    /// The same the other way round
    #[arg(long, value_name = "NUMBER")]
    packets_per_connection: Option<f64>,

    /// Bytes of a frame, on average, without check sequence
    #[arg(long, value_name = "BYTES")]
    packet_len: Option<f64>,

    /// Connections open at a time, on average
    #[arg(long, value_name = "COUNT")]
    concurrency: Option<f64>,

    /// Packets a second, on average
    #[arg(long, value_name = "COUNT")]
    pps: Option<f64>,
}

/// Addresses and layers.
#[derive(Args, Debug)]
#[command(next_help_heading = "Addresses and layers")]
struct NetArgs {
    /// Share of connections over IPv6
    #[arg(long, value_name = "SHARE")]
    ipv6: Option<f64>,

    /// A VLAN tag on every frame; a second one lies inside the first
    #[arg(long = "vlan", value_name = "ID")]
    vlans: Vec<u16>,

    /// What every packet is wrapped in
    #[arg(long, value_name = "KIND")]
    tunnel: Option<Wrapping>,

    /// The largest IP packet, tunnel headers not counted
    #[arg(long, value_name = "BYTES")]
    mtu: Option<u16>,

    /// Hosts that connect, that scan, or that a flood claims to come from
    #[arg(long, value_name = "COUNT")]
    clients: Option<u32>,

    /// Hosts that are connected to
    #[arg(long, value_name = "COUNT")]
    servers: Option<u32>,

    /// Ports that a scan tries on each host
    #[arg(long, value_name = "COUNT")]
    ports: Option<u16>,

    /// Bytes of a datagram that is sent in fragments, on average
    #[arg(long, value_name = "BYTES")]
    datagram_len: Option<u32>,
}

/// What is said.
#[derive(Args, Debug)]
#[command(next_help_heading = "What is said")]
struct TalkArgs {
    /// Share of packets that end inside a header line (HTTP)
    #[arg(long, value_name = "SHARE")]
    straddling: Option<f64>,

    /// Share of packets that carry a part of a message in chunks (HTTP)
    #[arg(long, value_name = "SHARE")]
    chunked: Option<f64>,

    /// Bytes of a message's header, about (HTTP)
    #[arg(long, value_name = "BYTES")]
    header_len: Option<u32>,

    /// A service of a mix and its share, such as `http=0.5`; may be repeated
    #[arg(long = "service", value_name = "NAME=SHARE", value_parser = service)]
    services: Vec<(Service, f64)>,

    /// Share of connections that a reset ends
    #[arg(long, value_name = "SHARE")]
    reset: Option<f64>,

    /// Connections stay open
    #[arg(long)]
    stay_open: bool,
}

/// What goes wrong.
#[derive(Args, Debug)]
#[command(next_help_heading = "What goes wrong")]
struct TroubleArgs {
    /// Share of segments lost before the capture and sent again, behind their successors
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    loss: f64,

    /// Share of segments overtaken by the next; of datagrams whose fragments come backwards
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    reorder: f64,

    /// Share of segments sent again although they arrived
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    retransmit: f64,

    /// Share of frames that are captured twice
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    duplicate: f64,

    /// Share of segments that arrived and that the capture lacks
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    missing: f64,
}

/// The options of `flowpin gen replicate`.
#[derive(Args, Debug)]
pub(crate) struct ReplicateArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// A capture or a directory of captures; `-` for standard input; may be repeated
    #[arg(short = 'r', long = "read", value_name = "FILE", required = true)]
    #[arg(value_hint = ValueHint::AnyPath, help_heading = "Input")]
    read: Vec<PathBuf>,

    /// How many copies
    #[arg(
        short = 'n',
        long = "copies",
        value_name = "COUNT",
        help_heading = "Input"
    )]
    copies: u32,

    /// One copy behind the other, a second between them
    #[arg(long, help_heading = "Time")]
    appended: bool,

    /// All copies begin and end within this, if they are not longer
    #[arg(
        long,
        value_name = "SPAN",
        default_value = "120 s",
        help_heading = "Time"
    )]
    window: Span,
}

/// How a capture is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// Classic pcap, nanoseconds
    Pcap,
    /// pcapng, nanoseconds
    Pcapng,
}

/// What packets are wrapped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Wrapping {
    /// VXLAN (RFC 7348)
    Vxlan,
    /// Geneve (RFC 8926)
    Geneve,
    /// GRE (RFC 2784)
    Gre,
    /// GTP-U (3GPP TS 29.281)
    Gtpu,
    /// IP in IP (RFC 2003)
    Ipip,
}

fn preset(name: &str) -> Result<&'static Preset, String> {
    Preset::named(name).ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        format!("there are {}", names.join(", "))
    })
}

fn service(text: &str) -> Result<(Service, f64), String> {
    let (name, share) = text.split_once('=').ok_or("needs NAME=SHARE")?;
    let share: f64 = share
        .parse()
        .map_err(|_| format!("`{share}` is no number"))?;
    if share.is_nan() || share < 0.0 {
        return Err(format!("`{share}` is no share"));
    }
    let found = Service::ALL.iter().find(|(_, known)| *known == name);
    found.map(|&(service, _)| (service, share)).ok_or_else(|| {
        let names: Vec<_> = Service::ALL.iter().map(|(_, name)| *name).collect();
        format!("there are {}", names.join(", "))
    })
}
