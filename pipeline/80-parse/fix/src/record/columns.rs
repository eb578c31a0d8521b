//! The schema of FIX records: one record per message, with the common fields as columns.

use flowpin_record::{Kind, MessageColumn, MessageSchema};

/// The records of FIX messages.
pub static FIX: MessageSchema = MessageSchema::new(
    "fix",
    "A FIX message: its common fields, its effect on the session, and every field on request.",
    COLUMNS,
);

const fn column(
    name: &'static str,
    eve: &'static str,
    kind: Kind,
    doc: &'static str,
) -> MessageColumn {
    MessageColumn::new(name, eve, kind, doc)
}

use Kind::{Bool, Count, CountList, Enum, Interval, Text, TextList};

/// The columns from the frame and the session come first.
const COLUMNS: &[MessageColumn] = &[
    column(
        "is_orig",
        "fix.to_server",
        Bool,
        "Whether the client sent it.",
    ),
    column(
        "begin_string",
        "fix.begin_string",
        Text,
        "BeginString (8), the version: `FIX.4.4`, `FIXT.1.1`.",
    ),
    column("msg_type", "fix.msg_type", Text, "MsgType (35)."),
    column(
        "msg_name",
        "fix.msg_name",
        Text,
        "The name of the message type.",
    ),
    column(
        "length",
        "fix.length",
        Count,
        "The length of the whole message in bytes.",
    ),
    column(
        "field_count",
        "fix.field_count",
        Count,
        "The number of fields.",
    ),
    column(
        "body_length_ok",
        "fix.body_length_ok",
        Bool,
        "Whether BodyLength (9) is correct.",
    ),
    column(
        "checksum_ok",
        "fix.checksum_ok",
        Bool,
        "Whether CheckSum (10) is correct; unset if the message has none.",
    ),
    column(
        "session",
        "fix.session",
        Enum,
        "The effect of an administrative message: `logon`, \
        `logout`, `heartbeat`, `test_request`, `resend_request`, `reject`, `business_reject`, \
        `gap_fill`, `sequence_reset`.",
    ),
    column(
        "sequence",
        "fix.sequence",
        Enum,
        "MsgSeqNum compared with the expected number: `first`, \
        `ok`, `gap`, `resent`, `low`, `reset`, `missing`.",
    ),
    column(
        "expected_seq",
        "fix.expected_seq",
        Count,
        "The expected MsgSeqNum, if the message has another.",
    ),
    column(
        "missing",
        "fix.missing",
        Count,
        "The number of messages missing before this one (`gap`).",
    ),
    column(
        "latency",
        "fix.latency",
        Interval,
        "The time from a request to its first report, which \
        this message is; paired by ClOrdID.",
    ),
    column("seq_num", "fix.seq_num", Count, "MsgSeqNum (34)."),
    column(
        "sender_comp_id",
        "fix.sender_comp_id",
        Text,
        "SenderCompID (49).",
    ),
    column(
        "target_comp_id",
        "fix.target_comp_id",
        Text,
        "TargetCompID (56).",
    ),
    column(
        "sender_sub_id",
        "fix.sender_sub_id",
        Text,
        "SenderSubID (50).",
    ),
    column(
        "target_sub_id",
        "fix.target_sub_id",
        Text,
        "TargetSubID (57).",
    ),
    column(
        "on_behalf_of_comp_id",
        "fix.on_behalf_of_comp_id",
        Text,
        "OnBehalfOfCompID (115).",
    ),
    column(
        "deliver_to_comp_id",
        "fix.deliver_to_comp_id",
        Text,
        "DeliverToCompID (128).",
    ),
    column(
        "sending_time",
        "fix.sending_time",
        Text,
        "SendingTime (52), as sent.",
    ),
    column("poss_dup", "fix.poss_dup", Text, "PossDupFlag (43)."),
    column("poss_resend", "fix.poss_resend", Text, "PossResend (97)."),
    column("appl_ver_id", "fix.appl_ver_id", Text, "ApplVerID (1128)."),
    column(
        "default_appl_ver_id",
        "fix.default_appl_ver_id",
        Text,
        "DefaultApplVerID (1137).",
    ),
    column(
        "heart_bt_int",
        "fix.heart_bt_int",
        Count,
        "HeartBtInt (108), in seconds.",
    ),
    column("username", "fix.username", Text, "Username (553)."),
    column(
        "reset_seq_num",
        "fix.reset_seq_num",
        Text,
        "ResetSeqNumFlag (141).",
    ),
    column("test_req_id", "fix.test_req_id", Text, "TestReqID (112)."),
    column(
        "begin_seq_no",
        "fix.begin_seq_no",
        Count,
        "BeginSeqNo (7) of a ResendRequest.",
    ),
    column(
        "end_seq_no",
        "fix.end_seq_no",
        Count,
        "EndSeqNo (16) of a ResendRequest; 0 means all later messages.",
    ),
    column(
        "new_seq_no",
        "fix.new_seq_no",
        Count,
        "NewSeqNo (36) of a SequenceReset.",
    ),
    column(
        "ref_seq_num",
        "fix.ref_seq_num",
        Count,
        "RefSeqNum (45): the number of the rejected message.",
    ),
    column(
        "ref_tag_id",
        "fix.ref_tag_id",
        Count,
        "RefTagID (371): the tag of the rejected field.",
    ),
    column(
        "ref_msg_type",
        "fix.ref_msg_type",
        Text,
        "RefMsgType (372).",
    ),
    column(
        "reject_reason",
        "fix.reject_reason",
        Count,
        "SessionRejectReason (373), \
        BusinessRejectReason (380), OrdRejReason (103) or CxlRejReason (102).",
    ),
    column("text", "fix.text", Text, "Text (58)."),
    column("cl_ord_id", "fix.cl_ord_id", Text, "ClOrdID (11)."),
    column(
        "orig_cl_ord_id",
        "fix.orig_cl_ord_id",
        Text,
        "OrigClOrdID (41).",
    ),
    column("order_id", "fix.order_id", Text, "OrderID (37)."),
    column("exec_id", "fix.exec_id", Text, "ExecID (17)."),
    column("exec_type", "fix.exec_type", Text, "ExecType (150)."),
    column("ord_status", "fix.ord_status", Text, "OrdStatus (39)."),
    column("account", "fix.account", Text, "Account (1)."),
    column("symbol", "fix.symbol", Text, "Symbol (55)."),
    column("security_id", "fix.security_id", Text, "SecurityID (48)."),
    column("side", "fix.side", Text, "Side (54)."),
    column("ord_type", "fix.ord_type", Text, "OrdType (40)."),
    column("price", "fix.price", Text, "Price (44), as sent."),
    column("stop_px", "fix.stop_px", Text, "StopPx (99), as sent."),
    column(
        "order_qty",
        "fix.order_qty",
        Text,
        "OrderQty (38), as sent.",
    ),
    column("last_px", "fix.last_px", Text, "LastPx (31), as sent."),
    column("last_qty", "fix.last_qty", Text, "LastQty (32), as sent."),
    column("cum_qty", "fix.cum_qty", Text, "CumQty (14), as sent."),
    column(
        "leaves_qty",
        "fix.leaves_qty",
        Text,
        "LeavesQty (151), as sent.",
    ),
    column("avg_px", "fix.avg_px", Text, "AvgPx (6), as sent."),
    column(
        "time_in_force",
        "fix.time_in_force",
        Text,
        "TimeInForce (59).",
    ),
    column(
        "transact_time",
        "fix.transact_time",
        Text,
        "TransactTime (60), as sent.",
    ),
    column("currency", "fix.currency", Text, "Currency (15)."),
    column(
        "tags",
        "fix.fields[].tag",
        CountList,
        "On request: the tags of all fields; 0 for a field without a tag.",
    ),
    column(
        "names",
        "fix.fields[].name",
        TextList,
        "On request: the names of all fields.",
    ),
    column(
        "values",
        "fix.fields[].value",
        TextList,
        "On request: the values of all fields, with secrets masked.",
    ),
    column(
        "meanings",
        "fix.fields[].meaning",
        TextList,
        "On request: the meanings of the values, for \
        fields with a list of values.",
    ),
    column(
        "groups",
        "fix.fields[].group",
        TextList,
        "On request: the entry of a repeating \
        group to which each field belongs: `453[0]`, `453[0].802[1]`.",
    ),
];

pub(crate) const WIDTH: usize = COLUMNS.len();
