//! The words of EVE JSON, padded so that writing one is one move.

use crate::text::Word;
use flowpin_packet::{TcpFlags, TunnelKind};
use flowpin_record::{Confidence, ConnState, EndReason, FlowState, TcpState, eve_protocol_name};

/// The word of an enum's variant.
#[inline]
pub(super) fn word(table: &'static [Word], index: usize) -> &'static Word {
    table.get(index).unwrap_or(&EMPTY)
}

const EMPTY: Word = Word::new("");

macro_rules! words {
    ($($(#[$meta:meta])* $table:ident: $name:ident of $type:ident { $($variant:ident)* })*) => {
        $($(#[$meta])*
        pub(super) static $table: [Word; [$($type::$variant),*].len()] = {
            let mut table = [EMPTY; [$($type::$variant),*].len()];
            $(table[$type::$variant as usize] = Word::new($type::$variant.$name());)*
            table
        };
        // The compiler refuses a list that lacks a variant.
        const _: fn($type) = |value| match value { $($type::$variant)|* => () };)*

        /// Every table with the words that are to be in it, for the test.
        #[cfg(test)]
        fn all() -> Vec<(&'static [Word], Vec<&'static str>)> {
            vec![$((&$table[..], vec![$($type::$variant.$name()),*])),*]
        }
    };
}

words! {
    /// `flowpin.conn_state`.
    CONN_STATES: name of ConnState { S0 S1 SF REJ S2 S3 RSTO RSTR RSTOS0 RSTRH SH SHR OTH }
    /// `flow.state`.
    FLOW_STATES: name of FlowState { New Established Closed }
    /// `tcp.state`.
    TCP_STATES: name of TcpState {
        None SynSent SynRecv Established FinWait1 FinWait2 LastAck CloseWait Closing TimeWait Closed
    }
    /// `flow.reason`.
    EVE_REASONS: eve_name of EndReason { Timeout Closed Reused Evicted EndOfInput Interim }
    /// `flowpin.reason`.
    END_REASONS: name of EndReason { Timeout Closed Reused Evicted EndOfInput Interim }
    /// `flowpin.app_confidence`.
    CONFIDENCES: name of Confidence { Likely Sure }
}

/// `tunnel.kind`.
pub(super) static TUNNELS: [Word; TunnelKind::ALL.len()] = {
    let mut table = [EMPTY; TunnelKind::ALL.len()];
    let mut index = 0;
    while index < table.len() {
        let kind = TunnelKind::ALL[index];
        table[kind as usize] = Word::new(kind.name());
        index += 1;
    }
    table
};

/// `proto`: the name, or three digits where there is none.
pub(super) static PROTOCOLS: [Word; 256] = {
    let mut table = [EMPTY; 256];
    let mut protocol = 0_u8;
    loop {
        table[protocol as usize] = match eve_protocol_name(protocol) {
            Some(name) => Word::new(name),
            None => {
                let digits = [
                    b'0' + protocol / 100,
                    b'0' + protocol / 10 % 10,
                    b'0' + protocol % 10,
                ];
                match core::str::from_utf8(&digits) {
                    Ok(digits) => Word::new(digits),
                    Err(_) => EMPTY,
                }
            }
        };
        if protocol == u8::MAX {
            break table;
        }
        protocol += 1;
    }
};

/// The fields of a set of TCP control bits (`,"syn":true,"ack":true`) and how long they are.
#[inline]
pub(super) fn flag_fields(flags: TcpFlags) -> (&'static [u8; FLAG_FIELDS_LEN], usize) {
    match FLAG_FIELDS.get(usize::from(flags.0)) {
        Some((text, len)) => (text, usize::from(*len)),
        None => (&[0; FLAG_FIELDS_LEN], 0),
    }
}

const FLAG_FIELDS_LEN: usize = 88;

/// In Suricata's order, which is not that of the bits.
const FLAG_NAMES: [(&[u8; 3], TcpFlags); 8] = [
    (b"syn", TcpFlags::SYN),
    (b"fin", TcpFlags::FIN),
    (b"rst", TcpFlags::RST),
    (b"psh", TcpFlags::PSH),
    (b"ack", TcpFlags::ACK),
    (b"urg", TcpFlags::URG),
    (b"ecn", TcpFlags::ECE),
    (b"cwr", TcpFlags::CWR),
];

static FLAG_FIELDS: [([u8; FLAG_FIELDS_LEN], u8); 256] = {
    let mut table = [([0; FLAG_FIELDS_LEN], 0); 256];
    let mut flags = 0;
    while flags < 256 {
        let (mut text, mut len, mut bit) = ([0; FLAG_FIELDS_LEN], 0, 0);
        while bit < FLAG_NAMES.len() {
            let ([a, b, c], flag) = FLAG_NAMES[bit];
            if flags & flag.0 as usize != 0 {
                let field = [b',', b'"', *a, *b, *c, b'"', b':', b't', b'r', b'u', b'e'];
                let mut letter = 0;
                while letter < field.len() {
                    text[len] = field[letter];
                    (letter, len) = (letter + 1, len + 1);
                }
            }
            bit += 1;
        }
        table[flags] = (text, len as u8);
        flags += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::{PROTOCOLS, TUNNELS, all, flag_fields, word};
    use crate::text::written;
    use flowpin_packet::{TcpFlags, TunnelKind};
    use flowpin_record::eve_protocol_name;

    /// A word that is too long would be cut silently.
    #[test]
    fn no_word_is_cut() {
        for (table, names) in all() {
            for (word, name) in table.iter().zip(names) {
                assert_eq!(written(|line| line.put_word(word)), name);
            }
        }
        for kind in TunnelKind::ALL {
            let word = word(&TUNNELS, *kind as usize);
            assert_eq!(written(|line| line.put_word(word)), kind.name());
        }
        for protocol in 0..=u8::MAX {
            let text = written(|line| line.put_word(&PROTOCOLS[usize::from(protocol)]));
            let name = eve_protocol_name(protocol).map(str::to_owned);
            assert_eq!(text, name.unwrap_or_else(|| format!("{protocol:03}")));
        }
    }

    /// Suricata's order; nothing for a bit that is not set.
    #[test]
    fn flags_are_listed_in_suricatas_order() {
        let text = |flags| {
            let (text, len) = flag_fields(flags);
            String::from_utf8(text[..len].to_vec()).unwrap()
        };
        assert_eq!(text(TcpFlags(0)), "");
        assert_eq!(text(TcpFlags(0x12)), ",\"syn\":true,\"ack\":true");
        assert_eq!(text(TcpFlags(0xff)).len(), 88);
    }
}
