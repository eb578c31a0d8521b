//! Secure Shell. RFC 4253 §4.2: both sides begin with an identification line.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ssh",
    groups: &[Group::Remote, Group::Encrypted],
    ports: &[22],
    rules: &[Rule::pattern(
        "ssh-identification",
        On::Tcp,
        r"SSH-(1\.\d\d?|2\.0)-[ -~]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn either_side_tells() {
        assert_eq!(client(b"SSH-2.0-OpenSSH_9.6\r\n"), Some("ssh"));
        assert_eq!(server(b"SSH-1.99-Cisco-1.25\n"), Some("ssh"));
    }

    /// RFC 4253 §4.2: a version and a dash come first.
    #[test]
    fn other_lines_do_not() {
        assert_eq!(client(b"SSH-3.0-future\r\n"), None);
        assert_eq!(client(b"SSH is a protocol\r\n"), None);
    }
}
