//! Link types: numbers in files, numbers in libpcap, names in messages.
//!
//! A capture file holds a LINKTYPE_ number; libpcap compiles filters for a DLT_ number. They
//! are the same for all but a few that had different DLT_ numbers on different systems.

use flowpin_packet::LinkType;

/// The type that a LINKTYPE_ number in a capture stands for.
pub const fn link_type(number: u16) -> LinkType {
    match number {
        0 => LinkType::Null,
        1 => LinkType::Ethernet,
        6 => LinkType::TokenRing,
        7 => LinkType::ArcnetBsd,
        9 => LinkType::Ppp,
        10 => LinkType::Fddi,
        // 11, 12 and 14 are DLT_ numbers that old programs wrote.
        11 | 100 => LinkType::AtmRfc1483,
        12 | 14 | 101 => LinkType::Raw,
        50 => LinkType::PppSerial,
        51 => LinkType::PppEther,
        104 => LinkType::CiscoHdlc,
        105 => LinkType::Ieee80211,
        107 => LinkType::FrameRelay,
        108 => LinkType::Loop,
        113 => LinkType::LinuxSll,
        117 => LinkType::Pflog,
        119 => LinkType::Ieee80211Prism,
        122 => LinkType::IpOverFc,
        127 => LinkType::Ieee80211Radiotap,
        129 => LinkType::ArcnetLinux,
        163 => LinkType::Ieee80211Avs,
        178 => LinkType::JuniperEther,
        192 => LinkType::Ppi,
        228 => LinkType::Ipv4,
        229 => LinkType::Ipv6,
        239 => LinkType::Nflog,
        276 => LinkType::LinuxSll2,
        _ => LinkType::Unsupported,
    }
}

/// The LINKTYPE_ number to write for a type; none for [`LinkType::Unsupported`].
pub const fn link_number(link: LinkType) -> Option<u16> {
    Some(match link {
        LinkType::Null => 0,
        LinkType::Ethernet => 1,
        LinkType::TokenRing => 6,
        LinkType::ArcnetBsd => 7,
        LinkType::Ppp => 9,
        LinkType::Fddi => 10,
        LinkType::AtmRfc1483 => 100,
        LinkType::Raw => 101,
        LinkType::PppSerial => 50,
        LinkType::PppEther => 51,
        LinkType::CiscoHdlc => 104,
        LinkType::Ieee80211 => 105,
        LinkType::FrameRelay => 107,
        LinkType::Loop => 108,
        LinkType::LinuxSll => 113,
        LinkType::Pflog => 117,
        LinkType::Ieee80211Prism => 119,
        LinkType::IpOverFc => 122,
        LinkType::Ieee80211Radiotap => 127,
        LinkType::ArcnetLinux => 129,
        LinkType::Ieee80211Avs => 163,
        LinkType::JuniperEther => 178,
        LinkType::Ppi => 192,
        LinkType::Ipv4 => 228,
        LinkType::Ipv6 => 229,
        LinkType::Nflog => 239,
        LinkType::LinuxSll2 => 276,
        LinkType::Unsupported => return None,
    })
}

/// The name and description of a LINKTYPE_ number, as libpcap knows them.
pub fn link_name(number: u16) -> String {
    let dlt = pcap::Linktype(dlt(number));
    match (dlt.get_name(), dlt.get_description()) {
        (Ok(name), Ok(description)) => format!("{name}, {description}"),
        (Ok(name), Err(_)) => name,
        _ => "unknown".to_owned(),
    }
}

/// libpcap's DLT_ number for a LINKTYPE_ number.
pub(crate) const fn dlt(number: u16) -> i32 {
    match number {
        12 | 14 | 101 => 12, // DLT_RAW
        100 => 11,           // DLT_ATM_RFC1483
        102 => 15,           // DLT_SLIP_BSDOS
        103 => 16,           // DLT_PPP_BSDOS
        106 => 19,           // DLT_ATM_CLIP
        same => same as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkType, link_name, link_number, link_type};

    /// What is written must be read back as the same type.
    #[test]
    fn every_type_that_can_be_written_is_read_back() {
        let mut types = 0;
        for number in 0..=u16::MAX {
            if let Some(written) = link_number(link_type(number)) {
                assert_eq!(link_type(written), link_type(number));
                types += 1;
            }
        }
        assert!(types >= 25);
    }

    /// Messages name the type: users know USB_LINUX, not 189.
    #[test]
    fn names_come_from_libpcap() {
        assert!(link_name(189).starts_with("USB_LINUX"));
        assert!(link_name(101).starts_with("RAW"));
        assert_eq!(link_name(0xfff0), "unknown");
    }

    /// The page of the documentation lists exactly the numbers that are read.
    #[test]
    fn the_page_lists_every_link_type() {
        let page = include_str!("../../../docs/user/tunnels.md");
        let (_, section) = page.split_once("\n## Link types\n").unwrap();
        let section = section.split("\n## ").next().unwrap();
        let listed: Vec<u16> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split('|').next())
            .flat_map(|cell| cell.split(','))
            .filter_map(|number| number.trim().parse().ok())
            .collect();
        let read = |number: &u16| link_type(*number) != LinkType::Unsupported;
        assert_eq!(listed.len(), (0..=u16::MAX).filter(read).count());
        assert!(listed.iter().all(read), "{listed:?}");
    }
}
