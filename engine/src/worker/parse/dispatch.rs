//! From the table of parsers to one struct, without dynamic calls: each arm is one parser's code.

/// Makes the struct of all parsers, and what a connection of one of them is, from lines of
/// `Name, field: Type;`. The `$` before the first line is the one of the macro that it makes.
macro_rules! parsers {
    ($d:tt $($name:ident, $field:ident: $parser:ty;)*) => {
        use flowpin_counters::{Loss, Losses};
        use flowpin_memory::Pool;
        use flowpin_parser::{Begin, Buffer, Ends, ParserSetup, SetupError, Successor};
        use flowpin_record::MessageSchema;
        use flowpin_signature::Protocol;

        /// Calls a function of the parser that a handle names, with its number of the connection:
        /// `call!(&mut parsers, handle, closed(at, to_server, sink), else Next::Nothing)`. A vacant
        /// handle gives the last value.
        macro_rules! call {
            (
                &mut $d parsers:expr, $d handle:expr,
                $d function:ident($d($d argument:expr),*), else $d vacant:expr
            ) => {
                match $d handle {
                    $(Handle::$name(one) => {
                        Parser::$d function(&mut $d parsers.$field, one, $d($d argument),*)
                    })*
                    Handle::Vacant => $d vacant,
                }
            };
            (
                &$d parsers:expr, $d handle:expr,
                $d function:ident($d($d argument:expr),*), else $d vacant:expr
            ) => {
                match $d handle {
                    $(Handle::$name(one) => {
                        Parser::$d function(&$d parsers.$field, one, $d($d argument),*)
                    })*
                    Handle::Vacant => $d vacant,
                }
            };
        }
        pub(super) use call;

        /// Which parser reads a protocol, and which of its protocols that is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($name(u16),)*
        }

        /// A connection of one of the parsers.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Handle {
            $($name(u32),)*
            /// Of none at present.
            Vacant,
        }

        /// All parsers of one worker.
        #[derive(Debug)]
        pub(super) struct Parsers {
            $(pub(super) $field: $parser,)*
        }

        impl Kind {
            /// What a connection takes of its shard's memory when it begins.
            pub(super) const fn connection_bytes(self) -> u32 {
                match self {
                    $(Self::$name(_) => <$parser as Parser>::CONNECTION_BYTES,)*
                }
            }

            /// What a connection without room is counted as.
            pub(super) const fn without_room(self) -> Loss {
                match self {
                    $(Self::$name(_) => <$parser as Parser>::WITHOUT_ROOM,)*
                }
            }

            /// What `--parse` calls the messages of a protocol.
            pub(super) fn messages(self, protocol: &str) -> &str {
                let (reads, number) = match self {
                    $(Self::$name(number) => (<$parser as Parser>::PROTOCOLS, number),)*
                };
                reads.get(usize::from(number)).map_or(protocol, |one| one.messages)
            }

            /// Who goes on with a connection that has become something else, and as what.
            pub(super) fn after(successor: Successor) -> Option<(Self, &'static str)> {
                $(if let Some(continues) = <$parser as Parser>::CONTINUES
                    && continues.successor == successor
                {
                    return Some((Self::$name(0), continues.protocol));
                })*
                None
            }
        }

        impl Handle {
            /// The parser's name.
            pub(super) const fn parser(self) -> Option<&'static str> {
                match self {
                    $(Self::$name(_) => Some(stringify!($field)),)*
                    Self::Vacant => None,
                }
            }

            /// As in [`Parser::HOLDS_UNPROVED`].
            #[inline]
            pub(super) const fn holds_unproved(self) -> bool {
                match self {
                    $(Self::$name(_) => <$parser as Parser>::HOLDS_UNPROVED,)*
                    Self::Vacant => false,
                }
            }

            /// What a connection speaks now that its parser has taken over from another one.
            pub(super) fn continues_as(self) -> Option<&'static str> {
                let continues = match self {
                    $(Self::$name(_) => <$parser as Parser>::CONTINUES,)*
                    Self::Vacant => None,
                };
                continues.map(|continues| continues.protocol)
            }

            /// As in [`Parser::ACCEPTS_OTHERS`].
            pub(super) const fn accepts_others(self) -> bool {
                match self {
                    $(Self::$name(_) => <$parser as Parser>::ACCEPTS_OTHERS,)*
                    Self::Vacant => false,
                }
            }
        }

        impl Parsers {
            pub(super) fn new(setup: &ParserSetup) -> std::io::Result<Self> {
                Ok(Self {
                    $($field: Parser::new(setup)?,)*
                })
            }

            /// Which parser reads a protocol; `is_own`: a built-in rule has identified it.
            pub(super) fn kind(&self, protocol: &str, is_own: bool) -> Option<Kind> {
                $(if let Some(number) = Parser::replaces(&self.$field, protocol, is_own) {
                    return Some(Kind::$name(number));
                })*
                if !is_own {
                    return None;
                }
                $(if let Some(number) = Parser::protocol(&self.$field, protocol) {
                    return Some(Kind::$name(number));
                })*
                None
            }

            pub(super) fn begin(
                &mut self,
                kind: Kind,
                begin: Begin,
                ends: impl FnOnce() -> Ends,
            ) -> Option<Handle> {
                match kind {
                    $(Kind::$name(protocol) => {
                        let begin = Begin { protocol, ..begin };
                        Parser::begin(&mut self.$field, begin, ends).map(Handle::$name)
                    })*
                }
            }

            pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
                $(Parser::pools(&mut self.$field, visit);)*
            }

            pub(super) fn losses(&self) -> Losses {
                let mut losses = Losses::default();
                $(losses.add(&Parser::losses(&self.$field));)*
                losses
            }
        }

        /// As in [`Parser::prepare`].
        pub(crate) fn prepare(setup: &mut ParserSetup) -> Result<(), SetupError> {
            $(<$parser as Parser>::prepare(setup)?;)*
            Ok(())
        }

        /// As in [`Parser::warm`].
        pub(crate) fn warm() {
            $(<$parser as Parser>::warm();)*
        }

        /// Their records, and whether those are of grammars.
        pub(crate) fn schemas(setup: &ParserSetup) -> Vec<(bool, &MessageSchema)> {
            let mut all = Vec::new();
            $(
                let own = <$parser as Parser>::schemas(setup).into_iter();
                let is_grammar = <$parser as Parser>::PROTOCOLS.is_empty();
                all.extend(own.map(|schema| (is_grammar, schema)));
            )*
            all
        }

        /// What `--parse` calls their messages.
        pub(crate) fn names(setup: &ParserSetup) -> Vec<&str> {
            [$(<$parser as Parser>::names(setup)),*].concat()
        }

        /// The protocols that identification has from them.
        pub(crate) fn protocols() -> Vec<&'static Protocol> {
            [$(<$parser as Parser>::SIGNATURES),*].concat()
        }

        /// The protocols that they read.
        #[cfg(test)]
        pub(crate) fn reads() -> Vec<flowpin_parser::Reads> {
            [$(<$parser as Parser>::PROTOCOLS),*].concat()
        }

        /// What rules may look at.
        pub(crate) fn buffers() -> Vec<Buffer> {
            [$(<$parser as Parser>::BUFFERS),*].concat()
        }
    };
}

pub(super) use parsers;
