//! `flowpin gen`.

mod options;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use flowpin_config::Span;
use flowpin_gen::{PRESETS, Preset, Service};
use std::path::{Path, PathBuf};

/// The options of `flowpin gen`.
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
    /// Several services, with port probes among them
    Mix(TraceArgs),
    /// DNS queries and responses
    Dns(TraceArgs),
    /// SYN probes of many ports on many hosts
    Scan(TraceArgs),
    /// SYNs from forged sources to one host
    Flood(TraceArgs),
    /// Fragmented UDP datagrams
    Fragments(TraceArgs),
    /// TCP connections that stay open and send in turn
    Connections(TraceArgs),
    /// Copy a real capture several times: each copy has its own hosts and correct checksums
    Replicate(ReplicateArgs),
}

/// Where a trace is written.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct TargetArgs {
    /// The capture to write; `-` for standard output
    #[arg(short = 'w', long = "write", value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(required_unless_present = "interface")]
    write: Option<PathBuf>,

    /// Replace FILE and its truth file if they exist
    #[arg(long, conflicts_with = "interface")]
    force: bool,

    /// Send the frames to an interface instead, at the times of the trace (Linux)
    #[arg(short = 'i', long, value_name = "IFACE", conflicts_with_all = ["write", "format"])]
    interface: Option<String>,

    /// Send as fast as the interface accepts frames
    #[arg(long, requires = "interface")]
    topspeed: bool,

    /// File format [default: by the ending of FILE, else pcap]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Layout>,

    /// Most bytes captured of each frame
    #[arg(long, value_name = "BYTES", default_value_t = 262_144)]
    snap_len: u32,

    /// Seed of the trace: the same seed gives the same bytes
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
    /// The output, unless it is an interface.
    pub(crate) fn file(self) -> Option<&'a Path> {
        match self {
            Target::File(path) => Some(path),
            Target::Stdout => Some(Path::new("-")),
            Target::Interface { .. } => None,
        }
    }
}

/// The characteristics of a trace.
#[derive(Args, Debug)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Write the ground truth as JSON to FILE [default: beside the capture, if that is a file]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) truth: Option<PathBuf>,

    /// Do not write the ground truth
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

/// Size and density.
#[derive(Args, Debug)]
#[command(next_help_heading = "Size and density")]
struct SizeArgs {
    /// Start with the published characteristics of a trace (an unknown NAME lists them)
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<&'static Preset>,

    /// Generate only this part of the preset's connections: 0.1 is a tenth
    #[arg(long, value_name = "SHARE", requires = "preset", default_value_t = 1.0)]
    part: f64,

    /// Approximate packets of the whole trace
    #[arg(long, value_name = "COUNT")]
    packets: Option<u64>,

    /// Connections of the whole trace
    #[arg(long, value_name = "COUNT")]
    connections: Option<u64>,

    /// New connections per 1,000 packets
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["packets_per_connection"])]
    rate: Option<f64>,

    /// Packets per connection, as an alternative to --rate
    #[arg(long, value_name = "NUMBER")]
    packets_per_connection: Option<f64>,

    /// Average frame length in bytes, without check sequence
    #[arg(long, value_name = "BYTES")]
    packet_len: Option<f64>,

    /// Average number of open connections
    #[arg(long, value_name = "COUNT")]
    concurrency: Option<f64>,

    /// Average packets a second
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

    /// A VLAN tag on every frame; may be repeated, for a tag inside the first
    #[arg(long = "vlan", value_name = "ID")]
    vlans: Vec<u16>,

    /// The tunnel around every packet
    #[arg(long, value_name = "KIND")]
    tunnel: Option<Wrapping>,

    /// The largest IP packet, without tunnel headers
    #[arg(long, value_name = "BYTES")]
    mtu: Option<u16>,

    /// Hosts that connect or scan, or that are forged as sources of a flood
    #[arg(long, value_name = "COUNT")]
    clients: Option<u32>,

    /// Hosts that accept connections or are scanned
    #[arg(long, value_name = "COUNT")]
    servers: Option<u32>,

    /// Ports that a scan tries on each host
    #[arg(long, value_name = "COUNT")]
    ports: Option<u16>,

    /// Average bytes of a fragmented datagram
    #[arg(long, value_name = "BYTES")]
    datagram_len: Option<u32>,
}

/// Content of the conversations.
#[derive(Args, Debug)]
#[command(next_help_heading = "Content")]
struct TalkArgs {
    /// Share of packets that end inside a header line (HTTP)
    #[arg(long, value_name = "SHARE")]
    straddling: Option<f64>,

    /// Share of packets that carry part of a chunked message (HTTP)
    #[arg(long, value_name = "SHARE")]
    chunked: Option<f64>,

    /// Approximate bytes of a message header (HTTP)
    #[arg(long, value_name = "BYTES")]
    header_len: Option<u32>,

    /// A service of a mix and its share, such as `http=0.5`; may be repeated
    #[arg(long = "service", value_name = "NAME=SHARE", value_parser = service)]
    services: Vec<(Service, f64)>,

    /// Share of connections that end with a reset
    #[arg(long, value_name = "SHARE")]
    reset: Option<f64>,

    /// Leave connections open
    #[arg(long)]
    stay_open: bool,
}

/// Faults.
#[derive(Args, Debug)]
#[command(next_help_heading = "Faults")]
struct TroubleArgs {
    /// Share of segments lost before the capture point and retransmitted after their successors
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    loss: f64,

    /// Share of segments overtaken by the next, or of datagrams with fragments in reverse order
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    reorder: f64,

    /// Share of segments retransmitted although they arrived
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    retransmit: f64,

    /// Share of frames captured twice
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    duplicate: f64,

    /// Share of segments that arrived but are not in the capture
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

    /// Number of copies
    #[arg(
        short = 'n',
        long = "copies",
        value_name = "COUNT",
        help_heading = "Input"
    )]
    copies: u32,

    /// Put the copies one after the other, with a second between them
    #[arg(long, help_heading = "Time")]
    appended: bool,

    /// Start and end all copies within this time, if they are not longer
    #[arg(
        long,
        value_name = "SPAN",
        default_value = "120 s",
        help_heading = "Time"
    )]
    window: Span,
}

/// File formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// Classic pcap, nanoseconds
    Pcap,
    /// pcapng, nanoseconds
    Pcapng,
}

/// Kinds of tunnels.
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
        format!("choose one of {}", names.join(", "))
    })
}

fn service(text: &str) -> Result<(Service, f64), String> {
    let (name, share) = text.split_once('=').ok_or("NAME=SHARE is needed")?;
    let share: f64 = share
        .parse()
        .map_err(|_| format!("`{share}` is not a number"))?;
    if share.is_nan() || share < 0.0 {
        return Err(format!("`{share}` is not a share: use a number, 0 or more"));
    }
    let found = Service::ALL.iter().find(|(_, known)| *known == name);
    found.map(|&(service, _)| (service, share)).ok_or_else(|| {
        let names: Vec<_> = Service::ALL.iter().map(|(_, name)| *name).collect();
        format!("choose one of {}", names.join(", "))
    })
}
