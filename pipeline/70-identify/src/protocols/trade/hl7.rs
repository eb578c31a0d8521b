//! HL7 version 2 over MLLP: a vertical tab, then the header segment.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "hl7",
    groups: &[Group::Trade],
    ports: &[2575],
    rules: &[Rule::pattern(
        "hl7-mllp",
        On::Tcp,
        r"\x0b(MSH|FHS|BHS)\|\^~\\&",
    )],
};
