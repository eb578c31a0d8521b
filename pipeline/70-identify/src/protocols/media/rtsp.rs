//! Playing streams. RFC 2326 §6, RFC 7826 §20: request and status lines.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rtsp",
    groups: &[Group::Media],
    ports: &[554, 8554],
    rules: &[Rule::pattern(
        "rtsp-line",
        On::Tcp,
        concat!(
            r"(RTSP/[12]\.0 [1-5][0-9][0-9] |(OPTIONS|DESCRIBE|ANNOUNCE|SETUP|PLAY|PAUSE",
            r"|TEARDOWN|GET_PARAMETER|SET_PARAMETER|RECORD|REDIRECT) rtsps?://)",
        ),
    )],
};
