//! JA3 and JA3S, fingerprints of hellos (Salesforce, BSD licence): the MD5 of a list of numbers.

use crate::hello::{ClientHello, ServerHello, extensions, is_grease, pairs};
use crate::schema::hex;
use crate::short::Short;
use core::fmt::Write as _;
use md5::{Digest, Md5};

/// The numbers that are hashed. Hellos with longer lists have no fingerprint.
pub(crate) type Numbers = Short<NUMBERS_MAX>;

const NUMBERS_MAX: usize = 600;

/// RFC 8422 §5.1.
const SUPPORTED_GROUPS: u16 = 10;
const POINT_FORMATS: u16 = 11;

/// The client's numbers: version, cipher suites, extensions, groups, point formats; without those
/// that mean nothing (RFC 8701).
pub(crate) fn of_client(hello: &ClientHello<'_>) -> Option<Numbers> {
    let meant = |&one: &u16| !is_grease(one);
    let mut text = Numbers::default();
    let value_of = |wanted| {
        let mut all = extensions(hello.extensions);
        all.find_map(|(kind, value)| (kind == wanted).then_some(value))
    };
    let groups = value_of(SUPPORTED_GROUPS).and_then(|value| value.get(2..));
    let formats = value_of(POINT_FORMATS).and_then(|value| value.get(1..));
    let _ = write!(text, "{},", hello.version);
    list(&mut text, pairs(hello.ciphers).filter(meant));
    text.push(b",");
    let kinds = extensions(hello.extensions).map(|(kind, _)| kind);
    list(&mut text, kinds.filter(meant));
    text.push(b",");
    list(&mut text, pairs(groups.unwrap_or_default()).filter(meant));
    text.push(b",");
    let formats = formats.unwrap_or_default().iter();
    list(&mut text, formats.map(|&one| one.into()));
    is_whole(&text).then_some(text)
}

/// The server's numbers: version, cipher suite, extensions.
pub(crate) fn of_server(hello: &ServerHello<'_>) -> Option<Numbers> {
    let mut text = Numbers::default();
    let _ = write!(text, "{},{},", hello.legacy_version, hello.cipher);
    list(
        &mut text,
        extensions(hello.extensions).map(|(kind, _)| kind),
    );
    is_whole(&text).then_some(text)
}

/// The fingerprint: 32 hexadecimal digits.
pub(crate) fn hash(numbers: &[u8]) -> Short<32> {
    let mut text = Short::default();
    for byte in Md5::digest(numbers) {
        text.push(&hex(byte));
    }
    text
}

fn list(text: &mut Numbers, numbers: impl Iterator<Item = u16>) {
    for (index, number) in numbers.enumerate() {
        let _ = write!(text, "{}{number}", if index == 0 { "" } else { "-" });
    }
}

/// A full text may have lost its end.
fn is_whole(text: &Numbers) -> bool {
    text.get().len() < NUMBERS_MAX
}

#[cfg(test)]
mod tests {
    use super::{hash, of_client, of_server};
    use crate::hello::{ClientHello, ServerHello};

    /// The example in the description of JA3.
    #[test]
    fn the_published_example_comes_out() {
        let numbers = b"769,47-53-5-10-49161-49162-49171-49172-50-56-19-4,0-10-11,23-24-25,0";
        assert_eq!(hash(numbers).get(), b"ada70206e40642a3e4461f35503241d5");
    }

    /// GREASE means nothing, and empty lists leave their commas.
    #[test]
    fn numbers_are_those_of_the_hello() {
        let extensions = [
            &[0x0a, 0x0a, 0, 0, 0, 10, 0, 6, 0, 4, 0x1a, 0x1a, 0, 29][..],
            &[0, 11, 0, 2, 1, 0],
        ];
        let extensions = extensions.concat();
        let mut hello = ClientHello {
            version: 0x0303,
            ciphers: &[0x2a, 0x2a, 0x13, 0x01, 0xc0, 0x2b],
            extensions: &extensions,
            ..ClientHello::default()
        };
        let text = of_client(&hello).unwrap();
        assert_eq!(text.get(), b"771,4865-49195,10-11,29,0");
        hello.extensions = &[];
        assert_eq!(of_client(&hello).unwrap().get(), b"771,4865-49195,,,");
        let many = [0xc0; 400];
        hello.ciphers = &many;
        assert!(of_client(&hello).is_none());
        let answer = ServerHello {
            version: 0x0304,
            legacy_version: 0x0303,
            cipher: 0x1301,
            extensions: &[0, 43, 0, 2, 3, 4],
            ..ServerHello::default()
        };
        assert_eq!(of_server(&answer).unwrap().get(), b"771,4865,43");
    }
}
