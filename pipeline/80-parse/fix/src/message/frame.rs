//! Finds where the message at the front of a stream ends, and verifies what its frame claims.
//!
//! ```text
//!  8=FIX.4.4␁9=65␁ ………… 65 bytes ………… ␁10=123␁
//!            └ BodyLength: from here  to here └ CheckSum: of all bytes before
//! ```
//!
//! Every result depends only on the stream's bytes up to a point that these bytes determine. So
//! neither the results nor the point at which they are reported depend on segmentation.

use crate::message::fields::{SOH, number};
use memchr::{memchr, memrchr};

/// The front of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// No decision is possible before this number of bytes is available.
    Need(usize),
    /// A message.
    Message(Window),
    /// This number of bytes does not belong to a message.
    Garbage(usize),
    /// This number of bytes begins like a message but is not one: there is no BodyLength, or no end
    /// within the limit, and no other message in these bytes has an end either.
    Broken(usize),
    /// The stream ended within a message, after this number of bytes of it.
    CutOff(usize),
}

/// The extent of a message and the checks of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Length of the whole message in bytes.
    pub len: usize,
    /// The value of BodyLength; `None` if it is not a number.
    pub body_length: Option<u64>,
    /// Whether BodyLength leads to the trailer.
    pub body_length_ok: bool,
    /// Whether CheckSum is right; `None` if there is no trailer.
    pub checksum_ok: Option<bool>,
}

/// Examines the front of `bytes`; `limit` is the maximum length of a message, and `last` means that
/// no more bytes follow.
pub fn frame(bytes: &[u8], limit: usize, last: bool) -> Frame {
    frame_of(bytes, limit, last, true)
}

/// Like [`frame`], but without `waits` it searches for the end of a message before all bytes that
/// BodyLength announces are available.
pub(crate) fn frame_of(bytes: &[u8], limit: usize, last: bool, waits: bool) -> Frame {
    if !bytes.starts_with(BEGIN) {
        return garbage(bytes, last);
    }
    if bytes.len() < HEAD_MIN && !last {
        return Frame::Need(HEAD_MIN);
    }
    let head = match head(bytes) {
        Head::Whole(head) => head,
        Head::None => return Frame::Broken(BEGIN.len()),
        Head::CutOff if last => return Frame::CutOff(bytes.len()),
        Head::CutOff => return Frame::Need(HEAD_MAX),
    };
    let total = head
        .body_length
        .and_then(|length| usize::try_from(length).ok())
        .and_then(|length| length.checked_add(head.len)?.checked_add(TRAILER_LEN))
        .filter(|&total| total <= limit);
    if let Some(total) = total.filter(|_| waits) {
        let message = bytes.get(..total);
        if message.is_none() && !last {
            return Frame::Need(total);
        }
        let found = match message.and_then(trailer) {
            Some(checksum_ok) => Some((total, checksum_ok)),
            None => malformed_trailer(bytes, total).map(|len| (len, false)),
        };
        if let Some((len, checksum_ok)) = found {
            return Frame::Message(Window {
                len,
                body_length: head.body_length,
                body_length_ok: true,
                checksum_ok: Some(checksum_ok),
            });
        }
    }
    let first = total.unwrap_or(FIRST_LOOK);
    let looks = Looks {
        first: if waits { first } else { first.min(FIRST_LOOK) },
        total,
        limit,
    };
    unfinished(bytes, head, looks, last)
}

/// Whether an incomplete message begins here.
pub(crate) fn begins_message(bytes: &[u8]) -> bool {
    bytes.len() >= HEAD_MIN && bytes.starts_with(BEGIN)
}

/// Computes the sum, modulo 256, of all bytes of a message without its trailer.
// PERF: one instruction adds sixteen sums in parallel; the remaining bytes are added as one number.
#[inline]
pub fn checksum(bytes: &[u8]) -> u8 {
    let (chunks, rest) = bytes.as_chunks::<16>();
    let mut sums = [0u8; 16];
    for chunk in chunks {
        for (sum, byte) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*byte);
        }
    }
    let across = |bytes: &[u8]| bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    let left = match bytes.last_chunk::<16>() {
        Some(_) if rest.is_empty() => [0; 16],
        Some(last) => {
            let seen = 16usize.wrapping_sub(rest.len()).wrapping_mul(8);
            let seen = u32::try_from(seen).unwrap_or(0);
            u128::from_le_bytes(*last).wrapping_shr(seen).to_le_bytes()
        }
        None => return across(rest),
    };
    for (sum, byte) in sums.iter_mut().zip(left) {
        *sum = sum.wrapping_add(byte);
    }
    across(&sums)
}

/// How far to search: the first window, the end given by BodyLength if there is one, and the limit.
#[derive(Clone, Copy)]
struct Looks {
    first: usize,
    total: Option<usize>,
    limit: usize,
}

/// BodyLength does not lead to a trailer, or not yet: the message ends at the first trailer, or
/// where another one begins. The search uses growing windows, so that the end is found at a stream
/// position that does not depend on segmentation, and each byte is examined only a few times.
#[cold]
fn unfinished(bytes: &[u8], head: HeadOf, looks: Looks, last: bool) -> Frame {
    let Looks { total, limit, .. } = looks;
    let mut window = looks.first;
    loop {
        if window > bytes.len() {
            if !last {
                return Frame::Need(window);
            }
            window = bytes.len();
        }
        let within = bytes.get(..window).unwrap_or(bytes);
        match first_end(within, head.len) {
            Some(End::Trailer { at, len }) => {
                let message = bytes.get(..len).unwrap_or(bytes);
                return Frame::Message(Window {
                    len,
                    body_length: head.body_length,
                    body_length_ok: total == at.checked_add(TRAILER_LEN),
                    checksum_ok: Some(trailer(message).unwrap_or(false)),
                });
            }
            Some(End::Next(len)) => {
                return Frame::Message(Window {
                    len,
                    body_length: head.body_length,
                    body_length_ok: false,
                    checksum_ok: None,
                });
            }
            None if last && window == bytes.len() => return Frame::CutOff(window),
            None if window >= limit => return Frame::Broken(last_begin(within)),
            None => {}
        }
        let more = (window >> 2).saturating_add(16);
        let next = window.saturating_add(more).min(limit);
        window = match total {
            Some(total) if window < total => next.min(total),
            _ => next,
        };
    }
}

/// Returns where the last message may begin, in bytes that begin with one and contain no end of any
/// message.
fn last_begin(bytes: &[u8]) -> usize {
    let mut end = bytes.len();
    while let Some(at) = bytes.get(..end).and_then(|before| memrchr(b'8', before)) {
        let rest = bytes.get(at..).unwrap_or_default();
        if at > 0 && (rest.starts_with(BEGIN) || BEGIN.starts_with(rest)) {
            return at;
        }
        end = at;
    }
    bytes.len()
}

enum End {
    /// A trailer at offset `at`, which ends at offset `len`.
    Trailer { at: usize, len: usize },
    /// Another message begins at this offset.
    Next(usize),
}

/// Finds the first trailer or message start after the head.
fn first_end(bytes: &[u8], head_len: usize) -> Option<End> {
    let mut at = head_len.saturating_sub(1);
    loop {
        at = memchr(SOH, bytes.get(at..)?)?
            .checked_add(at)?
            .checked_add(1)?;
        let rest = bytes.get(at..)?;
        if rest.starts_with(BEGIN) {
            return Some(End::Next(at));
        }
        let len = match rest.first_chunk().and_then(checksum_field) {
            Some(_) => Some(TRAILER_LEN),
            None => malformed_checksum_field(rest),
        };
        if let Some(len) = len {
            let len = at.checked_add(len)?;
            return Some(End::Trailer { at, len });
        }
    }
}

/// Whether the CheckSum of a message is right; `None` if it does not end in a trailer.
#[inline]
fn trailer(message: &[u8]) -> Option<bool> {
    let (body, field) = message.split_last_chunk::<TRAILER_LEN>()?;
    let claimed = checksum_field(field)?;
    if body.last() != Some(&SOH) {
        return None;
    }
    Some(claimed == u16::from(checksum(body)))
}

/// Returns the length of a message that has `total` bytes by its BodyLength, if its CheckSum has
/// fewer than three digits or contains other bytes.
#[cold]
fn malformed_trailer(bytes: &[u8], total: usize) -> Option<usize> {
    let at = total.checked_sub(TRAILER_LEN)?;
    if bytes.get(at.checked_sub(1)?) != Some(&SOH) {
        return None;
    }
    at.checked_add(malformed_checksum_field(bytes.get(at..)?)?)
}

/// Returns the length of `10=`, at most three bytes, and SOH.
fn malformed_checksum_field(rest: &[u8]) -> Option<usize> {
    let value = rest.strip_prefix(b"10=")?;
    let soh = value.iter().take(4).position(|&byte| byte == SOH)?;
    soh.checked_add(4)
}

/// Returns the number in `10=ddd` and SOH.
#[inline]
fn checksum_field(field: &[u8; TRAILER_LEN]) -> Option<u16> {
    let [b'1', b'0', b'=', a, b, c, SOH] = *field else {
        return None;
    };
    let digit = |byte: u8| u16::from(byte.wrapping_sub(b'0'));
    let (a, b, c) = (digit(a), digit(b), digit(c));
    if a > 9 || b > 9 || c > 9 {
        return None;
    }
    let tens = a.wrapping_mul(10).wrapping_add(b);
    Some(tens.wrapping_mul(10).wrapping_add(c))
}

/// The fields before the body of a message.
#[derive(Clone, Copy)]
struct HeadOf {
    len: usize,
    body_length: Option<u64>,
}

enum Head {
    Whole(HeadOf),
    CutOff,
    None,
}

/// Parses BeginString and BodyLength, the first two fields in every version.
#[inline]
fn head(bytes: &[u8]) -> Head {
    let within = bytes.get(..HEAD_MAX).unwrap_or(bytes);
    let short = within.len() < HEAD_MAX;
    let miss = if short { Head::CutOff } else { Head::None };
    let Some(begin) = position_of_soh(within, BEGIN.len()) else {
        return miss;
    };
    if begin > BEGIN_MAX {
        return Head::None;
    }
    let length_at = begin.saturating_add(1);
    let digits_at = length_at.saturating_add(2);
    match within.get(length_at..digits_at) {
        Some(b"9=") => {}
        Some(_) => return Head::None,
        None => return miss,
    }
    let Some(end) = position_of_soh(within, digits_at) else {
        return miss;
    };
    Head::Whole(HeadOf {
        len: end.saturating_add(1),
        body_length: within.get(digits_at..end).and_then(number),
    })
}

#[inline]
fn position_of_soh(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter().position(|&byte| byte == SOH)?.checked_add(from)
}

/// Returns the distance to the next message, or to a possible start of one.
#[cold]
fn garbage(bytes: &[u8], last: bool) -> Frame {
    if bytes.is_empty() {
        return Frame::Need(1);
    }
    if BEGIN.starts_with(bytes) && !last {
        return Frame::Need(bytes.len().saturating_add(1));
    }
    let mut at = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'8', rest)) {
        at = at.saturating_add(found);
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(BEGIN) || (BEGIN.starts_with(rest) && !last) {
            return Frame::Garbage(at);
        }
        at = at.saturating_add(1);
    }
    Frame::Garbage(bytes.len())
}

const BEGIN: &[u8] = b"8=FIX";
/// Maximum end of BeginString.
const BEGIN_MAX: usize = 20;
/// Minimum length of a message: it has a MsgType.
const HEAD_MIN: usize = 26;
/// BeginString, and BodyLength with ten digits. If the head is incomplete in a message of the
/// minimum length, the message has at least this length.
const HEAD_MAX: usize = 34;
const TRAILER_LEN: usize = 7;
/// First search window if BodyLength is of no use.
const FIRST_LOOK: usize = 128;

#[cfg(test)]
mod tests {
    use super::{Frame, Window, frame};

    const LOGON: &[u8] =
        b"8=FIX.4.2\x019=46\x0135=A\x0134=1\x0149=A\x0156=B\x0152=20260101-00:00:00\x0198=0\x0110=";

    fn logon(sum: u8) -> Vec<u8> {
        [LOGON, format!("{sum:03}\x01").as_bytes()].concat()
    }

    fn correct() -> Vec<u8> {
        let body = LOGON.len() - 3;
        logon(super::checksum(&LOGON[..body]))
    }

    /// FIX 4.2, Standard Message Header: BodyLength counts from its own end to the start of
    /// CheckSum.
    #[test]
    fn a_correct_message_ends_where_its_length_says() {
        let message = correct();
        let length = message.len() - 7 - 15;
        assert_eq!(length, 46);
        let found = frame(&[&message[..], b"8=FIX"].concat(), 1000, false);
        let window = Window {
            len: message.len(),
            body_length: Some(46),
            body_length_ok: true,
            checksum_ok: Some(true),
        };
        assert_eq!(found, Frame::Message(window));
    }

    /// A wrong checksum is reported and does not move the end of the message.
    #[test]
    fn a_wrong_checksum_is_reported() {
        let good = super::checksum(&LOGON[..LOGON.len() - 3]);
        let message = logon(good.wrapping_add(1));
        let Frame::Message(window) = frame(&message, 1000, false) else {
            panic!("no message");
        };
        assert_eq!(
            (window.len, window.checksum_ok),
            (message.len(), Some(false))
        );
    }

    /// If the length is wrong, the message ends at its trailer, and is reported as soon as the
    /// number of bytes that the length announces is available.
    #[test]
    fn a_message_with_a_wrong_length_ends_at_its_trailer() {
        for wrong in ["9=45", "9=9", "9=99", "9=0", "9=xx"] {
            let text = String::from_utf8(correct()).unwrap().replace("9=46", wrong);
            let message = [text.as_bytes(), &correct(), &correct(), &correct()].concat();
            let Frame::Message(window) = frame(&message, 1000, false) else {
                panic!("no message: {wrong}");
            };
            assert_eq!(
                (window.len, window.body_length_ok),
                (text.len(), false),
                "{wrong}"
            );
            assert!(matches!(
                frame(text.as_bytes(), 1000, true),
                Frame::Message(_)
            ));
        }
    }

    /// FIX 4.2, Checksum Calculation: the sum of all bytes, modulo 256.
    #[test]
    fn a_checksum_is_the_sum_of_all_bytes() {
        let bytes: Vec<u8> = (0..200u32).map(|at| (at * 37 + 11) as u8).collect();
        for len in 0..bytes.len() {
            let sum: u32 = bytes[..len].iter().map(|&byte| u32::from(byte)).sum();
            assert_eq!(u32::from(super::checksum(&bytes[..len])), sum % 256);
        }
    }

    /// A CheckSum that is not three digits is wrong but still ends its message.
    #[test]
    fn a_checksum_of_fewer_digits_ends_its_message() {
        for sum in ["0", "12", "", "1x3"] {
            let message = [LOGON, sum.as_bytes(), b"\x01"].concat();
            let after = [&message[..], &correct(), &correct()].concat();
            for (stream, last) in [(&after, false), (&message, true)] {
                let Frame::Message(window) = frame(stream, 1000, last) else {
                    panic!("no message: {sum}");
                };
                let checks = (window.body_length_ok, window.checksum_ok);
                assert_eq!((window.len, checks), (message.len(), (true, Some(false))));
            }
        }
    }

    /// Once the front of a stream is decided, more bytes never change the decision.
    #[test]
    fn more_bytes_never_change_a_decision() {
        let wrong = String::from_utf8(correct()).unwrap().replace("9=46", "9=7");
        let streams = [
            [&correct()[..], &correct()].concat(),
            [wrong.as_bytes(), &correct(), &correct()].concat(),
            [b"8=8=FIX8=FI8=FIX.4", &correct()[..]].concat(),
            [b"\n8=F\r\n", &correct()[..]].concat(),
            [b"8=FIX.4.4\x0110=000\x01", &correct()[..], &correct()].concat(),
            b"8=FIX.4.4.4.4.4.4.4.4.4.4.4.4.4.4\x019=5\x01".to_vec(),
        ];
        for stream in streams {
            let mut decided = None;
            let mut need = 1;
            for len in 1..=stream.len() {
                let now = frame(&stream[..len], 1000, false);
                if let Frame::Garbage(_) = now {
                    // Garbage is reported in parts: only the fact that it is garbage is final.
                    assert!(matches!(decided, None | Some(Frame::Garbage(_))));
                    decided = Some(now);
                } else if let Frame::Need(more) = now {
                    assert!(decided.is_none() && more > len);
                    need = more;
                } else {
                    assert!(len >= need);
                    assert_eq!(*decided.get_or_insert(now), now);
                }
            }
            assert!(decided.is_some());
        }
    }

    /// Bytes that contain no end of any message are given up at once, except for the last possible
    /// start: otherwise every start would search the same bytes for its end.
    #[test]
    fn beginnings_without_an_end_are_given_up_together() {
        let mut stream = b"8=FIX.4.4\x019=9\x01y".repeat(100);
        let mut begun = 0;
        let mut given_up = 0;
        while let Frame::Broken(len) = frame(&stream, 1000, false) {
            stream.drain(..len);
            begun += len;
            given_up += 1;
        }
        assert_eq!((begun, given_up), (990, 1));
    }

    /// Without waiting for the bytes that BodyLength announces, correct messages end at the same
    /// places.
    #[test]
    fn searching_early_finds_the_same_messages() {
        let long = [b"58=".as_slice(), &[b'x'; 300], b"\x01"].concat();
        let body = [b"35=0\x0134=2\x01".as_slice(), &long].concat();
        let head = format!("8=FIX.4.4\x019={}\x01", body.len());
        let mut message = [head.as_bytes(), &body].concat();
        let sum = super::checksum(&message);
        message.extend(format!("10={sum:03}\x01").bytes());
        for message in [&message, &correct()] {
            for last in [false, true] {
                let waited = super::frame_of(message, 1000, last, true);
                assert!(matches!(waited, Frame::Message(window) if window.body_length_ok));
                assert_eq!(super::frame_of(message, 1000, last, false), waited);
            }
        }
        let wrong = String::from_utf8(correct())
            .unwrap()
            .replace("9=46", "9=900");
        let found = super::frame_of(wrong.as_bytes(), 1000, true, false);
        assert!(matches!(found, Frame::Message(window) if !window.body_length_ok));
    }

    /// A message without an end is given up at the limit instead of waited for.
    #[test]
    fn a_message_beyond_the_limit_is_given_up() {
        let mut stream = b"8=FIX.4.4\x019=999999\x0135=D\x01".to_vec();
        stream.resize(2000, b'x');
        assert_eq!(frame(&stream, 1000, false), Frame::Broken(1000));
        assert!(matches!(frame(&stream[..900], 1000, false), Frame::Need(more) if more <= 1000));
    }
}
