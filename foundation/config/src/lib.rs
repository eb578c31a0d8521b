//! What a run is to do: the configuration file, the flags, and the plan made from both.
//!
//! ```text
//!  defaults ◄─ file (TOML) ◄─ flags ──► Settings ──into_plan──► Plan
//! ```
//!
//! Unknown keys are refused, values carry their units, errors name file, line and column. Nothing
//! is opened before the plan is whole. Owns names, units and defaults; does not read captures.

mod defragmentation;
mod error;
mod file;
mod files;
mod hosts;
mod identify;
mod names;
mod parse;
mod plan;
mod scans;
mod settings;
mod streams;
mod text;
mod units;

pub use defragmentation::DefragmentationPlan;
pub use error::ConfigError;
pub use files::FilesPlan;
pub use hosts::{
    FragmentOverlap, HostGroup, HostPolicy, HostsPlan, NetworkText, SegmentOverlap, System,
};
pub use identify::{IdentifyPlan, PlannedExpression};
pub use names::{CpuList, CpuListError, NameError, Named, ShapeError};
pub use parse::ParsePlan;
pub use plan::{
    Checksums, Cut, Format, FullRing, Input, OutputPlan, ParquetTime, PipelineShape, Plan, Timeouts,
};
pub use scans::ScansPlan;
pub use settings::{
    ConnectionSettings, DefragmentationSettings, FileSettings, HostGroupSettings, HostSettings,
    IdentifySettings, InputSettings, OutputSettings, ParseSettings, PipelineSettings, ScanSettings,
    Settings, StreamSettings,
};
pub use streams::StreamsPlan;
pub use units::{ByteSize, Span, UnitError};
