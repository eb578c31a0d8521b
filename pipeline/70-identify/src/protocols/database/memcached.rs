//! Memcached: text commands and answers; the binary header.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "memcached",
    groups: &[Group::Database],
    ports: &[11211],
    rules: &[
        Rule::pattern(
            "memcached-text",
            On::Tcp,
            concat!(
                r"((set|add|replace|append",
                r"|prepend) [!-~]+ [0-9]{1,10} [0-9]{1,10} [0-9]{1,9}( noreply)? ?\r\n",
                r"|cas [!-~]+ [0-9]{1,10} [0-9]{1,10} [0-9]{1,9} [0-9]{1,20}( noreply)? ?\r\n",
                // Of keys that are numbers, jobs of Beanstalk's are deleted.
                r"|delete [0-9]*[!-/:-~][!-~]*( 0)?( noreply)? ?\r\n",
                r"|(incr|decr|touch) [!-~]+ [0-9]{1,20}( noreply)? ?\r\n",
                r"|gets? [!-~]+( [!-~]+)*\r\n|gats? [0-9]{1,10}( [!-~]+)+\r\n",
                r"|stats( [a-z]+)?\r\n|version\r\n|flush_all( [0-9]{1,10})? noreply\r\n",
                r"|VALUE [!-~]+ [0-9]+ [0-9]+( [0-9]+)?\r\n|STAT pid [0-9]+\r\n",
                r"|(NOT_)?STORED\r\n|TOUCHED\r\n)",
            ),
        ),
        // Errors first, to lines that were no commands.
        Rule::pattern(
            "memcached-error",
            On::Tcp,
            concat!(
                r"((CLIENT_)?ERROR( [ -~]*)?\r\n)+(END\r\n|(NOT_)?(STORED|FOUND)\r\n|DELETED\r\n",
                r"|TOUCHED\r\n|VALUE [!-~]+ [0-9]+ [0-9]+|VERSION [0-9]|(HD|EN|MN)[ \r]|VA [0-9])",
            ),
        ),
        // A meta command's flags are one letter each, some with a word.
        Rule::pattern(
            "memcached-meta",
            On::Tcp,
            concat!(
                r"(ms [!-~]+ [0-9]{1,9}( ([bcfhkqstvxI]|[CDEFJMNORT][!-~]+))* ?\r\n",
                r"|m[ade] [!-~]+( ([bcfhkqstvxI]|[CDEFJMNORT][!-~]+))+ ?\r\n",
                r"|mg [!-~]+( ([bcfhkqstvxI]|[CDEFJMNORT][!-~]+))* ?\r\n",
                r"|VA [0-9]{1,9}( ([bcfhkqstvxWXZ]|[CDEFJMNORT][!-~]+))* ?\r\n)",
            ),
        ),
        Rule::check(
            "memcached-binary",
            On::Tcp,
            &[
                Lead::start(&[0x80]).and(5, &[0, 0, 0]),
                Lead::start(&[0x81]).and(5, &[0]),
            ],
            binary,
        ),
    ],
};

fn binary(look: &Look<'_>) -> Option<Answer> {
    let [_, code, key_high, key_low] = look.array(0)?;
    let extras = look.u8(4)?;
    let body = look.be32(8)?;
    let key = u32::from(u16::from_be_bytes([key_high, key_low]));
    let is_sized = body >= key.saturating_add(u32::from(extras)) && body < 1 << 20 && key <= 250;
    Answer::when(is_sized && code < 0x50 && extras <= 24 && look.be64(16)? < 1 << 32)
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    /// Commands and answers of the text protocol, whichever comes first.
    #[test]
    fn any_command_may_be_the_first() {
        for (to_server, bytes) in [
            (true, b"set k 16 0 9 \r\nsome text\r\n".as_slice()),
            (true, b"cas n 0 0 1 9\r\n7\r\n"),
            (true, b"delete file-of-mine\r\n"),
            (true, b"delete 7a 0 noreply\r\n"),
            (true, b"incr n 2\r\n"),
            (true, b"touch n 60 noreply\r\n"),
            (true, b"gat 60 a b\r\n"),
            (true, b"flush_all 0 noreply\r\n"),
            (true, b"ms a 3 T60 q\r\nxyz\r\n"),
            (true, b"mg a\r\n"),
            (true, b"mg a v q O1\r\n"),
            (true, b"md a q\r\n"),
            (false, b"VALUE n 0 2 9\r\n10\r\nEND\r\n"),
            (false, b"NOT_STORED\r\n"),
            (false, b"VA 3 O1\r\nxyz\r\n"),
            (false, b"ERROR\r\nERROR\r\nVALUE a 0 2\r\nhi\r\nEND\r\n"),
            (false, b"CLIENT_ERROR bad data chunk\r\nERROR\r\nSTORED\r\n"),
        ] {
            let about = bytes.escape_ascii();
            let found = if to_server {
                client(bytes)
            } else {
                server(bytes)
            };
            assert_eq!(found, Some("memcached"), "{about}");
        }
        for bytes in [
            b"delete 42\r\n".as_slice(),
            b"md pictures\r\n",
            b"md my pictures\r\n",
            b"touch file\r\n",
            b"set a b\r\n",
            b"version 2\r\n",
        ] {
            let about = bytes.escape_ascii();
            assert_ne!(client(bytes), Some("memcached"), "{about}");
        }
    }
}
