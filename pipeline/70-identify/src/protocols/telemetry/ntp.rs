//! Time. RFC 5905 §7.3: 48 bytes, with little in them that can be checked.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ntp",
    groups: &[Group::Management],
    ports: &[123],
    rules: &[Rule::check(
        "ntp-packet",
        On::Udp,
        &[Lead::ANY.len_min(12).on_ports(&[123])],
        check,
    )
    .ranked(140)],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let first = look.u8(0)?;
    let (version, mode) = (first >> 3 & 7, first & 7);
    if !(1..=4).contains(&version) {
        return Some(Answer::No);
    }
    match mode {
        1..=5 => clock(look),
        6 => control(look),
        7 => private(look),
        _ => Some(Answer::No),
    }
}

/// What clocks tell each other, with extensions and a digest behind it.
fn clock(look: &Look<'_>) -> Option<Answer> {
    let [stratum, poll, precision] = look.array(1)?;
    // 2^-1 to 2^-39 seconds, or not told.
    let is_precise = precision == 0 || precision > 0xd8;
    // Seconds to the reference clock, in the upper half; the way there may be less than none.
    let (delay, dispersion) = (look.be16(4)?, look.be16(8)?);
    let is_near = !(64..=0xffc0).contains(&delay) && dispersion < 256;
    let is_sized = look.len >= 48 && look.len.is_multiple_of(4);
    Answer::when(is_sized && stratum <= 16 && poll <= 17 && is_precise && is_near)
}

/// RFC 9327 §2: a command, and as many bytes as are counted, filled up to four; a digest may
/// follow.
fn control(look: &Look<'_>) -> Option<Answer> {
    let is_command = look.u8(0)? >> 6 == 0 && matches!(look.u8(1)? & 31, 0..=12 | 31);
    let count = usize::from(look.be16(10)?).checked_next_multiple_of(4)?;
    let digest = look.len.checked_sub(12)?.checked_sub(count);
    Answer::when(is_command && matches!(digest, Some(0 | 12 | 20 | 24)))
}

/// ntpdc's messages: an implementation, a request, and items that fit.
fn private(look: &Look<'_>) -> Option<Answer> {
    let [implementation, request] = look.array(2)?;
    let (count, size) = (look.be16(4)? & 0xfff, look.be16(6)?);
    let items = usize::from(count).checked_mul(usize::from(size))?;
    let is_request = matches!(implementation, 0 | 2 | 3) && request < 64;
    let is_fitting = look.len.checked_sub(8)? >= items && (items > 0 || count == 0 || size == 0);
    Answer::when(is_request && size >> 12 == 0 && is_fitting)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagrams;

    fn on_its_port(bytes: &[u8]) -> Option<&'static str> {
        datagrams(&[(true, bytes)], (50_000, 123))
    }

    /// RFC 9327 §4: a request for variables; ntpdc's for the list of clients.
    #[test]
    fn commands_tell_by_what_they_count() {
        let variables = b"\x16\x02\0\x01\0\0\0\0\0\0\0\x03abc\0";
        assert_eq!(on_its_port(variables), Some("ntp"));
        let clients = b"\x17\0\x03\x2a\0\0\0\0\0\0\0\0";
        assert_eq!(on_its_port(clients), Some("ntp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let longer = b"\x16\x02\0\x01\0\0\0\0\0\0\0\x05abc\0";
        assert_eq!(on_its_port(longer), None);
        let other = b"\x17\0\x09\x2a\0\0\0\0\0\0\0\0";
        assert_eq!(on_its_port(other), None);
    }
}
