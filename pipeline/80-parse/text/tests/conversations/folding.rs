//! Header fields that continue on the next line.

use crate::support::check;

/// RFC 5322 §2.2.3, RFC 3261 §7.3.1: a line that begins with a blank continues the line before it.
#[test]
fn folded_fields_are_joined() {
    check(
        "smtp",
        &[
            (true, b"MAIL FROM:<a@a>\r\nDATA\r\n"),
            (false, b"250 ok\r\n354 go\r\n"),
            (
                true,
                b"Message-ID:\r\n <1@a>\r\nTo: b@b,\r\n\tc@c\r\n \r\n\
              X: y\r\n z\r\nSubject: one\r\n \
              two\r\n  three\r\n\r\n folded no more\r\n.\r\n",
            ),
            (false, b"250 queued\r\n"),
        ],
        &[
            "smtp @0 mailfrom=a@a to=b@b, c@c msg_id=<1@a> subject=one two three \
             last_reply=250 queued",
        ],
    );
    check(
        "sip",
        &[(
            true,
            b"ACK sip:a SIP/2.0\r\nSubject: folded\r\n\tover lines\r\nCSeq: 1\r\n ACK\r\n\r\n",
        )],
        &[
            "sip @0 trans_depth=0 method=ACK uri=sip:a seq=1 ACK subject=folded over lines \
           version=SIP/2.0",
        ],
    );
}
