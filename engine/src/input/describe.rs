//! The second step of the input, on any thread: the packets of a piece, described.

use super::Lane;
use super::reading::Listed;
use super::slow_path::is_noteworthy;
use crate::run::feeder::{FanOut, Pending};
use core::net::IpAddr;
use flowpin_dispatch::{Dispatched, Dispatcher};
use flowpin_handoff::Parcel;
use flowpin_packet::SHARD_COUNT;

/// What describes packets on one thread.
pub(crate) struct Describer {
    dispatcher: Dispatcher,
    pending: Pending,
}

/// What of a piece has to be looked at in the order of the input: which of its frames, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odd {
    /// Its place in the list of frames.
    pub(crate) place: usize,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// A packet that is noteworthy: where it is, in the batch of which worker.
    Packet { worker: usize, index: usize },
    /// No packet at once. If it was refused: between whom, as far as legible.
    Other(Dispatched, Option<(IpAddr, IpAddr)>),
}

impl Describer {
    pub(super) fn new(dispatcher: Dispatcher) -> Self {
        Self {
            dispatcher,
            pending: Pending::default(),
        }
    }

    /// What has counted the frames.
    pub(super) const fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Describes the packets of a parcel's piece, whose frames are listed, into its batches. What
    /// involves other packets is left over.
    pub(crate) fn describe(
        &mut self,
        listed: &[Listed],
        owners: &[u8; SHARD_COUNT],
        parcel: &mut Parcel,
        odd: &mut Vec<Odd>,
    ) {
        if self.dispatcher.decodes() {
            self.describe_all::<true>(listed, owners, parcel, odd);
        } else {
            self.describe_all::<false>(listed, owners, parcel, odd);
        }
    }

    fn describe_all<const DECODE: bool>(
        &mut self,
        listed: &[Listed],
        owners: &[u8; SHARD_COUNT],
        parcel: &mut Parcel,
        odd: &mut Vec<Odd>,
    ) {
        let Parcel { piece, batches } = parcel;
        let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
        let dispatcher = &mut self.dispatcher;
        let mut lane = FanOut::new(batches, owners, &mut self.pending);
        for (place, one) in listed.iter().enumerate() {
            let (frame, number, now) = (&one.frame, one.number, one.stream_time);
            if dispatcher.dispatch_fast::<DECODE>(bytes, frame, number, now, lane.slot()) {
                lane.commit(piece);
                continue;
            }
            match dispatcher.dispatch_slow(bytes, *frame, number, now, lane.slot()) {
                Dispatched::Packet if is_noteworthy(bytes, lane.slot()) => {
                    let (worker, index) = lane.commit_at_once();
                    let what = What::Packet { worker, index };
                    odd.push(Odd { place, what });
                }
                Dispatched::Packet => lane.commit(piece),
                // Counted; nothing else to do.
                Dispatched::NonIp | Dispatched::Headless | Dispatched::UnsupportedLink => {}
                other => {
                    let what = What::Other(other, dispatcher.refused_addresses());
                    odd.push(Odd { place, what });
                }
            }
        }
        lane.flush();
    }
}
