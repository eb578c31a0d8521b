//! From a file's text to rules, each in one line, whose places are known.

/// A rule's text, joined from one or more lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleText {
    pub(crate) text: String,
    /// Where pieces of it stand: offset in the text, line, column of its first character.
    pieces: Vec<(usize, u32, u32)>,
}

impl RuleText {
    fn push(&mut self, piece: &str, line: u32) {
        let trimmed = piece.trim_start();
        let column = piece.len() - trimmed.len() + 1;
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let column = u32::try_from(column).unwrap_or(u32::MAX);
        self.pieces.push((self.text.len(), line, column));
        self.text.push_str(trimmed.trim_end());
    }

    /// Line and column of an offset.
    pub(crate) fn place(&self, at: usize) -> (u32, u32) {
        let next = self.pieces.partition_point(|&(offset, ..)| offset <= at);
        let piece = next.checked_sub(1).and_then(|nth| self.pieces.get(nth));
        let &(offset, line, column) = piece.unwrap_or(&(0, 0, 1));
        let before = self.text.get(offset..at).unwrap_or_default();
        let columns = u32::try_from(before.chars().count()).unwrap_or(u32::MAX);
        (line, column.saturating_add(columns))
    }

    /// The line that an offset lies in, without what joins it to others, indented as it was.
    pub(crate) fn line(&self, at: usize) -> String {
        let next = self.pieces.partition_point(|&(offset, ..)| offset <= at);
        let &(offset, _, column) = next
            .checked_sub(1)
            .and_then(|nth| self.pieces.get(nth))
            .unwrap_or(&(0, 0, 1));
        let end = self
            .pieces
            .get(next)
            .map_or(self.text.len(), |&(end, ..)| end);
        let text = self.text.get(offset..end).unwrap_or_default();
        let indent = " ".repeat(column.saturating_sub(1).min(200) as usize);
        indent + text.trim_end()
    }
}

/// The rules of a text: comments and empty lines are left out; lines that end in a backslash, and
/// those of a rule whose parentheses are open before an indented line, are joined.
pub(crate) fn rules(text: &str) -> Vec<RuleText> {
    let mut rules = Vec::new();
    let mut current = RuleText::default();
    let mut is_continued = false;
    let mut in_comment = false;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if in_comment {
            in_comment = !trimmed.contains("*/");
            continue;
        }
        if !is_continued && trimmed.starts_with("/*") {
            in_comment = !trimmed.contains("*/");
            continue;
        }
        let is_indented = line.starts_with([' ', '\t', ')']);
        let goes_on = is_continued || is_indented && is_open(&current.text);
        if !current.text.is_empty() && !goes_on {
            rules.push(core::mem::take(&mut current));
        }
        if !is_continued && (trimmed.is_empty() || trimmed.starts_with('#')) {
            continue;
        }
        let piece = line.trim_end();
        is_continued = piece.ends_with('\\') && !piece.ends_with("\\\\");
        let piece = if is_continued {
            &piece[..piece.len() - 1]
        } else {
            piece
        };
        if current.text.len() + piece.len() <= RULE_BYTES_MAX {
            current.push(piece, number);
        } else {
            // Too long to be a rule: the reader refuses it by its length, and by its place.
            if current.pieces.is_empty() {
                current.pieces.push((0, number, 1));
            }
            current.text.push_str(&" ".repeat(RULE_BYTES_MAX));
        }
    }
    if !current.text.is_empty() {
        rules.push(current);
    }
    rules
}

/// Whether a rule's options are not closed yet.
fn is_open(text: &str) -> bool {
    text.contains('(') && !text.ends_with(')')
}

/// No rule that people write has a tenth of this.
pub(crate) const RULE_BYTES_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{RULE_BYTES_MAX, rules};

    /// What is too long is refused where it stands.
    #[test]
    fn overlong_rules_keep_their_line() {
        let text = format!("alert ip\n\n{}\n", "x".repeat(RULE_BYTES_MAX + 1));
        let found = rules(&text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].place(0), (3, 1));
    }

    /// Continued lines are one rule, and an offset in it leads to its own line and column.
    #[test]
    fn continued_lines_keep_their_places() {
        let text = "# comment\nalert tcp \\\n   any any\n\nalert ip (\n  msg:\"x\";\n  sid:1;\n)\n";
        let found = rules(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "alert tcp any any");
        let at = found[0].text.find("any").unwrap();
        assert_eq!(found[0].place(at), (3, 4));
        assert_eq!(found[0].line(at), "   any any");
        assert_eq!(found[1].text, "alert ip ( msg:\"x\"; sid:1; )");
        assert_eq!(found[1].place(found[1].text.find("sid").unwrap()), (7, 3));
    }
}
