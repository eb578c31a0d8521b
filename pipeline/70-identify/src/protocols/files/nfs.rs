//! ONC RPC, and NFS as its best known program. RFC 5531 §9: call and reply.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nfs",
    groups: &[Group::Files],
    ports: &[2049],
    rules: &[
        Rule::check(
            "nfs-call-udp",
            On::Udp,
            &[Lead::at(4, &[0, 0, 0, 0]).len_min(40)],
            datagram,
        ),
        Rule::check("nfs-call-tcp", On::Tcp, &[Lead::start(&[0x80, 0])], stream),
    ],
};

fn datagram(look: &Look<'_>) -> Option<Answer> {
    // A call (0), version 2 of RPC, program 100003.
    let is_call = look.be32(4)? == 0 && look.be32(8)? == 2 && look.be32(12)? == 100_003;
    Answer::when(is_call && matches!(look.be32(16)?, 2..=4))
}

/// RFC 5531 §11: over TCP a record mark of 4 bytes.
fn stream(look: &Look<'_>) -> Option<Answer> {
    datagram(&look.within(4))
}
