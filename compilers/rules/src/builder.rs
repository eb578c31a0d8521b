//! A rule while its options are read: what is there so far, and which buffer is examined.

use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use crate::reputation::Reputation;
use crate::sets::Sets;
use flowpin_rule::{Absent, BufferId, Content, Inspection, Rule, Term, Transform};
use std::path::{Path, PathBuf};

/// Names that get numbers: those of flowbits and the like.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// The number of a name; none if there are too many.
    pub(crate) fn number(&mut self, name: &str) -> Option<u16> {
        let found = self.0.iter().position(|one| one == name);
        let at = found.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        u16::try_from(at).ok()
    }

    pub(crate) fn into_list(self) -> Vec<String> {
        self.0
    }
}

/// Names of a whole rule set.
#[derive(Debug, Default)]
pub(crate) struct AllNames {
    pub(crate) bits: Names,
    pub(crate) host_bits: Names,
    pub(crate) sets: Sets,
    pub(crate) reputation: Reputation,
    /// Patterns or grammars of the user's may bring protocols of any name.
    pub(crate) has_other_protocols: bool,
}

/// Where terms go: an inspection, and if decoded bytes are examined, the term that decodes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    inspection: usize,
    base64: Option<usize>,
}

/// A rule while its options are read.
pub(crate) struct Builder<'a> {
    pub(crate) rule: Rule,
    pub(crate) names: &'a mut AllNames,
    /// Snort 3: names of buffers stand before the contents.
    pub(crate) is_snort3: bool,
    pub(crate) alerts: bool,
    buffer: BufferId,
    /// Of a rule on both directions: whose buffer it is.
    side: Option<bool>,
    /// Whether the next inspection is one of its own: of a buffer that there are many of.
    is_apart: bool,
    /// Transforms of the next inspection.
    transforms: Vec<Transform>,
    /// Where terms go now; none before the first one of a buffer.
    target: Option<Target>,
    /// The last content, and its name in the text: what modifiers change.
    last: Option<(Target, usize)>,
    base64: Option<Target>,
    variables: Vec<String>,
    /// Where the buffer was named of which nothing was asked yet.
    pub(crate) open: Option<usize>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(rule: Rule, names: &'a mut AllNames, is_snort3: bool) -> Self {
        Self {
            rule,
            names,
            is_snort3,
            alerts: false,
            buffer: BufferId::PAYLOAD,
            side: None,
            is_apart: false,
            transforms: Vec::new(),
            target: None,
            last: None,
            base64: None,
            variables: Vec::new(),
            open: None,
        }
    }

    /// The folder of the rule's file.
    pub(crate) fn folder(&self) -> PathBuf {
        let folder = Path::new(&*self.rule.place.file).parent();
        let folder = folder.filter(|one| !one.as_os_str().is_empty());
        folder.unwrap_or(Path::new(".")).to_owned()
    }

    /// What follows examines this buffer.
    pub(crate) fn enter(&mut self, buffer: BufferId, at: usize) {
        self.enter_side(buffer, at, None);
    }

    /// What follows examines this buffer of the client (`true`) or of the server.
    pub(crate) fn enter_side(&mut self, buffer: BufferId, at: usize, side: Option<bool>) {
        // One that is named again may be another one of those.
        self.is_apart = buffer.info().is_many();
        self.side = side;
        self.buffer = buffer;
        self.transforms.clear();
        self.target = None;
        self.last = None;
        self.open = (buffer != BufferId::PAYLOAD).then_some(at);
    }

    /// What follows examines the bytes that were decoded last.
    pub(crate) fn enter_base64(&mut self, word: Word<'_>) -> Result<(), Fault> {
        let Some(target) = self.base64 else {
            return Err(word.fault("base64_data needs a base64_decode before it"));
        };
        self.target = Some(target);
        self.last = None;
        Ok(())
    }

    pub(crate) fn transform(&mut self, word: Word<'_>, transform: Transform) -> Result<(), Fault> {
        if self.buffer == BufferId::PAYLOAD {
            let why = "a transform must follow the name of a buffer";
            return Err(word.fault(why));
        }
        // Behind a content: what follows examines the buffer once more.
        self.target = None;
        self.last = None;
        self.transforms.push(transform);
        Ok(())
    }

    /// The inspection of a buffer, with these transforms.
    fn inspection(
        &mut self,
        (buffer, to_server): (BufferId, Option<bool>),
        transforms: Vec<Transform>,
        is_apart: bool,
    ) -> usize {
        let to_server = match self.rule.header.transactional {
            true => buffer.info().to_server.or(to_server),
            false => None,
        };
        let all = &mut self.rule.inspections;
        let is_it = |one: &Inspection| {
            one.buffer == buffer && one.transforms == transforms && one.to_server == to_server
        };
        let found = all.iter().position(is_it).filter(|_| !is_apart);
        found.unwrap_or_else(|| {
            all.push(Inspection {
                buffer,
                transforms,
                terms: Vec::new(),
                absent: None,
                to_server,
            });
            all.len() - 1
        })
    }

    fn current(&mut self) -> Target {
        if let Some(target) = self.target {
            return target;
        }
        let transforms = self.transforms.clone();
        let is_apart = core::mem::take(&mut self.is_apart);
        let inspection = self.inspection((self.buffer, self.side), transforms, is_apart);
        let target = Target {
            inspection,
            base64: None,
        };
        self.target = Some(target);
        target
    }

    fn terms(&mut self, target: Target) -> Option<&mut Vec<Term>> {
        let terms = &mut self.rule.inspections.get_mut(target.inspection)?.terms;
        match target.base64 {
            None => Some(terms),
            Some(at) => match terms.get_mut(at)? {
                Term::Base64(decoded) => Some(&mut decoded.terms),
                _ => None,
            },
        }
    }

    /// Adds a term to the buffer at hand.
    pub(crate) fn push(&mut self, term: Term) {
        self.open = None;
        let target = match self.last {
            // Behind a content that a modifier has moved: where that is.
            Some((last, _)) if is_relative(&term) && !self.is_in_buffer() => last,
            _ => self.current(),
        };
        let is_content = matches!(term, Term::Content(_));
        let is_base64 = matches!(term, Term::Base64(_));
        let Some(terms) = self.terms(target) else {
            return;
        };
        terms.push(term);
        let at = terms.len() - 1;
        if is_content {
            self.last = Some((target, at));
        }
        if is_base64 && target.base64.is_none() {
            self.base64 = Some(Target {
                base64: Some(at),
                ..target
            });
        }
    }

    /// Adds a term to another buffer, without changing what is at hand.
    pub(crate) fn push_to(&mut self, buffer: BufferId, term: Term) {
        self.push_to_side(buffer, None, term);
    }

    /// The same, of one side.
    pub(crate) fn push_to_side(&mut self, buffer: BufferId, side: Option<bool>, term: Term) {
        let inspection = self.inspection((buffer, side), Vec::new(), false);
        let target = Target {
            inspection,
            base64: None,
        };
        if let Some(terms) = self.terms(target) {
            terms.push(term);
        }
    }

    /// The buffer at hand may be, or has to be, absent.
    pub(crate) fn set_absent(&mut self, absent: Absent) {
        self.open = None;
        let target = self.current();
        if let Some(inspection) = self.rule.inspections.get_mut(target.inspection) {
            inspection.absent = Some(absent);
        }
    }

    /// Whether a buffer with a name is examined.
    pub(crate) fn is_in_buffer(&self) -> bool {
        self.buffer != BufferId::PAYLOAD
    }

    /// The content that a modifier changes.
    pub(crate) fn content(&mut self, option: &RuleOption<'_>) -> Result<&mut Content, Fault> {
        let why = || format!("\"{}\" must follow a content", option.name.text);
        let fault = || option.name.fault(why());
        let (target, at) = self.last.ok_or_else(fault)?;
        match self.terms(target).and_then(|terms| terms.get_mut(at)) {
            Some(Term::Content(content)) => Ok(content),
            _ => Err(fault()),
        }
    }

    /// Moves the last content to the buffer that a modifier names.
    pub(crate) fn move_content(
        &mut self,
        option: &RuleOption<'_>,
        buffer: BufferId,
    ) -> Result<(), Fault> {
        self.content(option)?;
        let Some((target, at)) = self.last else {
            return Ok(());
        };
        let is_payload = |one: &Inspection| one.buffer == BufferId::PAYLOAD;
        let from = self.rule.inspections.get(target.inspection);
        if target.base64.is_some() || !from.is_some_and(is_payload) {
            let why = "the content already belongs to another buffer";
            return Err(option.name.fault(why));
        }
        let Some(terms) = self.terms(target) else {
            return Ok(());
        };
        let term = terms.remove(at);
        let is_emptied = terms.is_empty();
        let inspection = self.inspection((buffer, None), Vec::new(), false);
        let target = Target {
            inspection,
            base64: None,
        };
        if let Some(terms) = self.terms(target) {
            terms.push(term);
            self.last = Some((target, terms.len() - 1));
        }
        if is_emptied {
            self.target = None;
        }
        Ok(())
    }

    /// The variable of this name, which a term before has set.
    pub(crate) fn variable(&self, name: Word<'_>) -> Result<u8, Fault> {
        let found = self.variables.iter().position(|one| one == name.text);
        let number = found.and_then(|at| u8::try_from(at).ok());
        number.ok_or_else(|| {
            let why = "neither a number nor a variable that byte_extract or byte_math has set";
            name.fault(format!("\"{}\" is {why}", name.text))
        })
    }

    /// A new variable, or a known one that gets another value.
    pub(crate) fn new_variable(&mut self, name: Word<'_>) -> Result<u8, Fault> {
        if let Ok(number) = self.variable(name) {
            return Ok(number);
        }
        if self.variables.len() >= VARIABLES_MAX {
            return Err(name.fault(format!("more than {VARIABLES_MAX} variables")));
        }
        self.variables.push(name.text.to_owned());
        let count = u8::try_from(self.variables.len()).unwrap_or(u8::MAX);
        self.rule.variables = count;
        Ok(count - 1)
    }
}

/// Whether a term, but for contents, whose modifiers follow, is relative to the match before it.
fn is_relative(term: &Term) -> bool {
    match term {
        Term::Pcre(pcre) => pcre.relative,
        Term::ByteTest(test) => test.width.relative,
        Term::ByteJump(jump) => jump.width.relative,
        Term::Extract(extract) => extract.width.relative,
        Term::Math(math) => math.width.relative,
        Term::IsDataAt(check) => check.relative,
        Term::Base64(decode) => decode.relative,
        Term::Asn1(check) => check.relative,
        Term::Content(_)
        | Term::Size(_)
        | Term::Number(_)
        | Term::In(_)
        | Term::Written(..)
        | Term::Entropy(_)
        | Term::Time(_) => false,
    }
}

/// Rules have up to four.
const VARIABLES_MAX: usize = 16;
