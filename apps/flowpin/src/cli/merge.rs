//! `flowpin merge`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// The description of the command.
pub(super) const ABOUT: &str = "\
Makes one log of the files among which `flowpin run --output-files K` has divided it, as a run \
without that option writes it, byte for byte.

Such a run writes eve.1ofK.json to eve.KofK.json, each by a thread of its own, and \
eve.json.order, which says in which order their records come; likewise of each log in another \
format. A connection's records, and its messages, are in one of the files. Programs that need no \
order of all records read the files as they are.

The files stay. If one has fewer or more records than the order (the run was cut short, or files \
of two runs are mixed), that log is not made.";

/// The text below the options.
pub(super) const AFTER: &str = "\
Examples:
  flowpin run -r big.pcap -l logs --output-files 4
  flowpin merge logs

Exit codes: 0 done, 1 a log could not be made or written, 2 a wrong command line.";

/// The options of `flowpin merge`.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// The directory with the files of the run
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) from: PathBuf,

    /// Directory for the logs; created if missing [default: DIR]
    #[arg(
        short = 'l',
        long = "log-dir",
        value_name = "DIR",
        help_heading = "Output"
    )]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) to: Option<PathBuf>,

    /// Replace logs that are there already
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,
}
