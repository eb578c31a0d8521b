//! Junk: bytes sent before the protocol begins, when the answer to them decides the verdict.
//!
//! A client can hide a request by sending unknown bytes before it; a server that takes them for an
//! empty or bad request continues. Its answer identifies the protocol, and the client's kept bytes
//! are replayed from the position where the protocol begins.

use super::progress::{Likely, Side};
use super::second::{AMID_MAX, amid, splits_word};
use super::stream::{Seen, advance, low};
use super::{Memory, Whose, side_of};
use crate::identifier::Compiled;
use crate::verdict::{Step, Verdict};

impl Memory {
    /// After a verdict by one direction, finds the junk in the earlier bytes of the other
    /// direction, which matched no rule. The bytes before the protocol's beginning are junk if some
    /// of them are not text. All bytes are junk if no beginning is found and the answer is text.
    /// Lines of text are left to parsers, which report their anomalies.
    pub(super) fn find_junk(
        &mut self,
        compiled: &Compiled,
        handle: u32,
        whose: Whose<'_>,
        verdict: Verdict,
    ) {
        let Self { slab, blocks, .. } = self;
        let Some(progress) = slab.get_mut(handle) else {
            return;
        };
        let whose = Whose {
            to_server: !verdict.to_server,
            ..whose
        };
        let (side, other, _) = progress.both(side_of(whose.to_server));
        let all = blocks.bytes(side.kept);
        let Some(binary) = all.iter().position(|byte| !is_text(*byte)) else {
            return;
        };
        let other = blocks.bytes(other.kept);
        let begins = |&at: &usize| {
            let all = all.get(at..).unwrap_or_default();
            let (mut side, mut likely) = (Side::NEW, Likely::default());
            let seen = Seen {
                all,
                fresh: all,
                other,
                other_is_over: true,
            };
            let step = advance(compiled, &mut side, &mut likely, whose, &seen, true);
            matches!(step, Step::Verdict(found) if found.protocol == verdict.protocol)
        };
        if begins(&0) {
            return;
        }
        // A text answer implies a text request, if there was one.
        let is_whole = !all.get(binary..).unwrap_or_default().contains(&b'\n');
        let is_text_answer = other.iter().take(ANSWER_LEN).all(|byte| is_text(*byte));
        let is_answered = is_whole && is_text_answer;
        let may_begin = |&at: &usize| {
            let start = all.get(at..).unwrap_or_default().iter().take(WORD_LEN);
            at > binary && (!is_text_answer || start.copied().all(is_text))
        };
        // Positions where words begin come first.
        let within = (1..all.len().min(AMID_MAX)).filter(|&at| splits_word(all, at));
        let places = amid(all).chain(within).filter(may_begin).take(TRIES_MAX);
        let found = places.into_iter().find(|at| begins(at));
        side.junk = low(found.unwrap_or(if is_answered { all.len() } else { 0 }));
    }
}

const fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')
}

/// A text protocol begins with at least this number of text bytes.
const WORD_LEN: usize = 3;
/// Maximum number of positions tried: each costs about 40 ns, in a connection that may have only
/// five packets.
const TRIES_MAX: usize = 128;
/// Bytes of an answer examined to decide whether it is text.
const ANSWER_LEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::TRIES_MAX;
    use crate::testing::{searches, whose};
    use crate::{On, Search, Step};

    /// The replayed bytes of the client, and their offset.
    fn replayed(turns: &[(bool, &[u8])]) -> (u64, Vec<u8>) {
        let (mut searches, mut search) = (searches(), Search::default());
        let mut offsets = [0u64; 2];
        for &(to_server, bytes) in turns {
            let offset = &mut offsets[usize::from(to_server)];
            let mut whose = whose(On::Tcp, to_server, (50_000, 50_001));
            whose.offset = *offset;
            *offset += bytes.len() as u64;
            match searches.stream_bytes(&mut search, whose, bytes) {
                Step::Undecided => {}
                step => {
                    assert!(matches!(step, Step::Verdict(_)), "{turns:?}");
                    break;
                }
            }
        }
        let (mut start, mut sent) = (None, Vec::new());
        searches.replay(search, |to_server, at, bytes| {
            if to_server {
                start.get_or_insert(at);
                sent.extend_from_slice(bytes);
            }
        });
        (start.unwrap_or(0), sent)
    }

    const GET: &[u8] = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n";
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    /// Junk of any kind, in the same segment as a request or before it.
    #[test]
    fn a_request_is_replayed_from_its_beginning() {
        let smb = b"\0\0\0\x20\xfeSMB@\0\0\0\0";
        for junk in [&b"\x05\x01\0"[..], smb, &[0; 40], b"\x01", b"\xffz"] {
            let glued = [junk, GET].concat();
            let (half, rest) = glued.split_at(junk.len() + 7);
            for turns in [
                &[(true, &glued[..]), (false, OK)][..],
                &[(true, junk), (true, GET), (false, OK)],
                &[(true, half), (true, rest), (false, OK)],
            ] {
                let want = (junk.len() as u64, GET.to_vec());
                assert_eq!(replayed(turns), want, "{turns:?}");
            }
            // The server refuses the junk before anything else comes.
            let refused = replayed(&[(true, junk), (false, OK), (true, GET)]);
            assert_eq!(refused.1, b"", "{junk:?}");
        }
    }

    /// Text, and lines without a known beginning, are left to the parser.
    #[test]
    fn text_is_left_to_parsers() {
        for first in [
            &b"EHLO x\r\n"[..],
            b"FOO /y HTTP/1.1\r\n\r\n",
            b"\x05\x01\0\n",
        ] {
            let turns = [(true, first), (false, OK)];
            assert_eq!(replayed(&turns).0, 0, "{first:?}");
        }
    }

    /// No more than [`TRIES_MAX`] positions are tried: after more words the request is not found,
    /// and the parser gets all bytes.
    #[test]
    fn the_positions_tried_are_bounded() {
        let start_after = |words: usize| {
            let junk = [b"\x01".as_slice(), &b"ab ".repeat(words)].concat();
            let glued = [&junk[..], GET].concat();
            let (start, _) = replayed(&[(true, &glued[..]), (false, OK)]);
            (start, junk.len() as u64)
        };
        for words in [1, TRIES_MAX / 2 - 2] {
            let (start, len) = start_after(words);
            assert_eq!(start, len, "{words} words");
        }
        assert_eq!(start_after(2 * TRIES_MAX).0, 0);
    }
}
