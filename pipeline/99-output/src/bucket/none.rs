//! No bucket: this program was built without what puts files there.

use crate::files::FileInfo;
use crate::{OutputError, StreamHooks};
use flowpin_config::OutputPlan;
use flowpin_disk::Reads;
use std::path::{Path, PathBuf};

/// There is none.
pub(crate) enum Bucket {}

impl Bucket {
    /// Says what is missing.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn open(
        plan: &OutputPlan,
        _: &str,
        _: &str,
        _: &Reads,
        _: StreamHooks,
    ) -> Result<Self, OutputError> {
        let address = plan.stream.as_ref().map(ToString::to_string);
        Err(OutputError::Unusable {
            address: address.unwrap_or_default(),
            why: "this flowpin was built without S3 (cargo feature `s3`)".to_owned(),
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn put(&self, _: &FileInfo) {
        match *self {}
    }

    pub(crate) fn shown(&self, _: &Path) -> PathBuf {
        match *self {}
    }

    pub(crate) fn newly_lost(&mut self) -> u64 {
        match *self {}
    }

    pub(crate) fn end(&mut self) -> Result<(), OutputError> {
        match *self {}
    }
}
