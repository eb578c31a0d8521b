//! Records of files that messages carry.

use flowpin_record::{MessageSchema, record};

// From `hostname` on: columns of the transaction or mail that carried the file. Formats with
// columns find them in its own record, by `uid` and `trans_depth`.
record! {
    /// A body, or a part of one or of a mail, that was decoded, hashed or written.
    pub FileRecord, FileNumber, COLUMNS:
    fuid: "fuid", "", FileId,
        "The file's identifier; the transaction's record has it too.";
    source: "source", "", Text,
        "The protocol that carried it.";
    depth: "depth", "", Count,
        "How deep it lies in what carries it: 0 in HTTP; in mails, which of all their parts it is.";
    trans_depth: "trans_depth", "", Count,
        "The transaction that carried it, from 1.";
    analyzers: "analyzers", "", TextSet,
        "What was made of it: `MD5`, `SHA1`, `SHA256`, `EXTRACT`.";
    mime_type: "mime_type", "fileinfo.mimetype", Text,
        "What its first bytes are.";
    filename: "filename", "", Text,
        "The name that the sender gave it.";
    filename_or_path: "", "fileinfo.filename", Text,
        "The name that the sender gave it, or the target's path.";
    duration: "duration", "", Interval,
        "From its first bytes to its last.";
    is_orig: "is_orig", "", Bool,
        "Whether the client sent it.";
    seen_bytes: "seen_bytes", "", Count,
        "Bytes that were seen, decoded.";
    size: "", "fileinfo.size", Count,
        "Its bytes, decoded, with those that are missing in the capture.";
    total_bytes: "total_bytes", "", Count,
        "Bytes that its message announces.";
    missing_bytes: "missing_bytes", "", Count,
        "Bytes that are missing in the capture.";
    overflow_bytes: "overflow_bytes", "", Count,
        "Bytes that were left out of what was made of it: beyond the limits of files.";
    timedout: "timedout", "", Bool,
        "Whether its end was waited for in vain: never, as it ends with its connection.";
    parent_fuid: "parent_fuid", "", FileId,
        "The file that it is a part of: unset.";
    md5: "md5", "fileinfo.md5", Text,
        "MD5 of the bytes (on request).";
    sha1: "sha1", "fileinfo.sha1", Text,
        "SHA-1 of the bytes (on request).";
    sha256: "sha256", "fileinfo.sha256", Text,
        "SHA-256 of the bytes (on request).";
    state: "", "fileinfo.state", Enum,
        "CLOSED: all of it was seen. TRUNCATED: not all, or not all was to be written.";
    gaps: "", "fileinfo.gaps", Bool,
        "Whether bytes are missing.";
    stored: "", "fileinfo.stored", Bool,
        "Whether it was written to a file.";
    tx_id: "", "fileinfo.tx_id", Count,
        "The transaction that carried it, from 0.";
    hostname: "", "http.hostname", Text,
        "Host that the request names.";
    http_port: "", "http.http_port", Count,
        "Port that stands with the host.";
    url: "", "http.url", Uri,
        "The request's target.";
    http_user_agent: "", "http.http_user_agent", Text,
        "The request's User-Agent.";
    xff: "", "http.xff", Text,
        "The request's X-Forwarded-For.";
    http_content_type: "", "http.http_content_type", Text,
        "The response's Content-Type, if it has begun.";
    content_range: "", "http.content_range.raw", Text,
        "The response's Content-Range.";
    http_refer: "", "http.http_refer", Text,
        "The request's Referer.";
    http_method: "", "http.http_method", Text,
        "The request's method.";
    protocol: "", "http.protocol", Text,
        "Version with its name.";
    status: "", "http.status", Count,
        "The response's status, if it has begun.";
    redirect: "", "http.redirect", Text,
        "The response's Location.";
    response_wire_len: "", "http.length", Count,
        "Bytes of the response's body so far, as it was sent.";
    helo: "", "smtp.helo", Text,
        "The name that the mail's client gives.";
    mail_from: "", "smtp.mail_from", Text,
        "The mail's sender in the envelope, in brackets.";
    rcpt_to: "", "smtp.rcpt_to", TextList,
        "The mail's recipients in the envelope, in brackets.";
    date: "", "email.date", Text,
        "The mail's Date.";
    from: "", "email.from", Text,
        "The mail's From.";
    to: "", "email.to=list", Text,
        "The mail's To.";
    cc: "", "email.cc=list", Text,
        "The mail's Cc.";
    msg_id: "", "email.message_id", Text,
        "The mail's Message-ID.";
    subject: "", "email.subject", Text,
        "The mail's Subject.";
    user_agent: "", "email.x_mailer", Text,
        "The program that sent the mail.";
    mail_status: "", "email.status", Text,
        "`PARSE_DONE`: the mail's header was read.";
    received: "", "email.received", TextList,
        "The mail's Received fields.";
    attachment: "", "email.attachment", TextList,
        "The names of the mail's files so far.";
}

/// The schema of these records.
pub static FILES: MessageSchema = MessageSchema::in_file(
    "fileinfo",
    "files",
    "A body, or a part of a mail, that was looked at.",
    &COLUMNS,
)
.sent_as_says(FileNumber::is_orig as usize)
.part_of(FileNumber::tx_id as usize);
