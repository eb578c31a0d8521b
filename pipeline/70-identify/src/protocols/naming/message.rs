//! The message format that DNS, mDNS, LLMNR and NetBIOS share. RFC 1035 §4.1.

use crate::{Answer, Look};

/// Walks the whole message: names, types and lengths must agree with the counts.
pub(super) fn check(look: &Look<'_>) -> Answer {
    walk(look).unwrap_or(Answer::No)
}

fn walk(look: &Look<'_>) -> Option<Answer> {
    let flags = look.be16(2)?;
    let opcode = flags >> 11 & 15;
    let counts = [look.be16(4)?, look.be16(6)?, look.be16(8)?, look.be16(10)?];
    let [questions, answers, authorities, additional] = counts;
    let is_response = flags & 0x8000 != 0;
    let total = counts
        .iter()
        .fold(0u32, |sum, &count| sum.saturating_add(u32::from(count)));
    // RFC 1035 §4.1.1: Z must be zero (RFC 4035 took two of its bits); opcodes up to 6 are given.
    if opcode > 6 || flags & 0x40 != 0 || total == 0 || total > 500 || questions > 32 {
        return Some(Answer::No);
    }
    if !is_response && (flags & 0x0080 != 0 || (opcode == 0 && questions == 0)) {
        return Some(Answer::No);
    }
    let is_cut = look.bytes.len() < look.len;
    let mut at = 12;
    for _ in 0..questions {
        at = name(look, at)?;
        let kind = look.be16(at)?;
        let class = look.be16(at.checked_add(2)?)? & 0x7fff;
        if !is_class(class) || kind == 0 {
            return Some(Answer::No);
        }
        at = at.checked_add(4)?;
    }
    let rest = u32::from(answers)
        .saturating_add(u32::from(authorities))
        .saturating_add(u32::from(additional));
    for index in 0..rest {
        let Some(next) = entry(look, at)? else {
            return Some(Answer::No);
        };
        at = next;
        // RFC 1035 §4.1.1 TC, and captures: a message that is cut ends inside an entry.
        if at > look.bytes.len() {
            let is_told = is_cut || flags & 0x0200 != 0;
            return Some(if is_told && index > 0 {
                Answer::Yes
            } else {
                Answer::No
            });
        }
    }
    if at == look.len {
        return Some(Answer::Yes);
    }
    Some(Answer::No)
}

/// Whether a header is there that asks or answers one question, with few records.
pub(super) fn is_header(look: &Look<'_>) -> Option<bool> {
    let flags = look.be16(2)?;
    let counts = [look.be16(6)?, look.be16(8)?, look.be16(10)?];
    let few = counts.iter().filter(|&&count| count < 64).count();
    let is_few = look.be16(4)? == 1 || counts == [0; 3];
    Some(is_few && few >= 2 && flags & 0x0040 == 0 && flags >> 11 & 15 <= 5)
}

/// One record; where the next begins, or none if this one cannot be.
fn entry(look: &Look<'_>, at: usize) -> Option<Option<usize>> {
    let at = name(look, at)?;
    let kind = look.be16(at)?;
    let class = look.be16(at.checked_add(2)?)? & 0x7fff;
    let len = look.be16(at.checked_add(8)?)?;
    // RFC 6891 §6.1.2: OPT uses the class as a size.
    if kind == 0 || (kind != 41 && !is_class(class)) {
        return Some(None);
    }
    Some(at.checked_add(10)?.checked_add(usize::from(len)))
}

const fn is_class(class: u16) -> bool {
    matches!(class, 1..=4 | 254 | 255)
}

/// Where the name at `at` ends: labels of 63 bytes at most, or a pointer backwards.
fn name(look: &Look<'_>, at: usize) -> Option<usize> {
    let mut end = at;
    for _ in 0..128 {
        let len = look.u8(end)?;
        end = end.checked_add(1)?;
        match len {
            0 => return Some(end),
            1..=63 => end = end.checked_add(usize::from(len))?,
            0xc0..=0xff => {
                let low = look.u8(end)?;
                let to = usize::from(len & 0x3f) << 8 | usize::from(low);
                return if to < at { end.checked_add(1) } else { None };
            }
            _ => return None,
        }
    }
    None
}
