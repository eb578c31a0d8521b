//! DICOM. PS3.8 §9.3.2: an association, the two applications' names in 16 letters each.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dicom",
    groups: &[Group::Trade],
    ports: &[104, 11112],
    rules: &[Rule::check(
        "dicom-association",
        On::Tcp,
        &[
            Lead::start(&[1, 0]).and(6, &[0, 1]).len_min(42),
            Lead::start(&[2, 0]).and(6, &[0, 1]).len_min(42),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be32(2)?;
    let names = look.range(10, 32)?;
    let are_names = names.iter().all(|byte| (b' '..=b'~').contains(byte));
    Answer::when((68..1 << 20).contains(&len) && are_names && look.be16(8)? == 0)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    fn request(letter: u8) -> Vec<u8> {
        let mut bytes = vec![1, 0, 0, 0, 0, 0xc8, 0, 1, 0, 0];
        bytes.extend([letter; 32]);
        bytes.resize(74, 0);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(&request(b'A')), Some("dicom"));
    }

    /// Names are printable.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(&request(7)), Some("dicom"));
    }
}
