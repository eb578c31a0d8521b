//! Configuration: the file, the flags, and the plan of a run made from both.
//!
//! ```text
//!  defaults ◄─ file (TOML) ◄─ flags ──► Settings ──into_plan──► Plan
//! ```
//!
//! Each section of the file has a table of its options (see `options/`), from which all of this
//! follows. Unknown keys are refused, values carry their units, errors name file, line and column.
//! Nothing is opened before the plan is complete. Owns names, units and defaults; does not read
//! captures.

mod defragmentation;
mod error;
mod file;
mod files;
mod filter;
mod hosts;
mod identify;
mod live;
mod names;
mod options;
mod output;
mod parse;
mod peer;
mod places;
mod plan;
mod rules;
mod scans;
mod settings;
mod streams;
mod text;
mod time;
mod units;

pub use defragmentation::{DefragmentationPlan, DefragmentationSettings};
pub use error::ConfigError;
pub use files::{FileSettings, FilesPlan};
pub use hosts::{
    FragmentOverlap, HostGroup, HostGroupSettings, HostPolicy, HostSettings, HostsPlan,
    NetworkText, SegmentOverlap, System,
};
pub use identify::{IdentifyPlan, IdentifySettings, PlannedExpression};
pub use live::{
    Address, AddressError, Interface, InterfaceError, LivePlan, LiveSettings, RecordIf,
    RecordIfError,
};
pub use names::{CpuList, CpuListError, NameError, Named, ShapeError};
pub use options::{Described, Flag, Hint, options_page};
pub use output::{OutputPlan, OutputSettings};
pub use parse::{ParsePlan, ParseSettings};
pub use peer::{PeerAddress, PeerAddressError};
pub use places::Places;
pub use plan::{
    CaptureMethod, Checksums, ConnectionSettings, Cut, Format, FullRing, Input, InputSettings,
    ParquetTime, PipelineSettings, PipelineShape, Plan, Timeouts,
};
pub use rules::{RuleSettings, RulesPlan, Xff, XffHop};
pub use scans::{ScanSettings, ScansPlan};
pub use settings::Settings;
pub use streams::{StreamSettings, StreamsPlan};
pub use time::{TimeError, TimeText};
pub use units::{ByteSize, Span, UnitError};
