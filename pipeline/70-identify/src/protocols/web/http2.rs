//! HTTP/2. RFC 9113 §3.4: the client's preface; §6.5: the server begins with SETTINGS.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "http2",
    groups: &[Group::Web],
    ports: &[],
    rules: &[
        Rule::pattern(
            "http2-preface",
            On::Tcp,
            r"PRI \* HTTP/2\.0\r\n\r\nSM\r\n\r\n",
        ),
        Rule::check(
            "http2-settings",
            On::Tcp,
            &[Lead::at(3, &[4, 0, 0, 0, 0])],
            settings,
        ),
    ],
};

/// RFC 9113 §4.1: length, type 4, no flags, stream 0; entries of 6 bytes with known names.
fn settings(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let len = cursor.len24()?;
    cursor.skip(2)?;
    if cursor.be32()? != 0 || len % 6 != 0 || !(6..=60).contains(&len) {
        return Some(Answer::No);
    }
    let name = cursor.be16()?;
    Answer::when((1..=9).contains(&name))
}
