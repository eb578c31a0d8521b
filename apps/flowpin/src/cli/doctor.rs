//! `flowpin doctor`.

use clap::Args;

/// The options of `flowpin doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// The interfaces to look at [default: all but the loopback]
    #[arg(value_name = "IFACE")]
    pub(crate) interfaces: Vec<String>,

    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the long help says first.
pub(crate) const ABOUT: &str = "\
Look at what on this system costs packets when a run captures from an interface: kernel, memory,
clock, processors, and of each interface its rights, link, queues, rings, offloads, losses and
interrupts. Each finding says what to type. Changes nothing.";

/// What the long help says last.
pub(crate) const AFTER: &str = "\
Examples:
  flowpin doctor
  flowpin doctor eth0 --json

Exit codes:
  0  nothing keeps a run from capturing all packets
  1  a problem was found
  2  there is no such interface";
