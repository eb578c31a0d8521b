//! Beanstalk: commands and their answers on lines.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "beanstalkd",
    groups: &[Group::Messaging],
    ports: &[11300],
    rules: &[
        Rule::pattern(
            "beanstalk-put",
            On::Tcp,
            r"put [0-9]{1,10} [0-9]{1,10} [0-9]{1,10} [0-9]{1,8}\r\n",
        ),
        Rule::pattern(
            "beanstalk-tube",
            On::Tcp,
            r"(use|watch) [!-~]+\r\n(put [0-9]|watch |reserve|ignore )",
        ),
        Rule::pattern(
            "beanstalk-command",
            On::Tcp,
            r"(reserve(-with-timeout [0-9]{1,10})?|list-tubes|peek-(ready|delayed|buried))\r\n",
        ),
        Rule::pattern(
            "beanstalk-answer",
            On::Tcp,
            r"(INSERTED [0-9]{1,20}|WATCHING [0-9]{1,5}|RESERVED [0-9]{1,20} [0-9]{1,10})\r\n",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"put 100 0 60 5\r\nhello\r\n"), Some("beanstalkd"));
        assert_eq!(client(b"watch jobs\r\nreserve\r\n"), Some("beanstalkd"));
        assert_eq!(server(b"INSERTED 12\r\n"), Some("beanstalkd"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"put 100 0 60\r\nhello\r\n"), Some("beanstalkd"));
    }
}
