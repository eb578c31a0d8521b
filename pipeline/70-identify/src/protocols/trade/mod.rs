//! Money and health.

mod dicom;
mod fix;
mod hl7;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[&dicom::PROTOCOL, &fix::PROTOCOL, &hl7::PROTOCOL];
