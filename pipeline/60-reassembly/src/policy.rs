//! What receiving systems do where RFC 9293 leaves them room: overlaps and resets.
//!
//! Where two segments hold different bytes for the same place, which of them an application
//! reads depends on its system. An analyser that decides otherwise can be shown another stream
//! than the victim. The behaviours are those published by Novak and Sturges, "Target-Based TCP
//! Stream Reassembly" (2007), as Snort's `stream5` and Suricata's `stream-tcp` document and
//! test them:
//!
//! ```text
//!  the later segment's bytes win if …                                  (starts, ends)
//!  first, vista            never
//!  last                    always
//!  bsd, macos, windows     it starts before
//!  linux, irix, hpux10     it starts before, or at the same place and ends after
//!  old-linux               it starts before, or at the same place and does not end before
//!  solaris, hpux           it starts before or at the same place and does not end before,
//!                          or starts after and ends after
//! ```
//!
//! Where the two disagree (IRIX and HP-UX 10: Suricata has them as BSD), Snort's reading is
//! taken, which has an author in common with the paper. Its special case for Solaris, a
//! repetition of the same size whose predecessor is missing, is left out as Suricata does.

use flowpin_packet::Seq;

/// Which bytes count where segments overlap: the receiving system's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OverlapPolicy {
    /// What came first stays.
    First,
    /// What came last wins.
    Last,
    /// FreeBSD, NetBSD, OpenBSD; also HP-UX's, Apple's and Microsoft's ancestors.
    #[default]
    Bsd,
    /// Linux from 2.4 on.
    Linux,
    /// Linux up to 2.2.
    OldLinux,
    /// Windows up to XP and Server 2003.
    Windows,
    /// Windows Vista and later.
    Vista,
    /// Solaris.
    Solaris,
    /// Mac OS X and macOS.
    MacOs,
    /// HP-UX 11 and later.
    HpUx,
    /// HP-UX 10.
    HpUx10,
    /// IRIX.
    Irix,
}

/// The stretch of a stream that a segment brought, or what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its first byte.
    pub start: Seq,
    /// One past its last byte.
    pub end: Seq,
}

impl OverlapPolicy {
    /// All, in the order of their numbers.
    pub const ALL: &'static [Self] = &[
        Self::First,
        Self::Last,
        Self::Bsd,
        Self::Linux,
        Self::OldLinux,
        Self::Windows,
        Self::Vista,
        Self::Solaris,
        Self::MacOs,
        Self::HpUx,
        Self::HpUx10,
        Self::Irix,
    ];

    /// Whether, where both lie, the bytes of `new` replace those of `old`, which came before.
    #[inline]
    pub fn new_wins(self, old: Extent, new: Extent) -> bool {
        let starts = new.start.distance_from(old.start);
        let ends = new.end.distance_from(old.end);
        match self {
            Self::First | Self::Vista => false,
            Self::Last => true,
            Self::Bsd | Self::MacOs | Self::Windows => starts < 0,
            Self::Linux | Self::Irix | Self::HpUx10 => starts < 0 || starts == 0 && ends > 0,
            Self::OldLinux => starts < 0 || starts == 0 && ends >= 0,
            Self::Solaris | Self::HpUx => starts <= 0 && ends >= 0 || starts > 0 && ends > 0,
        }
    }

    /// Whether a RST numbered `seq` resets a receiver that expects `next` and would take bytes
    /// before `edge`.
    ///
    /// RFC 5961 §3.2 wants the exact number, and most systems did before it was written; RFC
    /// 793 was content with the window, and BSD, old Linux and Solaris were with it.
    #[inline]
    pub fn takes_reset(self, seq: Seq, next: Seq, edge: Seq) -> bool {
        match self {
            Self::Bsd | Self::OldLinux | Self::Solaris => {
                seq.distance_from(next) >= 0 && seq.distance_from(edge) <= 0
            }
            Self::HpUx => seq.distance_from(next) >= 0,
            Self::First
            | Self::Last
            | Self::Linux
            | Self::Windows
            | Self::Vista
            | Self::MacOs
            | Self::HpUx10
            | Self::Irix => seq == next,
        }
    }
}
