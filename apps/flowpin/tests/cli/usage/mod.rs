//! Help, settings, refusals.

mod files;
mod help;
mod mistakes;
mod settings;
