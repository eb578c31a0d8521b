//! The values of a FIX record, in the order of its columns.

use crate::message::fields::Fields;
use crate::record::columns::WIDTH;
use crate::record::secrets::type_of;
use crate::session::sequence::{Sequence, Step};
use crate::{Dictionary, Slot, Window};
use flowpin_record::Value;

/// The columns that show fields as sent, in their order after `latency`.
const SENT: &[(Slot, bool)] = &[
    (Slot::MsgSeqNum, true),
    (Slot::SenderCompId, false),
    (Slot::TargetCompId, false),
    (Slot::SenderSubId, false),
    (Slot::TargetSubId, false),
    (Slot::OnBehalfOfCompId, false),
    (Slot::DeliverToCompId, false),
    (Slot::SendingTime, false),
    (Slot::PossDup, false),
    (Slot::PossResend, false),
    (Slot::ApplVerId, false),
    (Slot::DefaultApplVerId, false),
    (Slot::HeartBtInt, true),
    (Slot::Username, false),
    (Slot::ResetSeqNum, false),
    (Slot::TestReqId, false),
    (Slot::BeginSeqNo, true),
    (Slot::EndSeqNo, true),
    (Slot::NewSeqNo, true),
    (Slot::RefSeqNum, true),
    (Slot::RefTagId, true),
    (Slot::RefMsgType, false),
    (Slot::SessionRejectReason, true),
    (Slot::Text, false),
    (Slot::ClOrdId, false),
    (Slot::OrigClOrdId, false),
    (Slot::OrderId, false),
    (Slot::ExecId, false),
    (Slot::ExecType, false),
    (Slot::OrdStatus, false),
    (Slot::Account, false),
    (Slot::Symbol, false),
    (Slot::SecurityId, false),
    (Slot::Side, false),
    (Slot::OrdType, false),
    (Slot::Price, false),
    (Slot::StopPx, false),
    (Slot::OrderQty, false),
    (Slot::LastPx, false),
    (Slot::LastQty, false),
    (Slot::CumQty, false),
    (Slot::LeavesQty, false),
    (Slot::AvgPx, false),
    (Slot::TimeInForce, false),
    (Slot::TransactTime, false),
    (Slot::Currency, false),
];

const FRAME_COLUMNS: usize = 13;
const LIST_COLUMNS: usize = 5;
const _: () = assert!(FRAME_COLUMNS + SENT.len() + LIST_COLUMNS == WIDTH);

/// The parts of a record.
pub(crate) struct Message<'m> {
    pub(crate) bytes: &'m [u8],
    pub(crate) fields: &'m Fields,
    pub(crate) dictionary: &'m Dictionary,
    pub(crate) window: Window,
    pub(crate) to_server: bool,
    pub(crate) step: Step,
    /// In nanoseconds.
    pub(crate) latency: Option<u64>,
}

impl<'m> Message<'m> {
    /// Returns the values of [`crate::FIX`], except the lists of all fields.
    pub(crate) fn values(&self) -> [Value<'m>; WIDTH] {
        let mut values = [Value::Unset; WIDTH];
        let (frame, sent) = values.split_at_mut(FRAME_COLUMNS);
        let message_type = type_of(self.fields, self.bytes);
        let begin = self
            .fields
            .list()
            .first()
            .map(|field| field.value(self.bytes));
        let missing = match self.step.sequence {
            Sequence::Gap(missing) => Some(missing),
            _ => None,
        };
        let expected = match self.step.sequence {
            Sequence::Gap(_) | Sequence::Low => self.step.expected,
            _ => None,
        };
        let known: [Value<'m>; FRAME_COLUMNS] = [
            Value::Bool(self.to_server),
            Value::bytes(begin.unwrap_or_default()),
            Value::bytes(message_type),
            Value::text(self.dictionary.message(message_type).unwrap_or_default()),
            Value::Count(self.window.len as u64),
            Value::Count(self.fields.list().len() as u64),
            Value::Bool(self.window.body_length_ok),
            self.window.checksum_ok.map_or(Value::Unset, Value::Bool),
            Value::text(self.step.event.name()),
            Value::Text(self.step.sequence.name()),
            Value::count(expected),
            Value::count(missing),
            self.latency.map_or(Value::Unset, Value::Interval),
        ];
        for (to, from) in frame.iter_mut().zip(known) {
            *to = from;
        }
        for (to, &(slot, is_number)) in sent.iter_mut().zip(SENT) {
            *to = self.sent(slot, is_number);
        }
        values
    }

    #[inline]
    fn sent(&self, slot: Slot, is_number: bool) -> Value<'m> {
        if slot == Slot::SessionRejectReason {
            return Value::count(self.reject_reason());
        }
        if is_number {
            return Value::count(self.fields.count(self.bytes, slot));
        }
        // An empty value violates the specification, but the field is present.
        let value = self.fields.value(self.bytes, slot);
        value.map_or(Value::Unset, Value::Bytes)
    }

    fn reject_reason(&self) -> Option<u64> {
        let slots = [
            Slot::SessionRejectReason,
            Slot::BusinessRejectReason,
            Slot::OrdRejReason,
            Slot::CxlRejReason,
        ];
        let mut reasons = slots.iter();
        reasons.find_map(|&slot| self.fields.count(self.bytes, slot))
    }
}
