//! ONC RPC, whatever its program. RFC 5531 §9: calls, and answers to them.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "onc-rpc",
    groups: &[Group::Messaging],
    ports: &[111],
    rules: &[
        Rule::check(
            "rpc-call-udp",
            On::Udp,
            &[Lead::at(4, &[0, 0, 0, 0]).len_min(40)],
            call,
        )
        .ranked(120),
        Rule::check(
            "rpc-call-tcp",
            On::Tcp,
            &[Lead::start(&[0x80, 0]).len_min(44)],
            framed,
        )
        .ranked(120),
    ],
};

/// RFC 5531 §11: a mark and a length in front.
fn framed(look: &Look<'_>) -> Option<Answer> {
    call(&look.within(4))
}

/// Version 2, a program of the ranges that are given out, a version of it, who asks.
fn call(look: &Look<'_>) -> Option<Answer> {
    let is_call = look.be32(4)? == 0 && look.be32(8)? == 2;
    let is_program = (100_000..=400_200).contains(&look.be32(12)?);
    let is_asker = look.be32(24)? <= 6 && look.be32(28)? <= 400;
    Answer::when(is_call && is_program && look.be32(16)? < 8 && look.be32(20)? < 64 && is_asker)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    /// A call of the port mapper.
    const CALL: [u8; 40] = [
        1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x86, 0xa0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    /// The same with a version of RPC that there is not.
    fn wrong() -> [u8; 40] {
        let mut bytes = CALL;
        bytes[11] = 3;
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&CALL), Some("onc-rpc"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&wrong()), Some("onc-rpc"));
    }
}
