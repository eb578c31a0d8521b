//! Expressions: who uses which variable, calls which function, takes whose address.

use super::Collector;
use super::flow::Node;
use super::statements::is_discarded;
use super::usage::{access, is_counted, is_whole, sink, through};
use crate::clang::{Cursor, Linkage, kind};
use crate::model::{
    Access, AddressTaken, Call, FunctionId, GlobalId, LibraryVariable, LocalUse, MemberBase,
    MemberUse, Nameless, Passed, Place, PointerCall, Reference,
};

/// Where in the tree the walk is.
pub(super) struct Walk<'u> {
    /// In whose body.
    pub(super) function: Option<FunctionId>,
    /// In whose initialiser.
    pub(super) initialises: Option<GlobalId>,
    /// The first byte of the definition at file scope.
    pub(super) definition: Place,
    /// Cursors above, each with the number of the child that leads here.
    pub(super) ancestors: Vec<(Cursor<'u>, usize)>,
}

impl Collector {
    /// Visits a statement or an expression, and all below.
    pub(super) fn walk<'u>(&mut self, cursor: Cursor<'u>, walk: &mut Walk<'u>) {
        self.statement(cursor, walk);
        self.steady_expression(cursor);
        match cursor.kind() {
            kind::DECL_REF => self.name(cursor, walk),
            kind::CALL => self.call(cursor, walk),
            kind::BINARY => self.assignment(cursor),
            kind::VARIABLE => {
                let is_ours = cursor.is_static() || cursor.is_extern();
                if is_ours && cursor.linkage() != Linkage::None || cursor.is_static() {
                    self.variable(cursor, walk.function);
                    return;
                }
                if let Some(initialiser) = cursor.initialiser() {
                    self.initial_flow(&Node::Value(self.key(cursor)), initialiser);
                    self.steady_initialiser(cursor, initialiser);
                }
            }
            kind::FUNCTION => return self.function(cursor),
            kind::DECLARATION => self.statement = cursor.extent(),
            kind::LITERAL => self.nameless(cursor, walk),
            kind::MEMBER_REF => self.member(cursor, walk),
            _ => {}
        }
        if cursor.kind() == kind::RETURN {
            self.returned(cursor, walk);
        }
        for (number, child) in cursor.children().into_iter().enumerate() {
            walk.ancestors.push((cursor, number));
            self.walk(child, walk);
            walk.ancestors.pop();
        }
    }

    /// `(struct T){0}` in an initialiser at file scope, if its address goes to what may write.
    fn nameless(&mut self, cursor: Cursor<'_>, walk: &Walk<'_>) {
        let (None, Some(holder)) = (walk.function, walk.initialises) else {
            return;
        };
        let place = cursor.expanded().and_then(|place| self.files.place(&place));
        if let Some(place) = place.filter(|_| is_held(cursor, &walk.ancestors)) {
            self.model.nameless.push(Nameless { holder, place });
        }
    }

    fn returned(&mut self, cursor: Cursor<'_>, walk: &Walk<'_>) {
        let Some(function) = walk.function else {
            return;
        };
        for value in cursor.children() {
            self.steady_result(function, value);
            for source in self.values(value) {
                self.flows.edge(source, Node::Result(function));
            }
        }
    }

    /// The use of a name.
    fn name(&mut self, cursor: Cursor<'_>, walk: &Walk<'_>) {
        let Some(target) = cursor.referenced() else {
            return;
        };
        let Some(site) = self.site(cursor) else {
            return;
        };
        match target.kind() {
            kind::VARIABLE if has_static_storage(target) => {
                if !self.is_own(target) {
                    return self.library_variable(target.name(), site, walk);
                }
                let global = match self.globals.get(&self.key(target)) {
                    Some(id) => Some(*id),
                    None => self.variable(target, walk.function),
                };
                let Some(global) = global else {
                    return;
                };
                let access = access(cursor, &walk.ancestors);
                let is_address = access == Access::Address;
                let sink = is_address.then(|| sink(self, &walk.ancestors));
                self.reference(Reference {
                    global,
                    inside: walk.function,
                    initialises: walk.initialises,
                    access,
                    is_counted: access == Access::Update && is_counted(cursor, &walk.ancestors),
                    is_whole: is_whole(&walk.ancestors),
                    through: through(cursor, &walk.ancestors),
                    sink,
                    site,
                    unit: self.unit,
                });
            }
            kind::FUNCTION => {
                let function = self.function_id(target);
                if is_callee(&walk.ancestors) {
                    return;
                }
                let key = (function, walk.function, site);
                if self.seen.addresses.insert(key) {
                    let taken = AddressTaken {
                        function,
                        inside: walk.function,
                        name: site,
                        definition: walk.definition,
                        sink: sink(self, &walk.ancestors),
                        unit: self.unit,
                    };
                    self.model.addresses.push(taken);
                }
            }
            kind::ENUM_CONSTANT => {
                let of_function = target.parent().and_then(|one| one.parent());
                if let (Some(id), Some(parent)) = (walk.initialises, of_function)
                    && parent.kind() == kind::FUNCTION
                {
                    self.model.globals[id].local_name = Some(target.name());
                }
                self.other_name(&site);
            }
            _ => {
                self.local(cursor, target, &site, walk);
                self.other_name(&site);
            }
        }
    }

    /// A name in a macro that is bound to something else than a global.
    fn other_name(&mut self, site: &crate::model::Site) {
        if let Some(spelled) = site.spelled.filter(|_| site.is_in_macro()) {
            let place = (spelled.file, spelled.offset);
            if self.seen.other_names.insert(place) {
                self.model.other_names.push(place);
            }
        }
    }

    /// The use of a function's own variable, or of a parameter.
    fn local(
        &mut self,
        cursor: Cursor<'_>,
        target: Cursor<'_>,
        site: &crate::model::Site,
        walk: &Walk<'_>,
    ) {
        let is_variable = matches!(target.kind(), kind::VARIABLE | kind::PARAMETER);
        let (Some(function), true) = (walk.function, is_variable) else {
            return;
        };
        let declared = target.expanded();
        self.local_keys.push(self.key(target));
        let access = access(cursor, &walk.ancestors);
        let through = through(cursor, &walk.ancestors);
        let is_whole = access == Access::Read && through.is_none() && target.shape().1;
        let goes = access == Access::Address || is_whole;
        let sink = goes.then(|| sink(self, &walk.ancestors));
        self.model.locals.push(LocalUse {
            function,
            place: site.expanded,
            access,
            through,
            sink,
            declared: declared.and_then(|place| self.files.place(&place)),
            is_steady: true,
        });
    }

    /// The use of a field. What a global holds itself is told by the use of its name.
    fn member(&mut self, cursor: Cursor<'_>, walk: &Walk<'_>) {
        let (Some(function), Some(field)) = (walk.function, cursor.referenced()) else {
            return;
        };
        let Some(place) = cursor.expanded().and_then(|one| self.files.place(&one)) else {
            return;
        };
        let base = match leading(cursor).and_then(|name| name.referenced()) {
            Some(target) if target.kind() == kind::VARIABLE && has_static_storage(target) => {
                let id = self.globals.get(&self.key(target));
                id.filter(|_| target.shape().1)
                    .map_or(MemberBase::Other, |id| MemberBase::Global(*id))
            }
            Some(target) => {
                let declared = target.expanded();
                let declared = declared.and_then(|place| self.files.place(&place));
                declared.map_or(MemberBase::Other, MemberBase::Local)
            }
            None => MemberBase::Other,
        };
        self.model.members.push(MemberUse {
            function,
            place,
            field: field.usr(),
            access: access(cursor, &walk.ancestors),
            base,
        });
    }

    fn library_variable(&mut self, name: String, site: crate::model::Site, walk: &Walk<'_>) {
        let key = (name.clone(), walk.function, site);
        if self.seen.library_variables.insert(key) {
            self.model.library_variables.push(LibraryVariable {
                name,
                inside: walk.function,
                site,
            });
        }
    }

    fn call(&mut self, cursor: Cursor<'_>, walk: &Walk<'_>) {
        let arguments = cursor.arguments();
        let Some(callee) = cursor.children().first().copied() else {
            return;
        };
        let named = named(callee);
        let function = named.and_then(|name| name.referenced());
        let function = function.filter(|target| target.kind() == kind::FUNCTION);
        if let (Some(name), Some(function)) = (named, function) {
            let callee = self.function_id(function);
            let Some(site) = self.site(name) else {
                return;
            };
            if self.seen.calls.insert((callee, walk.function, site)) {
                self.model.calls.push(Call {
                    caller: walk.function,
                    callee,
                    name: site,
                    argument_count: arguments.len(),
                    end: cursor.extent().map_or(0, |(_, end)| end.offset as usize),
                    is_dropped: is_discarded(&walk.ancestors),
                });
            }
            for (number, argument) in arguments.iter().enumerate() {
                for source in self.values(*argument) {
                    self.flows.edge(source, Node::Parameter(callee, number));
                }
            }
            return;
        }
        let Some(place) = cursor.expanded().and_then(|place| self.files.place(&place)) else {
            return;
        };
        let passed = arguments.iter().map(|one| self.values(*one)).collect();
        let number = self.model.pointer_calls.len();
        let sources = self.values(callee);
        self.flows.pointer_call(number, sources, passed);
        self.model.pointer_calls.push(PointerCall {
            caller: walk.function,
            place,
            passed: arguments.iter().map(|one| passed_as(*one)).collect(),
            text: named.map_or_else(|| callee.name(), |name| name.name()),
            targets: Vec::new(),
        });
    }

    fn assignment(&mut self, cursor: Cursor<'_>) {
        if cursor.binary_operator() != ASSIGN {
            return;
        }
        let children = cursor.children();
        let [left, right] = children.as_slice() else {
            return;
        };
        let sources = self.values(*right);
        for target in self.values(*left) {
            for source in &sources {
                self.flows.edge(source.clone(), target.clone());
            }
        }
    }
}

/// How an argument is passed.
fn passed_as(argument: Cursor<'_>) -> Passed {
    let mut inner = argument;
    while let (kind::PAREN | kind::UNEXPOSED | kind::CAST, [.., child]) =
        (inner.kind(), inner.children().as_slice())
    {
        inner = *child;
    }
    match inner.kind() {
        clang_sys::CXCursor_IntegerLiteral => Passed::Literal,
        _ => Passed::of(&argument.type_info().canonical),
    }
}

/// clang's number of `=`.
pub(super) const ASSIGN: u32 = 22;

pub(super) fn has_static_storage(variable: Cursor<'_>) -> bool {
    variable.is_static()
        || variable.is_extern()
        || variable
            .parent()
            .is_some_and(|parent| parent.kind() == kind::UNIT)
}

/// The name inside parentheses, implicit conversions and `*`.
pub(super) fn named(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    match cursor.kind() {
        kind::DECL_REF | kind::MEMBER_REF => Some(cursor),
        kind::PAREN | kind::UNEXPOSED | kind::UNARY => {
            cursor.children().first().copied().and_then(named)
        }
        _ => None,
    }
}

/// The name with which an expression begins that names a field.
fn leading(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let children = cursor.children();
    match cursor.kind() {
        kind::DECL_REF => Some(cursor),
        kind::MEMBER_REF | kind::PAREN | kind::UNEXPOSED | kind::UNARY | kind::ARRAY_SUBSCRIPT => {
            children.first().copied().and_then(leading)
        }
        kind::CAST => children.last().copied().and_then(leading),
        _ => None,
    }
}

/// Whether a pointer through which it can be written is made of an object without a name.
fn is_held(cursor: Cursor<'_>, ancestors: &[(Cursor<'_>, usize)]) -> bool {
    let mut is_held = false;
    for (above, _) in ancestors.iter().rev() {
        match above.kind() {
            kind::PAREN | kind::UNEXPOSED | kind::CAST | kind::UNARY => {}
            kind::MEMBER_REF | kind::ARRAY_SUBSCRIPT => {}
            _ => break,
        }
        // What only reads through the last pointer that is made cannot write.
        if above.shape().1 {
            is_held = !above.points_to_const();
        }
    }
    is_held && !cursor.type_info().is_const
}

/// Whether the name is what a call calls.
fn is_callee(ancestors: &[(Cursor<'_>, usize)]) -> bool {
    for (cursor, number) in ancestors.iter().rev() {
        match cursor.kind() {
            kind::CALL => return *number == 0,
            kind::PAREN | kind::UNEXPOSED | kind::UNARY => {}
            _ => return false,
        }
    }
    false
}
