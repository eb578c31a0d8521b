//! NMEA 0183: sentences of positions and of ships.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nmea",
    groups: &[Group::Things],
    ports: &[10110],
    rules: &[
        Rule::pattern(
            "nmea-sentence",
            On::Tcp,
            r"(\$G[PNLABQ](GGA|RMC|GSV|GSA|GLL|VTG|ZDA|GNS|TXT),|!(AI|BS|AB)VD[MO],[0-9],)",
        ),
        Rule::pattern(
            "nmea-sentence-udp",
            On::Udp,
            r"(\$G[PNLABQ](GGA|RMC|GSV|GSA|GLL|VTG|ZDA|GNS|TXT),|!(AI|BS|AB)VD[MO],[0-9],)",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"$GPGGA,123519,4807.038,N\r\n"), Some("nmea"));
        assert_eq!(
            client(b"!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*24\r\n"),
            Some("nmea")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"$GPGGG,123519,4807.038,N\r\n"), Some("nmea"));
    }
}
