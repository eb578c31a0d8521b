//! A destination that discards records.

use flowpin_output::{Storage, Target};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Accepts all records and keeps none.
pub(crate) struct Nowhere;

impl Storage for Nowhere {
    fn create(&mut self, _: &Path) -> io::Result<Box<dyn Target>> {
        Ok(Box::new(Self))
    }

    fn stdout(&mut self) -> io::Result<Box<dyn Target>> {
        Ok(Box::new(Self))
    }
}

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

impl Target for Nowhere {
    fn cut(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}
