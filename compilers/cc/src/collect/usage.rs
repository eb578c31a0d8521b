//! What an expression does with a variable that it names.

use super::Collector;
use super::statements::is_discarded;
use super::walk::ASSIGN;
use crate::clang::{Cursor, kind};
use crate::model::{Access, Sink, Through};

/// How the variable that `cursor` names is used, by what is around it.
pub(super) fn access(cursor: Cursor<'_>, ancestors: &[(Cursor<'_>, usize)]) -> Access {
    if adds_to_itself(cursor, ancestors).is_some() {
        return Access::Update;
    }
    if ancestors
        .iter()
        .any(|(above, _)| above.kind() == kind::SIZEOF)
    {
        return Access::Unevaluated;
    }
    let mut current = cursor;
    let is_array = |cursor: Cursor<'_>| cursor.shape().0;
    for (above, number) in ancestors.iter().rev() {
        let decays = is_array(current);
        match above.kind() {
            kind::PAREN | kind::UNEXPOSED => {
                // The array-to-pointer conversion itself: what is done with it follows.
                if !decays || is_array(*above) {
                    current = *above;
                }
            }
            kind::CAST if !decays => current = *above,
            kind::MEMBER_REF if current.shape().1 => return Access::Read,
            kind::MEMBER_REF if decays => return Access::Read,
            kind::MEMBER_REF => current = *above,
            kind::ARRAY_SUBSCRIPT if *number == 0 && decays => current = *above,
            kind::ARRAY_SUBSCRIPT => return Access::Read,
            kind::UNARY => return unary(above.unary_operator(), decays),
            kind::COMPOUND_ASSIGN if *number == 0 => return Access::Update,
            kind::BINARY if above.binary_operator() == ASSIGN && *number == 0 => {
                return Access::Write;
            }
            // Operands of assembler may be written.
            kind::ASSEMBLER => return Access::Update,
            _ if decays => return Access::Address,
            _ => return Access::Read,
        }
    }
    if is_array(current) {
        Access::Address
    } else {
        Access::Read
    }
}

/// What is done with the object that the pointer `cursor` names points to; none if it is no
/// pointer, or if a second pointer, or an index, leads on.
pub(super) fn through(cursor: Cursor<'_>, ancestors: &[(Cursor<'_>, usize)]) -> Option<Through> {
    let mut current = cursor;
    let mut path = String::new();
    for (at, (above, number)) in ancestors.iter().enumerate().rev() {
        let access = match above.kind() {
            kind::PAREN | kind::UNEXPOSED | kind::CAST => {
                current = *above;
                continue;
            }
            kind::UNARY if above.unary_operator() == DEREFERENCE => {
                if !path.is_empty() || !cursor.shape().1 {
                    return None;
                }
                path.push('*');
                current = *above;
                continue;
            }
            kind::MEMBER_REF => {
                // The first step follows the pointer; a later one must not follow another.
                if path.is_empty() != current.shape().1 {
                    return None;
                }
                path.push('.');
                path.push_str(&above.name());
                current = *above;
                continue;
            }
            kind::ARRAY_SUBSCRIPT => return None,
            _ if path.is_empty() => return None,
            kind::UNARY => unary(above.unary_operator(), false),
            kind::COMPOUND_ASSIGN if *number == 0 => Access::Update,
            kind::BINARY if above.binary_operator() == ASSIGN && *number == 0 => Access::Write,
            _ if current.shape().0 => Access::Address,
            _ => Access::Read,
        };
        let higher = ancestors.get(..at).unwrap_or_default();
        let is_counted = access == Access::Update && is_discarded(higher);
        return Some(Through {
            path,
            access,
            is_counted,
            is_pointer: current.shape().1,
        });
    }
    None
}

/// clang's number of `*`.
const DEREFERENCE: u32 = 6;

/// Whether an assignment replaces all of the variable, not a part of it.
pub(super) fn is_whole(ancestors: &[(Cursor<'_>, usize)]) -> bool {
    let mut above = ancestors.iter().rev();
    above
        .find(|(one, _)| one.kind() != kind::PAREN)
        .is_some_and(|(one, number)| {
            *number == 0 && one.kind() == kind::BINARY && one.binary_operator() == ASSIGN
        })
}

/// In `n = n + 1`, of both names: how many ancestors the assignment has, which says `n += 1`.
fn adds_to_itself(cursor: Cursor<'_>, ancestors: &[(Cursor<'_>, usize)]) -> Option<usize> {
    let target = cursor.referenced()?.expanded()?;
    let is_plain =
        |one: &&(Cursor<'_>, usize)| matches!(one.0.kind(), kind::PAREN | kind::UNEXPOSED);
    let skip = |end: usize| {
        let below = ancestors.get(..end)?;
        below
            .len()
            .checked_sub(1 + below.iter().rev().take_while(is_plain).count())
    };
    let mut at = skip(ancestors.len())?;
    let (mut above, mut number) = *ancestors.get(at)?;
    if above.kind() != kind::BINARY {
        return None;
    }
    let operator = above.binary_operator();
    if operator == ADD || operator == SUBTRACT && number == 0 {
        at = skip(at)?;
        (above, number) = *ancestors.get(at)?;
        if number == 0 {
            return None;
        }
    } else if number > 0 {
        return None;
    }
    if above.kind() != kind::BINARY || above.binary_operator() != ASSIGN {
        return None;
    }
    let names = |one: Cursor<'_>| {
        let one = within(one);
        let named = one.referenced().and_then(|named| named.expanded());
        one.kind() == kind::DECL_REF && named.as_ref() == Some(&target)
    };
    let children = above.children();
    let [left, right] = children.as_slice() else {
        return None;
    };
    let right = within(*right);
    let operands = right.children();
    let operator = match right.kind() {
        kind::BINARY => right.binary_operator(),
        _ => return None,
    };
    let adds = match operands.as_slice() {
        [first, second] if operator == ADD => names(*first) || names(*second),
        [first, _] if operator == SUBTRACT => names(*first),
        _ => false,
    };
    (adds && names(*left)).then_some(at)
}

/// What parentheses and implicit conversions hold.
fn within(cursor: Cursor<'_>) -> Cursor<'_> {
    match (cursor.kind(), cursor.children().as_slice()) {
        (kind::PAREN | kind::UNEXPOSED, [inner]) => within(*inner),
        _ => cursor,
    }
}

/// clang's numbers of `+` and `-`.
const ADD: u32 = 6;
const SUBTRACT: u32 = 7;

/// Whether what `cursor` names is only added to or taken from, by a statement of its own.
pub(super) fn is_counted(cursor: Cursor<'_>, ancestors: &[(Cursor<'_>, usize)]) -> bool {
    if let Some(at) = adds_to_itself(cursor, ancestors) {
        return is_discarded(ancestors.get(..at).unwrap_or_default());
    }
    for (at, (above, number)) in ancestors.iter().enumerate().rev() {
        let adds = match above.kind() {
            kind::PAREN | kind::UNEXPOSED | kind::MEMBER_REF => continue,
            kind::ARRAY_SUBSCRIPT if *number == 0 => continue,
            kind::UNARY => matches!(above.unary_operator(), 1..=4),
            kind::COMPOUND_ASSIGN => matches!(above.binary_operator(), ADD_ASSIGN | SUB_ASSIGN),
            _ => false,
        };
        let higher = ancestors.get(..at).unwrap_or_default();
        return adds && is_discarded(higher);
    }
    false
}

/// clang's numbers of `+=` and `-=`.
const ADD_ASSIGN: u32 = 26;
const SUB_ASSIGN: u32 = 27;

/// clang's numbers: 1 to 4 are `++` and `--`, 5 is `&`, 6 is `*`.
fn unary(operator: u32, decays: bool) -> Access {
    match operator {
        1..=4 => Access::Update,
        5 => Access::Address,
        6 if decays => Access::Address,
        _ => Access::Read,
    }
}

/// Where an address goes that is taken below `ancestors`.
pub(super) fn sink(collector: &mut Collector, ancestors: &[(Cursor<'_>, usize)]) -> Sink {
    for (above, number) in ancestors.iter().rev() {
        match above.kind() {
            kind::PAREN | kind::UNEXPOSED | kind::CAST | kind::CHOICE => {}
            kind::UNARY if above.unary_operator() == 5 => {}
            kind::MEMBER_REF | kind::ARRAY_SUBSCRIPT => {}
            kind::CALL => {
                let target = above.referenced();
                let target = target.filter(|target| target.kind() == kind::FUNCTION);
                let is_library = target.is_some_and(|target| !collector.is_own(target));
                return Sink::Argument {
                    function: target.map(Cursor::name).unwrap_or_default(),
                    number: *number,
                    is_library,
                };
            }
            kind::BINARY if above.binary_operator() == ASSIGN => return Sink::Stored,
            kind::INIT_LIST => return Sink::Initialiser,
            kind::VARIABLE => return Sink::Stored,
            kind::RETURN => return Sink::Returned,
            _ => return Sink::Used,
        }
    }
    Sink::Initialiser
}
