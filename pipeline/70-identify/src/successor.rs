//! What may come over two ports that STUN has opened.

/// Whether a datagram is of another kind than STUN, by its first bytes: DTLS or media (RFC 7983 §7;
/// RFC 6347 §4.1: the version of DTLS; RFC 5761 §4: what is RTCP and tells no sequence).
///
/// ```
/// assert!(flowpin_identify::may_follow_stun(&[22, 0xfe, 0xfd]));
/// assert!(flowpin_identify::may_follow_stun(&[0x80, 0x78]));
/// assert!(!flowpin_identify::may_follow_stun(&[0, 1]));
/// ```
pub fn may_follow_stun(bytes: &[u8]) -> bool {
    match bytes {
        [20..=63, 0xfe, ..] => true,
        [128..=191, kind, ..] => !matches!(kind & 0x7f, 64..=95),
        _ => false,
    }
}
