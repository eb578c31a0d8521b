"""Takes the recording machine's description out of a pcapng file."""

import struct

SECTION, INTERFACE = 0x0A0D0D0A, 1
# Options of each block that are dropped: hardware, operating system, program.
DROPPED = {SECTION: {2, 3, 4}, INTERFACE: {12}}
FIXED = {SECTION: 16, INTERFACE: 8}


def without_machine(data):
    """The same file, little endian as it is written here, without those options."""
    out, at = [], 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + length - 4]
        if kind in DROPPED:
            fixed = FIXED[kind]
            body = body[:fixed] + _kept(body[fixed:], DROPPED[kind])
        out.append(struct.pack("<II", kind, len(body) + 12) + body
                   + struct.pack("<I", len(body) + 12))
        at += length
    return b"".join(out)


def _kept(options, dropped):
    kept, at = b"", 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, at)
        end = at + 4 + (length + 3) // 4 * 4
        if code not in dropped:
            kept += options[at:end]
        at = end
        if code == 0:
            break
    return kept if kept != b"\0\0\0\0" else b""
