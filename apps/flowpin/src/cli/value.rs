//! Values on the command line: the same words as in the configuration file.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use flowpin_config::{ByteSize, Named, Span};

/// One of a short list of words, shown with their meaning in the long help.
pub(super) fn word<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let words = T::ALL
        .iter()
        .map(|&(_, name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(words).try_map(|word| T::from_name(&word))
}

/// `on` or `off`.
pub(super) fn on_off() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

/// What `--parse` takes: whether messages are read, and of which protocols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parse {
    /// Of none.
    Off,
    /// Of all, or of those that settings name.
    On,
    /// Of these.
    Only(Vec<String>),
}

impl Parse {
    /// The protocols, if they are named.
    pub(super) fn protocols(&self) -> Option<Vec<String>> {
        match self {
            Self::Only(names) => Some(names.clone()),
            Self::Off | Self::On => None,
        }
    }
}

/// `on`, `off`, or names with commas between them.
pub(super) fn parse(text: &str) -> Result<Parse, String> {
    match text {
        "on" => Ok(Parse::On),
        "off" => Ok(Parse::Off),
        names => {
            let names: Vec<_> = names.split(',').map(str::trim).map(str::to_owned).collect();
            if names.iter().any(String::is_empty) {
                return Err("needs on, off, or protocols: http,dns".to_owned());
            }
            Ok(Parse::Only(names))
        }
    }
}

/// A number that is not 0.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("needs a number above 0".to_owned()),
        Ok(number) => Ok(number),
    }
}

/// What `--rotate` takes: a time or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rotate {
    /// New files each time the records' time leaves such an interval.
    Every(Span),
    /// A new file before one grows past this.
    Size(ByteSize),
}

pub(super) fn rotate(text: &str) -> Result<Rotate, String> {
    match (text.parse(), text.parse()) {
        (Ok(span), _) => Ok(Rotate::Every(span)),
        (_, Ok(size)) => Ok(Rotate::Size(size)),
        (Err(_), Err(_)) => Err(format!(
            "`{text}` is neither a time nor a size, such as \"1 h\" or \"100 MiB\""
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Rotate, rotate};
    use flowpin_config::{ByteSize, Span};

    /// `m` is minutes and `M` is MiB: the case tells them apart.
    #[test]
    fn rotation_is_by_time_or_by_size() {
        assert_eq!(rotate("5m"), Ok(Rotate::Every(Span(300_000_000_000))));
        assert_eq!(rotate("5M"), Ok(Rotate::Size(ByteSize(5 << 20))));
        assert!(rotate("5").is_err());
        assert!(rotate("daily").is_err());
    }
}
