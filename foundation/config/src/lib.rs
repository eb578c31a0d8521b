//! What a run is to do: the configuration file, the flags, and the plan made from both.
//!
//! ```text
//!  defaults ◄─ file (TOML) ◄─ flags ──► Settings ──into_plan──► Plan
//! ```
//!
//! Unknown keys are refused, values carry their units, errors name file, line and column. Nothing
//! is opened before the plan is whole. Owns names, units and defaults; does not read captures.

mod error;
mod file;
mod names;
mod plan;
mod settings;
mod text;
mod units;

pub use error::ConfigError;
pub use names::{CpuList, CpuListError, NameError, Named, ShapeError};
pub use plan::{
    Checksums, Cut, Format, FullRing, Input, OutputPlan, PipelineShape, Plan, Timeouts,
};
pub use settings::{ConnectionSettings, InputSettings, OutputSettings, PipelineSettings, Settings};
pub use units::{ByteSize, Span, UnitError};
