//! Which frames are delivered: the one place that leaves frames out.

use super::Options;
use crate::error::CaptureError;
use crate::filter::Filters;
use crate::format::Order;
use flowpin_packet::{Frame, Timestamp};

/// What a frame must be to be delivered.
#[derive(Debug)]
pub(super) struct Selection {
    /// Not before this time.
    since: Timestamp,
    /// Before this time, if there is one.
    until: Option<Timestamp>,
    /// Matches the filter, if there is one.
    filters: Option<Filters>,
    /// Frames that were left out.
    pub(super) rejected: u64,
}

impl Selection {
    /// As the options say, with the filter for the link types known so far; none if no frame can
    /// be left out, so that none has to be looked at.
    pub(super) fn new(
        options: &Options,
        links: &[(u16, Order)],
    ) -> Result<Option<Self>, CaptureError> {
        let has_filter = !options.filter.trim().is_empty();
        if options.since.is_none() && options.until.is_none() && !has_filter {
            return Ok(None);
        }
        let filters = has_filter.then(|| Filters::new(&options.filter, links));
        Ok(Some(Self {
            since: options.since.unwrap_or_default(),
            until: options.until,
            filters: filters.transpose()?,
            rejected: 0,
        }))
    }

    /// Whether a frame is delivered; counts those that are not. `bytes` are the frame's.
    pub(super) fn takes(&mut self, link: (u16, Order), frame: &Frame, bytes: &[u8]) -> bool {
        let in_time = frame.time >= self.since && self.until.is_none_or(|end| frame.time < end);
        let taken = in_time
            && self
                .filters
                .as_mut()
                .is_none_or(|filters| filters.accepts(link, bytes, frame.wire_len));
        self.rejected += u64::from(!taken);
        taken
    }

    /// Whether the filter could not be compiled for the link type of the last frame.
    pub(super) fn has_failed(&self) -> bool {
        let failure = self.filters.as_ref().map(|filters| &filters.failure);
        failure.is_some_and(Option::is_some)
    }

    /// Why it could not.
    pub(super) fn take_failure(&mut self) -> Option<CaptureError> {
        self.filters.as_mut()?.failure.take()
    }
}
