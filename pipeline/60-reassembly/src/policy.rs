//! How receiving systems behave where RFC 9293 leaves a choice: overlaps and resets.
//!
//! If two segments hold different bytes for the same place, the receiving system decides which of
//! them an application reads. An analyser that decides otherwise can be shown a different stream
//! than the victim. The behaviours are those published by Novak and Sturges, "Target-Based TCP
//! Stream Reassembly" (2007), as Snort's `stream5` and Suricata's `stream-tcp` document and test
//! them:
//!
//! ```text
//!  the later segment's bytes win if …                                  (starts, ends)
//!  first, vista            never
//!  last                    always
//!  bsd, macos, windows     it starts before
//!  linux, irix             it starts before, or at the same place and ends after
//!  old-linux               it starts before, or at the same place and does not end before
//!  solaris, hpux           it starts before or at the same place and does not end before,
//!                          or starts after and ends after
//! ```
//!
//! Where the two disagree (IRIX: Suricata treats it as BSD), Snort's reading is used, which has an
//! author in common with the paper. Its special case for Solaris, a repetition of the same size
//! whose predecessor is missing, is omitted, as in Suricata.

use flowpin_config::SegmentOverlap;
use flowpin_packet::Seq;

/// The part of a stream that a segment brought, or that is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its first byte.
    pub start: Seq,
    /// One past its last byte.
    pub end: Seq,
}

/// Whether, in the overlap, the bytes of `new` replace those of `old`, which arrived before.
#[inline]
pub fn new_wins(policy: SegmentOverlap, old: Extent, new: Extent) -> bool {
    let starts = new.start.distance_from(old.start);
    let ends = new.end.distance_from(old.end);
    match policy {
        SegmentOverlap::First | SegmentOverlap::Vista => false,
        SegmentOverlap::Last => true,
        SegmentOverlap::Bsd | SegmentOverlap::Macos | SegmentOverlap::Windows => starts < 0,
        SegmentOverlap::Linux | SegmentOverlap::Irix => starts < 0 || starts == 0 && ends > 0,
        SegmentOverlap::OldLinux => starts < 0 || starts == 0 && ends >= 0,
        SegmentOverlap::Solaris | SegmentOverlap::Hpux => {
            starts <= 0 && ends >= 0 || starts > 0 && ends > 0
        }
    }
}

/// The state of a receiver when a RST arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// The number that it expects.
    pub next: Seq,
    /// One past the last number that it accepts.
    pub edge: Seq,
    /// One past the last byte that waits after a hole; `next` if none does.
    pub highest: Seq,
    /// It has received a FIN.
    pub closing: bool,
}

/// How many ticks a time stamp may be older than the last one (observed with Linux 6.18).
pub(crate) const fn stamp_slack(policy: SegmentOverlap) -> u32 {
    match policy {
        SegmentOverlap::Linux | SegmentOverlap::OldLinux => 1,
        _ => 0,
    }
}

/// Whether the next data is read whatever it acknowledges of what was sent before.
pub(crate) const fn skips_old_acks(policy: SegmentOverlap) -> bool {
    matches!(policy, SegmentOverlap::Linux | SegmentOverlap::OldLinux)
}

/// Whether a RST numbered `seq` resets its receiver.
///
/// RFC 5961 §3.2 requires the exact number, and most systems did so before it was written; RFC 793
/// accepted any number in the window, as did BSD, old Linux and Solaris.
///
/// Linux also compensates for loss: it accepts the number after the last byte that it has
/// acknowledged selectively, and after a FIN the number of the FIN, which other systems send (both
/// observed with 6.18; before the handshake is complete it requires the exact number, too).
#[inline]
pub fn takes_reset(policy: SegmentOverlap, seq: Seq, at: &Reception) -> bool {
    let ahead = seq.distance_from(at.next);
    let inside = ahead >= 0 && seq.distance_from(at.edge) <= 0;
    match policy {
        SegmentOverlap::Bsd | SegmentOverlap::OldLinux | SegmentOverlap::Solaris => inside,
        SegmentOverlap::Hpux => ahead >= 0,
        SegmentOverlap::Linux => ahead == 0 || seq == at.highest || at.closing && ahead == -1,
        SegmentOverlap::First
        | SegmentOverlap::Last
        | SegmentOverlap::Windows
        | SegmentOverlap::Vista
        | SegmentOverlap::Macos
        | SegmentOverlap::Irix => ahead == 0,
    }
}
