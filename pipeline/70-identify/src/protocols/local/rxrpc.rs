//! Rx, the calls of AFS: epoch, connection, call, sequence, type, service.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rxrpc",
    groups: &[Group::Files, Group::Messaging],
    ports: &[7000, 7001, 7002, 7003],
    rules: &[Rule::check("rx-header", On::Udp, LEADS, check).ranked(130)],
};

/// Small numbers alone are not evidence enough: many files have them.
const LEADS: &[Lead] = &[Lead::ANY
    .len_min(28)
    .on_ports(&[7000, 7001, 7002, 7003, 7004, 7005, 7007])];

fn check(look: &Look<'_>) -> Option<Answer> {
    let call = look.be32(8)?;
    let sequence = look.be32(12)?;
    let serial = look.be32(16)?;
    let [kind, flags, status, security] = look.array(20)?;
    let service = look.be16(26)?;
    let is_small = call < 1 << 16 && sequence < 1 << 16 && serial < 1 << 20 && serial > 0;
    let is_kind = (1..=13).contains(&kind) && flags < 0x40 && security <= 4 && status <= 4;
    Answer::when(is_small && is_kind && look.be32(0)? != 0 && service < 4096)
}
