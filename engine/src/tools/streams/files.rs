//! Streams as files of a folder.

use super::{StreamEnd, StreamPlace, StreamSink};
use crate::RunError;
use flowpin_disk::Reads;
use flowpin_output::{StreamFiles, StreamId};

impl StreamPlace<'_> {
    fn stream(&self) -> StreamId {
        let (from, to) = self.conversation.ends(self.to_server);
        StreamId {
            handle: self.handle,
            to_server: self.to_server,
            from,
            to,
        }
    }
}

impl StreamSink for StreamFiles {
    fn begin(&mut self, reads: &Reads) -> Result<(), RunError> {
        Ok(Self::begin(self, reads)?)
    }

    fn data(&mut self, at: &StreamPlace<'_>, bytes: &[u8]) -> Result<(), RunError> {
        Ok(Self::data(self, &at.stream(), bytes)?)
    }

    fn gap(&mut self, at: &StreamPlace<'_>, len: u64) -> Result<(), RunError> {
        Self::gap(self, &at.stream(), len);
        Ok(())
    }

    fn closed(&mut self, at: &StreamPlace<'_>, _: StreamEnd) -> Result<(), RunError> {
        Ok(self.close(&at.stream())?)
    }
}
