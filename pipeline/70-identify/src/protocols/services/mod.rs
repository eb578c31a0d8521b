//! Parts of a service that call each other.

mod ajp;
mod dubbo;
mod hadoop_rpc;
mod java_rmi;
mod onc_rpc;
mod pulsar;
mod scgi;
mod thrift;
mod uwsgi;
mod zookeeper;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &ajp::PROTOCOL,
    &dubbo::PROTOCOL,
    &hadoop_rpc::PROTOCOL,
    &java_rmi::PROTOCOL,
    &onc_rpc::PROTOCOL,
    &pulsar::PROTOCOL,
    &scgi::PROTOCOL,
    &thrift::PROTOCOL,
    &uwsgi::PROTOCOL,
    &zookeeper::PROTOCOL,
];
