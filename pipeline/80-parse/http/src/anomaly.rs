//! Violations of HTTP/1, by name.

flowpin_parser::anomalies! {
    NotARequest = "http_not_a_request",
        "Something other than a request where a request should begin.";
    NotAResponse = "http_not_a_response",
        "Something other than a response where a response should begin.";
    BareLineFeed = "http_bare_line_feed", "A line of a head ends without a carriage return.";
    BareReturn = "http_bare_return",
        "A carriage return inside a line of a head: some receivers end the line there.";
    NulByte = "http_nul_byte", "A NUL in a head.";
    ControlByte = "http_control_byte", "A control byte in a head.";
    SpaceInUri = "http_space_in_uri", "A space within the request's target.";
    OddSpaces = "http_odd_spaces",
        "Not exactly one space between the parts of a request or status line.";
    UriMissing = "http_uri_missing", "A request line without a target.";
    MethodOdd = "http_method_odd", "A method with a byte that is not allowed in a token.";
    VersionMissing = "http_version_missing", "A request line without a version.";
    VersionOdd = "http_version_odd", "A version that is not 1.0 or 1.1.";
    VersionChanged = "http_version_changed",
        "A side that changes its version between two messages.";
    StatusOdd = "http_status_odd", "A status that is not a number of three digits from 100 on.";
    HostMissing = "http_host_missing", "A request of HTTP/1.1 without a Host field.";
    HostRepeated = "http_host_repeated", "More than one Host field.";
    HostContradicts = "http_host_contradicts", "The Host field names another host than the target.";
    SpaceBeforeColon = "http_space_before_colon",
        "White space between a field's name and its colon.";
    ColonMissing = "http_colon_missing", "A line of a head without a colon.";
    NameEmpty = "http_name_empty", "A field without a name.";
    NameOdd = "http_name_odd", "A field's name with white space or control bytes inside.";
    Folded = "http_folded", "A field that continues in the next line (obs-fold).";
    FieldIndented = "http_field_indented",
        "A line that begins with a blank behind the first line of a message: it continues no \
         field, and is none (RFC 9112 §2.2).";
    HeadEndOdd = "http_head_end_odd",
        "A line of a head that contains only blanks, carriage returns or NUL bytes: some \
         receivers end the head there.";
    LineTooLong = "http_line_too_long", "A line of a head that is longer than the limit.";
    HeadTooLong = "http_head_too_long", "A head that is longer than the limit.";
    LengthInvalid = "http_length_invalid", "A Content-Length that is not a number.";
    LengthOdd = "http_length_odd",
        "A Content-Length with a sign, leading zeros, or anything else around its digits.";
    LengthList = "http_length_list", "A Content-Length with several values in one field.";
    LengthRepeated = "http_length_repeated", "More than one Content-Length, all the same.";
    LengthsContradict = "http_lengths_contradict", "Content-Lengths that differ.";
    LengthAndChunked = "http_length_and_chunked",
        "Both Content-Length and Transfer-Encoding: receivers may disagree where the body ends.";
    CodingUnknown = "http_coding_unknown", "An unknown Transfer-Encoding.";
    CodingOdd = "http_coding_odd",
        "A Transfer-Encoding with `chunked` in a form that some receivers do not recognise.";
    CodingRepeated = "http_coding_repeated", "More than one Transfer-Encoding field.";
    CodingNotLast = "http_coding_not_last",
        "A Transfer-Encoding in which `chunked` is not the last coding.";
    CodingUnchunked = "http_coding_without_chunked",
        "A request whose Transfer-Encoding does not end in `chunked`: its end is undefined.";
    CodingInOld = "http_coding_in_old_version", "A Transfer-Encoding in an HTTP/1.0 message.";
    BodyForbidden = "http_body_forbidden", "A response that must not have a body gives its length.";
    BodyUnexpected = "http_body_unexpected",
        "Bytes after a response that must not have a body: some receivers read them as one.";
    ChunkSizeInvalid = "http_chunk_size_invalid", "A chunk size that is not a number.";
    ChunkSizeOdd = "http_chunk_size_odd",
        "A chunk size with anything but hexadecimal digits, an extension and a line end.";
    ChunkLineFeed = "http_chunk_bare_line_feed",
        "A chunk line that ends without a carriage return.";
    ChunkReturn = "http_chunk_bare_return", "A carriage return inside a chunk line.";
    ChunkEndMissing = "http_chunk_end_missing", "No line end after the bytes of a chunk.";
    ExtensionTooLong = "http_chunk_extension_too_long", "A chunk extension longer than the limit.";
    TrailerForbidden = "http_trailer_forbidden",
        "A field in a trailer that affects how the message is parsed.";
    BodyCut = "http_body_cut", "The stream ended inside a body.";
    HeadCut = "http_head_cut", "The stream ended inside a head.";
    MissingBytes = "http_missing_bytes",
        "Bytes are missing where a message would begin or continue.";
    EarlyResponse = "http_early_response", "A response was complete before its request was.";
    BodyOmitted = "http_body_omitted",
        "A request waited with its body, got a final response and omitted the body: some \
         receivers read the next request as the body.";
    UpgradeUnasked = "http_upgrade_unasked", "A switch of protocols that no request asked for.";
    EncodingUnknown = "http_encoding_unknown",
        "An unknown content coding or transfer coding, or a known one among other bytes.";
    EncodingsTooMany = "http_encodings_too_many", "More than five content and transfer codings.";
    AuthUnknown = "http_auth_unknown", "An authorization scheme that is not a known one.";
    EncodingList = "http_encoding_list",
        "A list of content codings: some receivers decode only one of them, or none.";
    GzipMembers = "http_gzip_members",
        "A gzip body of several members: some receivers read only the first.";
    EncodingInvalid = "http_encoding_invalid", "A body that is not encoded as its head declares.";
    ChecksumWrong = "http_checksum_wrong",
        "A decoded body that does not match the checksum or length after its encoded bytes.";
    EncodingCut = "http_encoding_cut", "A complete body in which the encoding does not end.";
    ExpandsTooMuch = "http_expands_too_much", "A body that expands beyond the allowed ratio.";
    DecodedTooLong = "http_decoded_too_long", "A decoded body longer than the limit.";
}

#[cfg(test)]
mod tests {
    use super::Anomaly;

    /// Every name in a record is explained in the user documentation.
    #[test]
    fn every_anomaly_is_in_the_documentation() {
        let page = include_str!("../../../../docs/user/http.md");
        for anomaly in Anomaly::ALL {
            let row = format!("| `{}` | {} |", anomaly.name(), anomaly.explanation());
            assert!(page.contains(&row), "{row}");
        }
    }
}
