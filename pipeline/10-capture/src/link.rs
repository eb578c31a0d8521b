//! Link types: numbers in files, numbers in libpcap, names in messages.
//!
//! A capture file holds a LINKTYPE_ number; libpcap compiles filters for a DLT_ number. They
//! are the same for all but a few that had different DLT_ numbers on different systems.

use flowpin_packet::LinkType;

/// The LINKTYPE_ number to write for a type; none for [`LinkType::Unsupported`].
pub fn link_number(link: LinkType) -> Option<u16> {
    link.registered().map(|(number, _)| number)
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
    use super::{LinkType, link_name};

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
        let read = |number: &u16| LinkType::of_number(*number) != LinkType::Unsupported;
        assert_eq!(listed.len(), (0..=u16::MAX).filter(read).count());
        assert!(listed.iter().all(read), "{listed:?}");
    }
}
