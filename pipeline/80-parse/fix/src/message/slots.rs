//! The fields used by sessions, orders and records, each with a slot of its own.

macro_rules! slots {
    ($($variant:ident = $tag:literal),* $(,)?) => {
        /// A field that is used in every message; its slot in [`crate::Fields`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Slot {
            /// All other fields.
            Other,
            $(#[doc = concat!("Tag ", $tag, ".")] $variant,)*
        }

        impl Slot {
            /// Every field with a slot, and its tag.
            pub(crate) const TAGS: &'static [(u16, Self)] = &[$(($tag, Self::$variant),)*];
        }
    };
}

slots! {
    MsgType = 35, MsgSeqNum = 34, SenderCompId = 49, TargetCompId = 56, SenderSubId = 50,
    TargetSubId = 57, OnBehalfOfCompId = 115, DeliverToCompId = 128, SendingTime = 52,
    PossDup = 43, PossResend = 97, HeartBtInt = 108, TestReqId = 112, ResetSeqNum = 141,
    BeginSeqNo = 7, EndSeqNo = 16, NewSeqNo = 36, GapFill = 123, RefSeqNum = 45, RefTagId = 371,
    RefMsgType = 372, SessionRejectReason = 373, BusinessRejectReason = 380, OrdRejReason = 103,
    CxlRejReason = 102, Text = 58, Username = 553, DefaultApplVerId = 1137, ApplVerId = 1128,
    ClOrdId = 11, OrigClOrdId = 41, OrderId = 37, ExecId = 17, ExecType = 150, OrdStatus = 39,
    Account = 1, Symbol = 55, SecurityId = 48, Side = 54, OrdType = 40, Price = 44, StopPx = 99,
    OrderQty = 38, LastPx = 31, LastQty = 32, CumQty = 14, LeavesQty = 151, AvgPx = 6,
    TimeInForce = 59, TransactTime = 60, Currency = 15, CheckSum = 10,
}

/// Number of slots.
pub(crate) const SLOTS: usize = 64;

const _: () = assert!(Slot::TAGS.len() < SLOTS);
