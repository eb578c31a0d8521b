//! Options of the command line: what they are called, and how they change settings.

use crate::Settings;
use crate::text::Text;
use std::ffi::OsStr;
use std::path::PathBuf;

/// An option of the command line. The command line reads it, shows it and completes it.
#[derive(Clone, Debug)]
pub struct Flag {
    /// Its name, without dashes.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// The name of its value; if none, the flag alone sets it, and `=off` resets it.
    pub value: Option<&'static str>,
    /// Its help text.
    pub help: &'static str,
    /// How shells complete its value.
    pub hint: Hint,
    /// It may be repeated: its values are a list.
    pub is_list: bool,
    /// Its value may be several, separated by commas.
    pub by_comma: bool,
    /// The possible words of its value, each with its meaning.
    pub choices: Vec<(&'static str, &'static str)>,
    /// The help does not list them, because the value's name does.
    pub hides_choices: bool,
    /// Its value is a file name, which need not be valid UTF-8.
    pub is_path: bool,
    /// That name may be empty.
    pub may_be_empty: bool,
    /// Another option that cannot be combined with it.
    pub conflicts: Option<&'static str>,
    /// The option belongs to another key, and also sets this one.
    pub is_shared: bool,
    /// Its value is that of its key, and so is its default.
    pub(crate) is_plain: bool,
    set: Option<Set>,
}

type Set = fn(&mut Settings, &OsStr) -> Result<(), String>;

/// How shells complete a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    /// Nothing.
    #[default]
    None,
    /// Names of files.
    File,
    /// Names of directories.
    Directory,
    /// Either.
    Path,
}

impl Flag {
    /// An option with a value.
    pub(crate) const fn value(long: &'static str, value: &'static str, help: &'static str) -> Self {
        let mut flag = Self::switch(long, help);
        flag.value = Some(value);
        flag
    }

    /// An option without a value.
    pub(crate) const fn switch(long: &'static str, help: &'static str) -> Self {
        Self {
            long,
            short: None,
            value: None,
            help,
            hint: Hint::None,
            is_list: false,
            by_comma: false,
            choices: Vec::new(),
            hides_choices: false,
            is_path: false,
            may_be_empty: false,
            conflicts: None,
            is_shared: false,
            is_plain: false,
            set: None,
        }
    }

    /// An option that belongs to another key, and also sets this one.
    pub(crate) const fn shared(long: &'static str) -> Self {
        let mut flag = Self::switch(long, "");
        flag.is_shared = true;
        flag
    }

    pub(crate) const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    pub(crate) const fn hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    /// An empty value resets the value in the file.
    pub(crate) const fn or_empty(mut self) -> Self {
        self.may_be_empty = true;
        self
    }

    pub(crate) const fn by_comma(mut self) -> Self {
        (self.is_list, self.by_comma) = (true, true);
        self
    }

    pub(crate) const fn conflicts(mut self, long: &'static str) -> Self {
        self.conflicts = Some(long);
        self
    }

    /// Accepts one of these words, which the name of its value lists.
    pub(crate) fn one_of(mut self, words: &[&'static str]) -> Self {
        self.choices = words.iter().map(|&word| (word, "")).collect();
        self.hides_choices = true;
        self
    }

    /// How it changes settings, if its value is not that of its key.
    pub(crate) const fn by(mut self, set: Set) -> Self {
        self.set = Some(set);
        self
    }

    /// It sets a value of this type.
    pub(crate) fn of<T: Word>(mut self, set: Set) -> Self {
        self.is_path = T::IS_PATH;
        if self.set.is_none() {
            self.is_list |= T::IS_LIST;
            self.hides_choices = T::HIDES_CHOICES;
            self.choices = T::choices();
            self.is_plain = self.value.is_some();
            self.set = Some(set);
        }
        self
    }

    /// Applies a value from the command line: `on` or `off` for an option without a value.
    ///
    /// # Errors
    /// The value is invalid: the reason.
    pub fn set(&self, settings: &mut Settings, text: &OsStr) -> Result<(), String> {
        self.set.map_or(Ok(()), |set| set(settings, text))
    }

    /// As [`Flag::set`], for programs that have no command line to check what the option may be: a
    /// switch is `on` or `off`.
    ///
    /// # Errors
    /// What is wrong with the text, and what to write instead.
    pub fn set_word(&self, settings: &mut Settings, text: &OsStr) -> Result<(), String> {
        let choices: Vec<&str> = match self.value {
            None => vec!["on", "off"],
            Some(_) => self.choices.iter().map(|&(word, _)| word).collect(),
        };
        if !choices.is_empty() && !choices.iter().any(|&word| text == word) {
            return Err(format!("use one of {}", choices.join(", ")));
        }
        if text.is_empty() && !self.may_be_empty {
            return Err("needs a value".to_owned());
        }
        self.set(settings, text)
    }
}

/// A value on the command line.
pub(crate) trait Word: Sized {
    const IS_LIST: bool = false;
    const IS_PATH: bool = false;
    const HIDES_CHOICES: bool = false;

    fn choices() -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn read(text: &OsStr) -> Result<Self, String>;

    /// As it would be written, if there is anything to write.
    fn shown(&self) -> Option<String>;

    /// Sets the value of a key, or adds it to its list.
    fn put(slot: &mut Option<Self>, text: &OsStr) -> Result<(), String> {
        *slot = Some(Self::read(text)?);
        Ok(())
    }
}

impl<T: Word> Word for Vec<T> {
    const IS_LIST: bool = true;
    const IS_PATH: bool = T::IS_PATH;
    const HIDES_CHOICES: bool = T::HIDES_CHOICES;

    fn choices() -> Vec<(&'static str, &'static str)> {
        T::choices()
    }

    fn read(text: &OsStr) -> Result<Self, String> {
        Ok(vec![T::read(text)?])
    }

    fn shown(&self) -> Option<String> {
        let words: Vec<String> = self.iter().filter_map(T::shown).collect();
        (!words.is_empty()).then(|| words.join(","))
    }

    fn put(slot: &mut Option<Self>, text: &OsStr) -> Result<(), String> {
        slot.get_or_insert_default().push(T::read(text)?);
        Ok(())
    }
}

impl Word for PathBuf {
    const IS_PATH: bool = true;

    fn read(text: &OsStr) -> Result<Self, String> {
        Ok(text.into())
    }

    fn shown(&self) -> Option<String> {
        Some(self.display().to_string())
    }
}

impl Word for String {
    fn read(text: &OsStr) -> Result<Self, String> {
        valid(text).map(str::to_owned)
    }

    fn shown(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.clone())
    }
}

impl Word for bool {
    const HIDES_CHOICES: bool = true;

    fn choices() -> Vec<(&'static str, &'static str)> {
        vec![("on", ""), ("off", "")]
    }

    fn read(text: &OsStr) -> Result<Self, String> {
        Ok(text == "on")
    }

    fn shown(&self) -> Option<String> {
        Some(if *self { "on" } else { "off" }.to_owned())
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(
        impl Word for $ty {
            fn read(text: &OsStr) -> Result<Self, String> {
                let max = Self::MAX;
                let number = valid(text)?.parse();
                number.map_err(|_| format!("needs a whole number from 0 to {max}"))
            }

            fn shown(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )* };
}

numbers!(u16, u32, u64);

impl<T: Text> Word for T {
    fn choices() -> Vec<(&'static str, &'static str)> {
        let all = T::CHOICES.iter();
        all.map(|&(_, name, meaning)| (name, meaning)).collect()
    }

    fn read(text: &OsStr) -> Result<Self, String> {
        <T as Text>::read(valid(text)?)
    }

    fn shown(&self) -> Option<String> {
        Some(self.write())
    }
}

fn valid(text: &OsStr) -> Result<&str, String> {
    text.to_str().ok_or_else(|| "is not valid UTF-8".to_owned())
}
