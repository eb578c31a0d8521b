//! Plants and their controllers.

mod ads;
mod cip_io;
mod dnp3;
mod enip;
mod hart_ip;
mod iec104;
mod mms;
mod modbus;
mod opcua;
mod s7comm;
mod tpkt;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &ads::PROTOCOL,
    &cip_io::PROTOCOL,
    &dnp3::PROTOCOL,
    &enip::PROTOCOL,
    &hart_ip::PROTOCOL,
    &iec104::PROTOCOL,
    &mms::PROTOCOL,
    &modbus::PROTOCOL,
    &opcua::PROTOCOL,
    &s7comm::PROTOCOL,
];
