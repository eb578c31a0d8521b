//! UFTP: file transfer by multicast. Version, a known message, header of 16 bytes.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "uftp",
    groups: &[Group::Files],
    ports: &[1044],
    rules: &[Rule::check(
        "uftp-header",
        On::Udp,
        &[
            Lead::ANY
                .masked(0, 0xff, 0x40)
                .masked(1, 0xe0, 0)
                .len_min(20),
            Lead::ANY
                .masked(0, 0xff, 0x50)
                .masked(1, 0xe0, 0)
                .len_min(20),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [version, kind] = look.array(0)?;
    // What is wrapped begins behind the header with the same type and its length in words.
    let at = 16usize;
    let inner = look.u8(at)?;
    let words = usize::from(look.u8(at.checked_add(1)?)?).checked_mul(4)?;
    let is_reserved = look.u8(12)? == 0 && look.u8(15)? == 0;
    let is_known = is_reserved && (1..=24).contains(&kind) && (version == 0x40 || version == 0x50);
    let fits = words >= 4 && words.checked_add(at)? <= look.len;
    Some(if is_known && inner == kind && fits {
        Answer::Yes
    } else if is_known && look.on_port(&[1044]) {
        Answer::Likely
    } else {
        Answer::No
    })
}
