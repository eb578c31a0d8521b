//! What XML may have at most before it is parsed: the parser compares each attribute of an element
//! with all others of it, and copies the name spaces of each element to those within.

use super::BadDictionary;

/// Refuses XML that would be parsed in a time that grows with the square of its length.
///
/// What is not well-formed is not refused here: the parser names the place.
pub(super) fn check(xml: &str) -> Result<(), BadDictionary> {
    let mut rest = xml.as_bytes();
    let line = |rest: &[u8]| {
        let before = xml.len().saturating_sub(rest.len());
        let before = xml.as_bytes().iter().take(before);
        before
            .filter(|&&byte| byte == b'\n')
            .count()
            .saturating_add(1)
    };
    let mut spaces = 0_usize;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = rest.get(at..).unwrap_or_default();
        let passive = PASSIVE.iter().find(|(begin, _)| rest.starts_with(begin));
        if let Some((_, end)) = passive {
            let end = memchr::memmem::find(rest, end).unwrap_or(rest.len());
            rest = rest.get(end..).unwrap_or_default();
            continue;
        }
        let (len, attributes) = tag(rest);
        let (tag, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        spaces = spaces.saturating_add(memchr::memmem::find_iter(tag, b"xmlns").count());
        if attributes > ATTRIBUTES_MAX || spaces > SPACES_MAX {
            let (count, what, max) = match attributes > ATTRIBUTES_MAX {
                true => (attributes, "attributes of one element", ATTRIBUTES_MAX),
                false => (spaces, "name spaces", SPACES_MAX),
            };
            return Err(BadDictionary::Field {
                line: u32::try_from(line(rest)).unwrap_or(u32::MAX),
                what: format!("{count} {what}, more than the limit of {max}"),
            });
        }
        rest = behind;
    }
    Ok(())
}

/// How far a tag reaches, to the `>` that is in no value, and how many values it has.
fn tag(bytes: &[u8]) -> (usize, usize) {
    let mut quote = None;
    let mut count = 0_usize;
    let end = bytes.iter().position(|&byte| {
        match (quote, byte) {
            (None, b'>') => return true,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(begun), byte) if begun == byte => {
                quote = None;
                count = count.saturating_add(1);
            }
            _ => {}
        }
        false
    });
    (end.unwrap_or(bytes.len()), count)
}

/// What has no attributes, and how it ends.
const PASSIVE: &[(&[u8], &[u8])] = &[(b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>")];

/// Elements of dictionaries in use have up to four.
const ATTRIBUTES_MAX: usize = 256;

/// Dictionaries have none.
const SPACES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::check;

    fn element(count: usize) -> String {
        let attributes: Vec<_> = (0..count).map(|number| format!(" a{number}='>'")).collect();
        format!("<fix>\n<field{}/></fix>", attributes.concat())
    }

    /// The limit is one of an element, whatever its values hold, and not one of the file.
    #[test]
    fn attributes_are_counted_for_each_element() {
        check(&element(256)).unwrap();
        let many = "<field name='=\"' number=\"1'='='\"/>\n".repeat(10_000);
        check(&many).unwrap();
        check(&format!(
            "<!-- {0} --><?x {0} ?><![CDATA[{0}]]>",
            "'='".repeat(9999)
        ))
        .unwrap();
        let error = check(&element(257)).unwrap_err().to_string();
        assert_eq!(
            error,
            "line 2: 257 attributes of one element, more than the limit of 256"
        );
        let nested: String = (0..999).map(|n| format!("<a xmlns:b{n}='c'>")).collect();
        check(&nested).unwrap_err();
    }

    /// What ends in the midst of anything is left to the parser.
    #[test]
    fn broken_xml_is_no_matter() {
        for xml in [
            "",
            "<",
            "<!--",
            "<a b='",
            "<a b='c' <",
            "<?",
            "a>b",
            "<![CDATA[",
        ] {
            check(xml).unwrap();
        }
    }
}
