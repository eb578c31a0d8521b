//! The whole numbers of which a record consists, if it consists of nothing else.

use super::cursor::{Cursor, is_array, kind};
use super::owned;
use clang_sys::{
    CXType, CXType_Char_U, CXType_FunctionNoProto, CXType_FunctionProto, CXType_Int128,
    CXType_Pointer, CXType_Record, clang_getArrayElementType, clang_getCanonicalType,
    clang_getPointeeType, clang_getTypeDeclaration, clang_getTypeSpelling,
    clang_isConstQualifiedType, clang_isVolatileQualifiedType,
};
use std::collections::HashSet;

/// A number in a record, or an array of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// How the record's name continues: `.frames.sizes`.
    pub(crate) path: String,
    /// The type of the number, or of the array's elements.
    pub(crate) element: String,
    pub(crate) is_array: bool,
}

/// A record with more numbers than this is none of counters.
const LEAVES_MAX: usize = 256;

/// All numbers of a record; none if there is anything else in it, or in a record inside it.
pub(super) fn leaves(record: CXType) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut budget = RECORDS_MAX;
    let is_plain = record.kind == CXType_Record && walk(record, "", &mut found, &mut budget);
    if is_plain { found } else { Vec::new() }
}

/// Nor is one with more records in it, which may be empty.
const RECORDS_MAX: usize = 1024;

fn walk(given: CXType, path: &str, found: &mut Vec<Leaf>, budget: &mut usize) -> bool {
    let canonical = canonical(given);
    if canonical.kind == CXType_Record {
        return !is_qualified(canonical) && walk_record(canonical, path, found, budget);
    }
    let mut element = canonical;
    let mut is_plain = !is_qualified(canonical);
    while is_array(element) {
        // SAFETY: a type of a live unit; the function only reads.
        element = self::canonical(unsafe { clang_getArrayElementType(element) });
        is_plain &= !is_qualified(element);
    }
    found.push(Leaf {
        path: path.to_owned(),
        // SAFETY: as above.
        element: owned(unsafe { clang_getTypeSpelling(element) }),
        is_array: is_array(canonical),
    });
    let is_number = matches!(element.kind, CXType_Char_U..=CXType_Int128);
    is_plain && is_number && found.len() <= LEAVES_MAX
}

fn walk_record(record: CXType, path: &str, found: &mut Vec<Leaf>, budget: &mut usize) -> bool {
    // Records that hold each two of another kind, and these again, are many.
    let Some(left) = budget.checked_sub(1) else {
        return false;
    };
    *budget = left;
    // SAFETY: a type of a live unit; the function only reads.
    let declaration = Cursor::of(unsafe { clang_getTypeDeclaration(record) });
    if declaration.kind() != kind::STRUCT {
        return false;
    }
    let (mut records, mut named) = (0, 0);
    for child in declaration.children() {
        match child.kind() {
            kind::STRUCT | kind::UNION => records += 1,
            kind::FIELD => {
                let ty = child.raw_type();
                named += usize::from(innermost(ty).kind == CXType_Record);
                let name = child.name();
                if name.is_empty() || !walk(ty, &format!("{path}.{name}"), found, budget) {
                    return false;
                }
            }
            _ => {}
        }
    }
    // A record without a name has fields that are not seen here.
    records <= named
}

fn innermost(given: CXType) -> CXType {
    let mut element = canonical(given);
    while is_array(element) {
        // SAFETY: a type of a live unit; the function only reads.
        element = canonical(unsafe { clang_getArrayElementType(element) });
    }
    element
}

fn canonical(given: CXType) -> CXType {
    // SAFETY: a type of a live unit; the function only reads.
    unsafe { clang_getCanonicalType(given) }
}

fn is_qualified(given: CXType) -> bool {
    // SAFETY: a type of a live unit; the function only reads.
    let is_const = unsafe { clang_isConstQualifiedType(given) } != 0;
    // SAFETY: as above.
    is_const || unsafe { clang_isVolatileQualifiedType(given) } != 0
}

/// How a record continues to the first pointer in it; none if it holds no pointer to an object.
/// What is nested deeper than this is taken to hold one.
pub(super) fn first_pointer(given: CXType, depth: u32) -> Option<String> {
    pointer_in(given, depth, &mut HashSet::new())
}

/// `without` are the records that are known to hold none: each is looked into once.
fn pointer_in(given: CXType, depth: u32, without: &mut HashSet<String>) -> Option<String> {
    let inner = innermost(given);
    if inner.kind == CXType_Pointer {
        // SAFETY: a type of a live unit; the function only reads.
        let pointee = canonical(unsafe { clang_getPointeeType(inner) });
        // Code is the same on all cores.
        let is_code = [CXType_FunctionProto, CXType_FunctionNoProto].contains(&pointee.kind);
        return (!is_code).then(String::new);
    }
    if inner.kind != CXType_Record {
        return None;
    }
    if depth == 0 {
        return Some(String::new());
    }
    // SAFETY: as above.
    let declaration = Cursor::of(unsafe { clang_getTypeDeclaration(inner) });
    let name = declaration.usr();
    if without.contains(&name) {
        return None;
    }
    // Records without a name are no fields here.
    let members = [kind::FIELD, kind::STRUCT, kind::UNION];
    let members = declaration
        .children()
        .into_iter()
        .filter(|child| members.contains(&child.kind()));
    // What has a name says more: the records themselves come last.
    let (named, records): (Vec<_>, Vec<_>) = members.partition(|one| one.kind() == kind::FIELD);
    let found = named.into_iter().chain(records).find_map(|member| {
        let rest = pointer_in(member.raw_type(), depth - 1, without)?;
        let is_field = member.kind() == kind::FIELD;
        Some(match (is_field, rest.is_empty()) {
            (false, _) => rest,
            (true, true) => member.name(),
            (true, false) => format!("{}.{rest}", member.name()),
        })
    });
    if found.is_none() {
        without.insert(name);
    }
    found
}
