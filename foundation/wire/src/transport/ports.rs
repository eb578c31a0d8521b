//! The two ports that TCP, UDP, SCTP, DCCP and UDP-Lite all begin with.

/// Source and destination port: all that an ICMP error needs to quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
}

impl Ports {
    /// The ports at the start of a transport header; none if there are not four bytes.
    #[inline]
    pub const fn parse(bytes: &[u8]) -> Option<Self> {
        match bytes.first_chunk() {
            Some(&[a, b, c, d]) => Some(Self {
                source: u16::from_be_bytes([a, b]),
                destination: u16::from_be_bytes([c, d]),
            }),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ports;

    /// Four bytes are enough, three are not.
    #[test]
    fn ports_need_four_bytes() {
        let ports = Ports {
            source: 53,
            destination: 258,
        };
        assert_eq!(Ports::parse(&[0, 53, 1, 2]), Some(ports));
        assert_eq!(Ports::parse(&[0, 53, 1]), None);
    }
}
