//! Which variables have values that are made of constants and of the program's arguments alone.
//!
//! Cores start one after another, each with the same arguments: what such a variable holds is the
//! same in each of them. The order of statements, what decides whether one runs, and what pointers
//! alias are left out of regard; the run-time compares what cores have set before packets come.

use super::Collector;
use super::walk::ASSIGN;
use crate::clang::{Cursor, kind};
use crate::classify::{only_reads, same_for_same};
use crate::model::{FunctionId, Model};
use std::collections::{HashMap, HashSet};

/// What has a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Thing {
    /// A variable as a whole, and what it points to.
    Value(String),
    /// A field of a variable.
    Field(String, String),
    /// Any field of a variable.
    Fields(String),
    /// A parameter, as calls pass it.
    Parameter(FunctionId, usize),
    /// What a function leaves behind a parameter that is a pointer.
    Left(FunctionId, usize),
    /// What a function returns.
    Result(FunctionId),
    /// What nothing is known about.
    Unknown,
}

/// What values are made of.
#[derive(Default)]
pub(super) struct Steady {
    /// From what is used to what is made of it.
    feeds: HashMap<Thing, HashSet<Thing>>,
}

impl Steady {
    fn feed(&mut self, from: &[Thing], to: &Thing) {
        for one in from {
            self.feeds
                .entry(one.clone())
                .or_default()
                .insert(to.clone());
        }
    }

    /// A parameter of a definition.
    pub(super) fn parameter(&mut self, function: FunctionId, number: usize, key: String) {
        let value = Thing::Value(key);
        self.feed(&[Thing::Parameter(function, number)], &value);
        self.feed(&[value], &Thing::Left(function, number));
    }

    /// Keys of variables whose values are not known to be the same in all cores.
    pub(super) fn unsteady(mut self, model: &Model) -> HashSet<String> {
        let mut work = vec![Thing::Unknown];
        for (id, function) in model.functions.iter().enumerate() {
            if function.body.is_none() && !same_for_same(&function.name) {
                work.push(Thing::Result(id));
                let left = (0..PARAMETERS_MAX).map(|number| Thing::Left(id, number));
                work.extend(left);
            }
        }
        // What is called by address gets what nobody sees.
        for taken in &model.addresses {
            let count = model.function(taken.function).parameters.len();
            work.extend((0..count).map(|number| Thing::Parameter(taken.function, number)));
        }
        let mut found = HashSet::new();
        while let Some(thing) = work.pop() {
            if found.insert(thing.clone()) {
                work.extend(self.feeds.remove(&thing).into_iter().flatten());
            }
        }
        let keys = found.into_iter().filter_map(|thing| match thing {
            Thing::Value(key) | Thing::Fields(key) => Some(key),
            _ => None,
        });
        keys.collect()
    }
}

/// More parameters than a function without a body is called with.
const PARAMETERS_MAX: usize = 32;

impl Collector {
    /// `=`, `+=`, `++`, a declaration's value, what a call gets, what is returned.
    pub(super) fn steady_expression(&mut self, cursor: Cursor<'_>) {
        let is_set = match cursor.kind() {
            kind::BINARY => cursor.binary_operator() == ASSIGN,
            kind::COMPOUND_ASSIGN => true,
            kind::UNARY => matches!(cursor.unary_operator(), 1..=4),
            kind::ASSEMBLER => return self.steady_assembler(cursor),
            kind::CALL => return self.steady_call(cursor),
            _ => false,
        };
        if is_set && let Some(left) = cursor.children().first() {
            let mut made_of = Vec::new();
            self.ingredients(cursor, &mut made_of);
            self.steady_set(*left, &made_of);
        }
    }

    /// A variable's first value.
    pub(super) fn steady_initialiser(&mut self, variable: Cursor<'_>, value: Cursor<'_>) {
        let mut made_of = Vec::new();
        self.ingredients(value, &mut made_of);
        let key = self.key(variable);
        self.steady.feed(&made_of, &Thing::Value(key));
    }

    /// What a function returns.
    pub(super) fn steady_result(&mut self, function: FunctionId, value: Cursor<'_>) {
        let mut made_of = Vec::new();
        self.ingredients(value, &mut made_of);
        self.steady.feed(&made_of, &Thing::Result(function));
    }

    fn steady_set(&mut self, target: Cursor<'_>, made_of: &[Thing]) {
        if let Some((base, field)) = self.field(target) {
            self.steady.feed(made_of, &Thing::Fields(base.clone()));
            self.steady.feed(made_of, &Thing::Field(base, field));
        } else if let Some(base) = base(target) {
            let key = self.key(base);
            self.steady.feed(made_of, &Thing::Value(key));
        }
    }

    /// The variable, and its field, of an expression that names a field of a variable, or a part of
    /// that.
    fn field(&mut self, cursor: Cursor<'_>) -> Option<(String, String)> {
        let inner = cursor.children().first().copied()?;
        let names_variable = inner.kind() == kind::DECL_REF && !inner.shape().1;
        if cursor.kind() == kind::MEMBER_REF && names_variable {
            let variable = inner.referenced()?;
            return Some((self.key(variable), cursor.referenced()?.usr()));
        }
        let is_part = match cursor.kind() {
            kind::MEMBER_REF | kind::PAREN | kind::UNEXPOSED => !inner.shape().1,
            kind::ARRAY_SUBSCRIPT => base(inner).is_some() && !inner.shape().1,
            // `&v.f`.
            kind::UNARY => cursor.unary_operator() == 5,
            _ => false,
        };
        is_part.then(|| self.field(inner)).flatten()
    }

    fn steady_assembler(&mut self, cursor: Cursor<'_>) {
        for operand in cursor.children() {
            self.steady_set(operand, &[Thing::Unknown]);
        }
    }

    fn steady_call(&mut self, call: Cursor<'_>) {
        let function = call.referenced();
        let function = function.filter(|target| target.kind() == kind::FUNCTION);
        let arguments = call.arguments();
        let Some(function) = function else {
            for argument in arguments {
                self.steady_set(argument, &[Thing::Unknown]);
            }
            return;
        };
        let id = self.function_id(function);
        if self.is_own(function) {
            for (number, argument) in arguments.into_iter().enumerate() {
                let mut made_of = Vec::new();
                self.ingredients(argument, &mut made_of);
                self.steady.feed(&made_of, &Thing::Parameter(id, number));
                if is_address(argument) {
                    self.steady_set(argument, &[Thing::Left(id, number)]);
                }
            }
        } else if !only_reads(&function.name()) {
            let mut made_of = vec![Thing::Result(id)];
            for argument in &arguments {
                self.ingredients(*argument, &mut made_of);
            }
            let parameters = function.arguments();
            for (number, argument) in arguments.into_iter().enumerate() {
                let parameter = parameters.get(number);
                let is_read = parameter.is_some_and(|one| one.points_to_const());
                if is_address(argument) && !is_read {
                    self.steady_set(argument, &made_of);
                }
            }
        }
    }

    /// All that an expression's value may depend on.
    fn ingredients(&mut self, cursor: Cursor<'_>, found: &mut Vec<Thing>) {
        match cursor.kind() {
            kind::DECL_REF => {
                let target = cursor.referenced();
                let whole = target.and_then(|target| self.ingredient(target));
                if let Some(Thing::Value(key)) = &whole {
                    found.push(Thing::Fields(key.clone()));
                }
                found.extend(whole);
            }
            kind::MEMBER_REF => {
                if let Some((variable, field)) = self.field(cursor) {
                    found.push(Thing::Value(variable.clone()));
                    found.push(Thing::Field(variable, field));
                    return;
                }
            }
            kind::CALL => {
                let function = cursor.referenced();
                let function = function.filter(|target| target.kind() == kind::FUNCTION);
                if function.is_some_and(|one| OF_THE_CAPTURE.contains(&one.name().as_str())) {
                    return;
                }
                found.push(match function {
                    Some(function) => Thing::Result(self.function_id(function)),
                    None => Thing::Unknown,
                });
            }
            _ => {}
        }
        for child in cursor.children() {
            self.ingredients(child, found);
        }
    }

    fn ingredient(&mut self, target: Cursor<'_>) -> Option<Thing> {
        match target.kind() {
            kind::VARIABLE if target.type_info().is_volatile => Some(Thing::Unknown),
            kind::VARIABLE if super::walk::has_static_storage(target) && !self.is_own(target) => {
                let is_argument = ARGUMENTS.contains(&target.name().as_str());
                (!is_argument).then_some(Thing::Unknown)
            }
            kind::VARIABLE | kind::PARAMETER => Some(Thing::Value(self.key(target))),
            _ => None,
        }
    }
}

/// What is the same whoever asks: all cores have the same capture.
const OF_THE_CAPTURE: &[&str] = &["pcap_datalink", "pcap_snapshot"];

/// Variables of the C library that say what the program was started with.
const ARGUMENTS: &[&str] = &["optarg", "optind", "optopt", "opterr", "environ"];

fn is_address(argument: Cursor<'_>) -> bool {
    let (is_array, is_pointer) = argument.shape();
    is_array || is_pointer
}

/// The variable that an expression names a part of, or points with.
fn base(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let children = cursor.children();
    match cursor.kind() {
        kind::DECL_REF => cursor
            .referenced()
            .filter(|target| matches!(target.kind(), kind::VARIABLE | kind::PARAMETER)),
        kind::MEMBER_REF | kind::ARRAY_SUBSCRIPT | kind::UNARY | kind::PAREN | kind::UNEXPOSED => {
            children.first().copied().and_then(base)
        }
        kind::CAST => children.last().copied().and_then(base),
        // `p + 1`: of the two, the one that is an address.
        kind::BINARY => {
            let mut addresses = children.into_iter().filter(|one| is_address(*one));
            addresses.next().and_then(base)
        }
        _ => None,
    }
}
