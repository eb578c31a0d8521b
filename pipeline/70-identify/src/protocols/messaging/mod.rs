//! Queues and calls between services.

mod amqp;
mod beanstalkd;
mod dcerpc;
mod gearman;
mod kafka;
mod nats;
mod nsq;
mod openwire;
mod smpp;
mod stomp;
mod zmtp;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &amqp::PROTOCOL,
    &beanstalkd::PROTOCOL,
    &dcerpc::PROTOCOL,
    &gearman::PROTOCOL,
    &kafka::PROTOCOL,
    &nats::PROTOCOL,
    &nsq::PROTOCOL,
    &openwire::PROTOCOL,
    &smpp::PROTOCOL,
    &stomp::PROTOCOL,
    &zmtp::PROTOCOL,
];
