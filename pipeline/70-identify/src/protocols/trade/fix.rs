//! FIX. §5.1: BeginString, BodyLength, MsgType, in this order.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "fix",
    groups: &[Group::Trade],
    ports: &[],
    rules: &[Rule::pattern(
        "fix-begin",
        On::Tcp,
        r"8=FIXT?\.[0-9]\.[0-9](SP[0-9])?[\x01|]9=[0-9]+[\x01|]35=",
    )],
};
