//! Queues and calls between services.

mod amqp;
mod dcerpc;
mod gearman;
mod kafka;
mod nats;
mod openwire;
mod smpp;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &amqp::PROTOCOL,
    &dcerpc::PROTOCOL,
    &gearman::PROTOCOL,
    &kafka::PROTOCOL,
    &nats::PROTOCOL,
    &openwire::PROTOCOL,
    &smpp::PROTOCOL,
];
