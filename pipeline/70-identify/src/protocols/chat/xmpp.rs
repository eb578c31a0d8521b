//! XMPP. RFC 6120 §4.2: a stream's opening tag.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "xmpp",
    groups: &[Group::Chat],
    ports: &[5222, 5269],
    rules: &[Rule::pattern(
        "xmpp-stream",
        On::Tcp,
        concat!(
            r#"(<\?xml [^>]*>)?\s{0,4}<(stream:stream|open)\s[^>]*(jabber:"#,
            r#"|xmlns=['"]urn:ietf:params:xml:ns:xmpp)"#,
        ),
    )],
};
