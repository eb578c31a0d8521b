//! Statements in braces, what may run again, and what leaves it.

use super::Collector;
use super::walk::Walk;
use crate::clang::{Cursor, kind};
use crate::model::{Jump, Repeated, Statement, StatementKind};

impl Collector {
    /// What a statement says about the order of others.
    pub(super) fn statement(&mut self, cursor: Cursor<'_>, walk: &Walk<'_>) {
        let number = cursor.kind();
        if number == kind::BLOCK {
            let is_outermost = walk.ancestors.is_empty();
            for child in cursor.children() {
                self.in_braces(child, walk, is_outermost);
            }
        }
        if is_loop(number) {
            self.repeated(cursor, cursor, walk);
        } else if number == kind::GOTO {
            let label = cursor.children().first().and_then(|one| one.referenced());
            if let Some(label) = label {
                self.repeated(label, cursor, walk);
            }
        } else if number == kind::COMPUTED_GOTO
            && let Some((body, _)) = walk.ancestors.first()
        {
            self.repeated(*body, *body, walk);
        }
        let leaves = [
            kind::RETURN,
            kind::GOTO,
            kind::COMPUTED_GOTO,
            kind::BREAK,
            kind::CONTINUE,
        ];
        if let (true, Some(function)) = (leaves.contains(&number), walk.function)
            && let Some(place) = cursor.expanded().and_then(|one| self.files.place(&one))
        {
            self.model.jumps.push(Jump { function, place });
        }
    }

    fn in_braces(&mut self, cursor: Cursor<'_>, walk: &Walk<'_>, is_outermost: bool) {
        let (Some(function), Some((start, end))) = (walk.function, cursor.extent()) else {
            return;
        };
        let spelled = cursor.spelled_extent();
        let Some(place) = self.files.place(&start) else {
            return;
        };
        let number = cursor.kind();
        let what = match number {
            kind::DECLARATION => StatementKind::Declaration,
            kind::IF => StatementKind::Choice,
            _ if is_loop(number) => StatementKind::Loop,
            100..200 => StatementKind::Expression,
            _ => StatementKind::Other,
        };
        self.model.statements.push(Statement {
            function,
            start: place,
            end: end.offset as usize,
            kind: what,
            is_outermost,
            is_in_macro: spelled != Some((start, end)),
        });
    }

    /// From the first byte of one to after the last of another, if that is not before it.
    fn repeated(&mut self, first: Cursor<'_>, last: Cursor<'_>, walk: &Walk<'_>) {
        let (Some(function), Some((start, _)), Some((_, end))) =
            (walk.function, first.extent(), last.extent())
        else {
            return;
        };
        let end = end.offset as usize;
        if let Some(start) = self.files.place(&start)
            && start.offset < end
        {
            self.model.repeated.push(Repeated {
                function,
                start,
                end,
            });
        }
    }
}

fn is_loop(number: clang_sys::CXCursorKind) -> bool {
    matches!(number, kind::FOR | kind::WHILE | kind::DO)
}

/// Whether an expression below these ancestors is a statement of its own, so that its value is
/// not used.
pub(super) fn is_discarded(ancestors: &[(Cursor<'_>, usize)]) -> bool {
    let Some(((above, number), higher)) = ancestors.split_last() else {
        return false;
    };
    match above.kind() {
        kind::PAREN => is_discarded(higher),
        // `a, b`: the value is that of `b`.
        kind::BINARY if above.binary_operator() == COMMA => *number == 0 || is_discarded(higher),
        // The last value in `({ … })` is used.
        kind::BLOCK => higher
            .last()
            .is_none_or(|(one, _)| one.kind() != kind::STATEMENT_EXPRESSION),
        kind::IF => *number > 0,
        kind::DO => *number == 0,
        kind::FOR | kind::WHILE | kind::CASE | kind::DEFAULT | kind::LABEL => {
            // A block may have any number of children: only these are counted.
            let count = above.children().len();
            count > 1 && number + 1 == count || is_single(*above)
        }
        _ => false,
    }
}

/// clang's number of `,`.
const COMMA: u32 = 33;

/// `default: x++` has one child.
fn is_single(above: Cursor<'_>) -> bool {
    matches!(above.kind(), kind::DEFAULT | kind::LABEL)
}
