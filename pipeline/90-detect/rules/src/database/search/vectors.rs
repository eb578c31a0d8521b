//! Few patterns, found by comparing many places at once.

use super::grams::{GRAM, Rarity};
use aho_corasick::Span;
use aho_corasick::packed::{Config, Searcher};

/// Some patterns, each by a *needle*: the whole of it, or four bytes that are rare in traffic.
#[derive(Debug)]
pub(super) struct Vectors {
    searchers: Vec<Searcher>,
    needles: Box<[Needle]>,
}

/// In the order of their first two bytes.
#[derive(Clone, Debug)]
struct Needle {
    two: u16,
    pattern: u32,
    /// Where it stands in the pattern.
    offset: usize,
}

impl Vectors {
    /// For patterns of two and three bytes, and for `longer` ones; none if there are none, or so
    /// many that there would be too many places to stop at: more than `searches` times what a
    /// search tells apart.
    pub(super) fn new(
        tiny: &[(u32, &[u8])],
        longer: &[(u32, &[u8])],
        searches: usize,
    ) -> Option<Self> {
        if tiny.len() > SEARCHER_MAX || longer.len() > SEARCHER_MAX * searches {
            return None;
        }
        let (mut searchers, mut needles) = (Vec::new(), Vec::new());
        let some = longer.chunks(SEARCHER_MAX).chain([tiny]);
        for some in some.filter(|some| !some.is_empty()) {
            let mut builder = Config::new().builder();
            let rarity = Rarity::of(some.iter().map(|one| one.1));
            for &(pattern, bytes) in some {
                let range = match bytes.len() {
                    0..GRAM => 0..bytes.len(),
                    _ => {
                        let begin = rarity.rarest(bytes, 1).start;
                        begin..begin + GRAM
                    }
                };
                let offset = range.start;
                let needle = bytes.get(range)?;
                let two = u16::from_le_bytes(*needle.first_chunk()?);
                builder.add(needle);
                needles.push(Needle {
                    two,
                    pattern,
                    offset,
                });
            }
            searchers.push(builder.build()?);
        }
        needles.sort_by_key(|one| one.two);
        (!searchers.is_empty()).then(|| Self {
            searchers,
            needles: needles.into(),
        })
    }

    /// Calls `check` with patterns that may stand in a folded text, and where they would begin.
    pub(super) fn search(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        for searcher in &self.searchers {
            let mut span = Span::from(0..text.len());
            while let Some(found) = searcher.find_in(text, span) {
                self.look(text, found.start(), check);
                span.start = found.start() + 1;
            }
        }
    }

    fn look(&self, text: &[u8], at: usize, check: &mut dyn FnMut(u32, usize)) {
        let two = text.get(at..).and_then(|rest| rest.first_chunk());
        let Some(&two) = two else { return };
        let two = u16::from_le_bytes(two);
        let begin = self.needles.partition_point(|one| one.two < two);
        let needles = self.needles.get(begin..).unwrap_or_default();
        for one in needles.iter().take_while(|one| one.two == two) {
            if let Some(begin) = at.checked_sub(one.offset) {
                check(one.pattern, begin);
            }
        }
    }
}

/// What one search tells apart well.
const SEARCHER_MAX: usize = 64;
