//! Addresses as text.

use super::Line;
use super::digits::hex;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

impl Line<'_> {
    /// Appends an address as EVE JSON has it: IPv6 with all zeros, as Suricata writes it.
    #[inline]
    pub(crate) fn put_address_in_full(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.put_ipv4(address),
            IpAddr::V6(address) => self.put_ipv6_in_full(address),
        }
    }

    /// Appends an address in its shortest form (RFC 5952), as Zeek writes it.
    #[inline]
    pub(crate) fn put_address(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.put_ipv4(address),
            IpAddr::V6(address) => self.put_ipv6(address),
        }
    }

    #[inline]
    fn put_ipv4(&mut self, address: Ipv4Addr) {
        let [a, b, c, d] = address.octets();
        for octet in [a, b, c] {
            let (text, len) = octet_and_dot(octet);
            self.put_first(&text, len);
        }
        let (text, len) = octet_and_dot(d);
        self.put_first(&text, len - 1);
    }

    fn put_ipv6_in_full(&mut self, address: Ipv6Addr) {
        let mut text = [b':'; 40];
        for (place, [high, low]) in text.chunks_exact_mut(5).zip(octet_pairs(address)) {
            let ([a, b], [c, d]) = (hex(high), hex(low));
            place.copy_from_slice(&[a, b, c, d, b':']);
        }
        self.put_first(&text, 39);
    }

    fn put_ipv6(&mut self, address: Ipv6Addr) {
        if let Some(mapped) = address.to_ipv4_mapped() {
            self.put(b"::ffff:");
            return self.put_ipv4(mapped);
        }
        let segments = address.segments();
        let (start, len) = longest_zero_run(&segments);
        let mut colon_due = false;
        for (index, &segment) in segments.iter().enumerate() {
            if index == start && len > 1 {
                self.put(b"::");
                colon_due = false;
            }
            if (start..start + len).contains(&index) && len > 1 {
                continue;
            }
            if colon_due {
                self.put(b":");
            }
            self.put_segment(segment);
            colon_due = true;
        }
    }

    /// Appends up to four hexadecimal digits, without leading zeros.
    fn put_segment(&mut self, segment: u16) {
        let [high, low] = segment.to_be_bytes();
        let ([a, b], [c, d]) = (hex(high), hex(low));
        let zeros = (segment | 1).leading_zeros() / 4;
        let text = u32::from_le_bytes([a, b, c, d]) >> (zeros * 8);
        self.put_first(&text.to_le_bytes(), 4 - zeros as usize);
    }
}

/// The address's bytes, two by two.
fn octet_pairs(address: Ipv6Addr) -> impl Iterator<Item = [u8; 2]> {
    address.segments().into_iter().map(u16::to_be_bytes)
}

/// Where the longest run of zero segments starts and how long it is: the first of equals
/// (RFC 5952 §4.2.3).
fn longest_zero_run(segments: &[u16; 8]) -> (usize, usize) {
    let (mut best_start, mut best_len, mut len) = (0, 0, 0);
    for (index, &segment) in segments.iter().enumerate() {
        len = if segment == 0 { len + 1 } else { 0 };
        if len > best_len {
            (best_start, best_len) = (index + 1 - len, len);
        }
    }
    (best_start, best_len)
}

/// An octet's digits and a dot behind them, and how many letters that is.
#[inline]
fn octet_and_dot(octet: u8) -> ([u8; 4], usize) {
    let text = OCTETS.get(usize::from(octet)).copied().unwrap_or_default();
    (text, 2 + usize::from(octet > 9) + usize::from(octet > 99))
}

const OCTETS: [[u8; 4]; 256] = {
    let mut table = [[b'.'; 4]; 256];
    let mut value = 0_u8;
    loop {
        let (hundreds, tens, ones) = (
            b'0' + value / 100,
            b'0' + value / 10 % 10,
            b'0' + value % 10,
        );
        table[value as usize] = match value {
            0..10 => [ones, b'.', b'.', b'.'],
            10..100 => [tens, ones, b'.', b'.'],
            _ => [hundreds, tens, ones, b'.'],
        };
        if value == u8::MAX {
            break table;
        }
        value += 1;
    }
};

#[cfg(test)]
mod tests {
    use crate::text::written;
    use core::net::{IpAddr, Ipv6Addr};
    use proptest::prelude::*;

    proptest! {
        /// Runs of zeros of every length and place, and IPv4: as the standard library writes it.
        #[test]
        fn addresses_read_as_the_standard_library_writes_them(
            segments in any::<[u16; 8]>(), zeros in any::<u8>(), octets in any::<[u8; 4]>(),
        ) {
            let segments: [u16; 8] = core::array::from_fn(|index| {
                if zeros >> index & 1 == 1 { 0 } else { segments[index] >> (zeros & 15) }
            });
            let address = Ipv6Addr::from(segments);
            prop_assert_eq!(written(|line| line.put_address(address.into())), address.to_string());
            let full: Vec<_> = segments.iter().map(|segment| format!("{segment:04x}")).collect();
            let ours = written(|line| line.put_address_in_full(address.into()));
            prop_assert_eq!(ours, full.join(":"));
            let address = IpAddr::from(octets);
            prop_assert_eq!(written(|line| line.put_address(address)), address.to_string());
            prop_assert_eq!(written(|line| line.put_address_in_full(address)), address.to_string());
        }
    }

    /// Mapped, unspecified and loopback addresses, and all octets.
    #[test]
    fn special_addresses_read_as_the_standard_library_writes_them() {
        for text in [
            "::",
            "::1",
            "1::",
            "::ffff:1.2.3.4",
            "2001:db8::1:0:0:1",
            "1:0:2::",
        ] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(
                written(|line| line.put_address(address)),
                address.to_string()
            );
        }
        for octet in 0..=255 {
            let address = IpAddr::from([octet, 0, octet, octet]);
            assert_eq!(
                written(|line| line.put_address(address)),
                address.to_string()
            );
        }
    }
}
