//! What a run is to do: the configuration file, the flags, and the plan made from both.
//!
//! `ConfigFile` (TOML, unknown fields refused) → overlaid by flags → [`Plan`]. Nothing is opened
//! before the plan is whole. Owns names, units and defaults; does not read captures.

mod plan;

pub use plan::{
    Checksums, Cut, Format, FullRing, Input, OutputPlan, PipelineShape, Plan, Timeouts,
};
