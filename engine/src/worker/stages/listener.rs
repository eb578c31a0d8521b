//! From what reassembly tells of a segment to those who wait for it.

use super::oddities::Oddities;
use crate::worker::context::{Cause, Context};
use crate::worker::inspect::{Identify, Way};
use flowpin_flow::Sighting;
use flowpin_reassembly::{Anomaly, Closed, Span, StreamConsumer};
use flowpin_record::RecordSink;

/// Hears what reassembly says about the segment at hand.
pub(super) struct Listener<'a, S> {
    pub(super) identify: Option<&'a mut Identify>,
    pub(super) oddities: &'a mut Oddities,
    pub(super) sighting: &'a Sighting<'a>,
    pub(super) sink: &'a mut S,
    /// The stream that goes on, if it was closed: whether to the server.
    pub(super) reopened: Option<bool>,
}

impl<S: RecordSink> StreamConsumer for Listener<'_, S> {
    #[inline]
    fn data(&mut self, at: Span, bytes: &[u8]) {
        let Some(identify) = &mut self.identify else {
            return;
        };
        let (frames, cause) = (&self.sighting.frames, Cause::of(self.sighting.meta));
        if identify.way(at.handle) != Way::Nothing
            && !identify.wait_with_bytes(at, bytes, frames, cause)
        {
            // Bytes that were held go as soon as they were told.
            let table = self.sighting.table();
            identify.settle(table, frames, self.sink);
            identify.bytes(at, bytes, &mut Context::open(table, cause, self.sink));
        }
    }

    fn gap(&mut self, at: Span, len: u64) {
        if let Some(identify) = &mut self.identify
            && identify.way(at.handle) != Way::Nothing
        {
            identify.wait_with_gap(at, len, Cause::of(self.sighting.meta));
        }
    }

    fn urgent(&mut self, at: Span, _: u8) {
        if let Some(identify) = &mut self.identify
            && identify.way(at.handle) != Way::Nothing
        {
            identify.wait_with_passed(at, Cause::of(self.sighting.meta));
        }
    }

    fn closed(&mut self, at: Span, _: Closed) {
        if let Some(identify) = &mut self.identify
            && identify.way(at.handle) != Way::Nothing
        {
            identify.wait_with_closed(at, Cause::of(self.sighting.meta));
        }
    }

    fn over(&mut self, handle: u32) {
        if let Some(identify) = &mut self.identify
            && identify.way(handle) != Way::Nothing
        {
            identify.wait_with_over(handle, Cause::of(self.sighting.meta));
        }
    }

    fn reset(&mut self, handle: u32) {
        if let Some(identify) = &mut self.identify
            && identify.way(handle) != Way::Nothing
        {
            identify.wait_with_reset(handle, Cause::of(self.sighting.meta));
        }
    }

    fn goes_on(&mut self, at: Span, told: bool) {
        self.reopened = Some(at.to_server);
        if let Some(identify) = &mut self.identify
            && identify.way(at.handle) != Way::Nothing
        {
            identify.wait_with_more(at, told, Cause::of(self.sighting.meta));
        }
    }

    fn anomaly(&mut self, at: Span, what: Anomaly) {
        // Of another connection only if that one had to make room: not this packet's doing.
        if at.handle == self.sighting.handle {
            self.oddities.tell(self.sighting, what, self.sink);
        }
    }
}
