//! Declarations: variables with static storage, and functions.

use super::Collector;
use super::flow::Node;
use crate::clang::{Cursor, Linkage, RawPlace, kind};
use crate::model::{
    Body, Function, FunctionDeclaration, FunctionId, Global, GlobalDeclaration, GlobalId, Passed,
    Place, Scope, Site,
};
use std::rc::Rc;

impl Collector {
    /// A variable at file scope, or a static or extern one inside `function`; walks its
    /// initialiser.
    pub(super) fn variable(
        &mut self,
        cursor: Cursor<'_>,
        function: Option<FunctionId>,
    ) -> Option<GlobalId> {
        let declaration = self.global_declaration(cursor, function.is_some())?;
        let id = self.global(cursor, function)?;
        let initialiser = cursor.initialiser();
        let ty = cursor.type_info();
        let unit = self.unit;
        let global = &mut self.model.globals[id];
        let is_new = !global.declarations.contains(&declaration);
        let place = declaration.start;
        if !declaration.is_extern || initialiser.is_some() {
            if !global.is_defined {
                global.place = place;
                global.unit = unit;
            }
            global.is_defined = true;
        }
        // An array's length is known from its definition only.
        if global.ty.canonical != ty.canonical && is_new {
            if global.ty.size == 0 && ty.size != 0 {
                global.ty = ty;
            } else if ty.size != 0 {
                global.other_type = Some((ty.spelling, place));
            }
        }
        if is_new {
            global.declarations.push(declaration);
        }
        for child in cursor.children() {
            if child.kind() >= 400 && child.kind() < 500 {
                let attribute = self.attribute(child);
                self.model.globals[id].attributes.extend(attribute);
            }
        }
        if let Some(initialiser) = initialiser {
            self.initialiser(cursor, initialiser, id);
        }
        Some(id)
    }

    fn initialiser(&mut self, cursor: Cursor<'_>, initialiser: Cursor<'_>, id: GlobalId) {
        if let Some((start, end)) = initialiser.extent()
            && let Some(start) = self.files.place(&start)
        {
            self.model.globals[id].initialiser = Some((start, end.offset as usize));
        }
        self.model.globals[id].is_extended |= is_extended(initialiser);
        self.initial_flow(&Node::Value(self.key(cursor)), initialiser);
        self.steady_initialiser(cursor, initialiser);
        let definition = self.model.globals[id].place;
        let mut walk = super::walk::Walk {
            function: None,
            initialises: Some(id),
            definition,
            ancestors: Vec::new(),
        };
        self.walk(initialiser, &mut walk);
    }

    /// The variable's number.
    pub(super) fn global(
        &mut self,
        cursor: Cursor<'_>,
        function: Option<FunctionId>,
    ) -> Option<GlobalId> {
        let key = self.key(cursor);
        if let Some(id) = self.globals.get(&key) {
            return Some(*id);
        }
        let place = self.files.place(&cursor.expanded()?)?;
        let scope = match (cursor.linkage(), function) {
            (Linkage::External, _) => Scope::External,
            (_, Some(function)) => Scope::Local(function),
            _ => Scope::Static,
        };
        let id = self.model.globals.len();
        self.model.globals.push(Global {
            name: cursor.name(),
            scope,
            place,
            is_defined: false,
            declarations: Vec::new(),
            number: self.number,
            ty: cursor.type_info(),
            holds_pointer: cursor.held_pointer(),
            is_thread_local: cursor.is_thread_local(),
            initialiser: None,
            attributes: Vec::new(),
            other_type: None,
            unit: self.unit,
            is_steady: true,
            local_name: None,
            is_extended: false,
        });
        self.globals.insert(key, id);
        Some(id)
    }

    /// What is the same for all declarations of one thing, and for nothing else.
    pub(super) fn key(&self, cursor: Cursor<'_>) -> String {
        let usr = cursor.usr();
        match cursor.linkage() {
            Linkage::External => usr,
            // Two files may be called the same, and a header's statics are one for each unit.
            _ => format!("{}:{usr}", self.unit),
        }
    }

    fn global_declaration(
        &mut self,
        cursor: Cursor<'_>,
        is_local: bool,
    ) -> Option<GlobalDeclaration> {
        let (mut start, mut end) = cursor.extent()?;
        // Of several variables in one statement, libclang says of the first alone where it begins.
        if let (true, Some((first, last))) = (is_local, &self.statement) {
            start = first.clone();
            end.offset = last.offset.saturating_sub(1);
        }
        let spelled = cursor.spelled_extent();
        let name = self.site(cursor)?;
        Some(GlobalDeclaration {
            is_in_macro: name.is_in_macro()
                || spelled.is_none_or(|(first, _)| first.file != start.file),
            start: self.files.place(&start)?,
            end: end.offset as usize,
            name: name.spelled,
            is_extern: cursor.is_extern() && cursor.initialiser().is_none(),
        })
    }

    /// An attribute's text.
    fn attribute(&mut self, cursor: Cursor<'_>) -> Option<String> {
        let (start, end) = cursor.extent()?;
        let text = self.text(&start)?;
        let text = text.get(start.offset as usize..end.offset as usize)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// Whether an attribute, which may come out of a macro, gives numbers of parameters.
    fn numbers_parameters(&mut self, cursor: Cursor<'_>) -> bool {
        let Some((start, _)) = cursor.spelled_extent() else {
            return false;
        };
        let text = self.text(&start).unwrap_or_default();
        let rest = text.get(start.offset as usize..).unwrap_or_default();
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let len = rest.iter().take_while(is_word).count();
        let word = String::from_utf8_lossy(rest.get(..len).unwrap_or_default());
        NUMBERING.contains(&word.trim_matches('_'))
    }

    /// The bytes of a file, of the program or not.
    fn text(&mut self, place: &RawPlace) -> Option<Rc<[u8]>> {
        let path = self.files.directory.join(&place.file);
        if let Some(known) = self.attributed.get(&path) {
            return Some(known.clone());
        }
        let text: Rc<[u8]> = std::fs::read(&path).ok()?.into();
        self.attributed.insert(path, text.clone());
        Some(text)
    }

    /// A function's declaration; walks its body, once.
    pub(super) fn function(&mut self, cursor: Cursor<'_>) {
        let id = self.function_id(cursor);
        let arguments = cursor.arguments();
        let ty = cursor.type_info();
        if let Some(name) = self.site(cursor) {
            let declaration = FunctionDeclaration {
                name,
                is_definition: cursor.is_definition(),
                is_unprototyped: ty.is_unprototyped,
                parameter_count: arguments.len(),
            };
            let declarations = &mut self.model.functions[id].declarations;
            if !declarations.contains(&declaration) {
                declarations.push(declaration);
            }
        }
        for child in cursor.children() {
            if child.kind() >= 400 && child.kind() < 500 {
                let attribute = self.attribute(child);
                let is_numbering = self.numbers_parameters(child);
                let function = &mut self.model.functions[id];
                function.attributes.extend(attribute);
                function.numbers_parameters |= is_numbering;
            }
        }
        if !cursor.is_definition() || self.model.functions[id].body.is_some() {
            return;
        }
        let Some(body) = self.body(cursor) else {
            return;
        };
        let function = &mut self.model.functions[id];
        function.body = Some(body);
        function.number = self.number;
        function.unit = self.unit;
        function.is_variadic = ty.is_variadic;
        function.result = cursor.result_info().spelling;
        let places = arguments.iter().map(|one| one.expanded());
        let places: Vec<_> = places
            .map(|place| place.and_then(|place| self.files.place(&place)))
            .collect();
        let function = &mut self.model.functions[id];
        function.parameter_places = places;
        let types = arguments.iter().map(|one| one.type_info().spelling);
        function.parameters = types.collect();
        let kinds = arguments
            .iter()
            .map(|one| Passed::of(&one.type_info().canonical));
        function.parameter_kinds = kinds.collect();
        let held = arguments.iter().map(|one| one.held_pointer());
        function.parameter_pointers = held.collect();
        function.parameter_names = arguments.iter().map(|one| one.name()).collect();
        for (number, argument) in arguments.iter().enumerate() {
            let from = Node::Parameter(id, number);
            let key = self.key(*argument);
            self.flows.edge(from, Node::Value(key.clone()));
            self.steady.parameter(id, number, key);
        }
        let mut walk = super::walk::Walk {
            function: Some(id),
            initialises: None,
            definition: body.start,
            ancestors: Vec::new(),
        };
        for child in cursor.children() {
            if child.kind() != kind::PARAMETER {
                self.walk(child, &mut walk);
            }
        }
    }

    fn body(&mut self, cursor: Cursor<'_>) -> Option<Body> {
        let (start, end) = cursor.extent()?;
        let start: Place = self.files.place(&start)?;
        let mut children = cursor.children().into_iter();
        let block = children.find(|child| child.kind() == kind::BLOCK);
        let open = block.and_then(|block| {
            let spelled = block.spelled_extent()?.0;
            Some(Site {
                spelled: self.files.place(&spelled),
                expanded: self.files.place(&block.extent()?.0)?,
            })
        });
        Some(Body {
            start,
            end: end.offset as usize,
            open,
        })
    }

    /// The function's number.
    pub(super) fn function_id(&mut self, cursor: Cursor<'_>) -> FunctionId {
        let key = self.key(cursor);
        if let Some(id) = self.functions.get(&key) {
            return *id;
        }
        let id = self.model.functions.len();
        self.model.functions.push(Function {
            name: cursor.name(),
            is_static: cursor.linkage() != Linkage::External,
            unit: self.unit,
            ..Function::default()
        });
        self.functions.insert(key, id);
        id
    }
}

/// Whether an initialiser fills an array without a length, with which a record ends.
fn is_extended(initialiser: Cursor<'_>) -> bool {
    let fields = initialiser.fields();
    let Some(last) = fields.last().filter(|last| last.shape().0) else {
        return false;
    };
    if initialiser.kind() != kind::INIT_LIST || last.plain_type().1 > 0 {
        return false;
    }
    let elements = initialiser.children();
    let is_last = |element: &Cursor<'_>| {
        let designated = super::flow::designator(*element);
        designated.is_some_and(|(field, _)| field.name() == last.name())
    };
    elements.len() >= fields.len() || elements.iter().any(is_last)
}

/// Attributes of functions that give numbers of parameters.
const NUMBERING: &[&str] = &[
    "format",
    "format_arg",
    "nonnull",
    "alloc_size",
    "alloc_align",
    "access",
    "null_terminated_string_arg",
    "argument_with_type_tag",
    "pointer_with_type_tag",
];
