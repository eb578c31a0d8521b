//! The whole program as data: what the front end found, and what every later pass reads.
//!
//! Owns no cursor of libclang. Numbers (`FileId`, `GlobalId`, …) index the vectors of [`Model`].

mod access;
mod body;
mod places;

pub use access::{Access, Reference, Sink, Through};
pub use body::{Jump, LocalUse, MemberBase, MemberUse, Repeated, Statement, StatementKind};
pub use places::{FileId, Macro, Place, Site, SourceFile, Texts};

use crate::clang::TypeInfo;

/// Index into [`Model::globals`].
pub type GlobalId = usize;
/// Index into [`Model::functions`].
pub type FunctionId = usize;

/// A whole program.
#[derive(Debug, Default)]
pub struct Model {
    /// Its own files: those that a rewrite may edit.
    pub files: Vec<SourceFile>,
    /// Where its own files begin to differ.
    pub root: std::path::PathBuf,
    /// Its translation units, in the order given.
    pub units: Vec<UnitFacts>,
    /// File-scope variables and local statics.
    pub globals: Vec<Global>,
    /// Functions, its own and those that it calls.
    pub functions: Vec<Function>,
    /// Every use of a global.
    pub references: Vec<Reference>,
    /// Calls by name.
    pub calls: Vec<Call>,
    /// Calls through pointers.
    pub pointer_calls: Vec<PointerCall>,
    /// Places where a function's address is taken.
    pub addresses: Vec<AddressTaken>,
    /// Uses of variables that a library owns (`stdout`, `optarg`).
    pub library_variables: Vec<LibraryVariable>,
    /// Names that are bound to something else than a global, where they were written.
    pub other_names: Vec<(FileId, usize)>,
    /// Objects without a name, to which initialisers at file scope point (`= &(struct T){0}`).
    pub nameless: Vec<Nameless>,
    /// Macros of its own files.
    pub macros: Vec<Macro>,
    /// Text that conditional directives left out: file, first byte, last byte.
    pub skipped: Vec<(FileId, usize, usize)>,
    /// Statements in braces.
    pub statements: Vec<Statement>,
    /// Text that may run again.
    pub repeated: Vec<Repeated>,
    /// Statements that leave the text around them.
    pub jumps: Vec<Jump>,
    /// Uses of functions' own variables, and of parameters.
    pub locals: Vec<LocalUse>,
    /// Uses of fields.
    pub members: Vec<MemberUse>,
}

/// One translation unit.
#[derive(Clone, Debug)]
pub struct UnitFacts {
    /// Its source.
    pub file: FileId,
    /// The program's own files that it consists of, itself among them.
    pub files: Vec<FileId>,
    /// Its flags, as given.
    pub flags: Vec<String>,
    /// Where relative paths in its flags begin.
    pub directory: std::path::PathBuf,
}

/// A file-scope variable, or a static one of a function.
#[derive(Clone, Debug)]
pub struct Global {
    /// As written.
    pub name: String,
    /// Who can see it.
    pub scope: Scope,
    /// Where it is defined; where it is declared if it is not defined here.
    pub place: Place,
    /// Whether this program defines it.
    pub is_defined: bool,
    /// All places where it is declared.
    pub declarations: Vec<GlobalDeclaration>,
    /// The number of its first declaration among all at file scope, in the order of the text,
    /// headers where they are included.
    pub(crate) number: usize,
    /// Its type.
    pub(crate) ty: TypeInfo,
    /// Of a record, or of a pointer to one: the first pointer that this holds.
    pub holds_pointer: Option<String>,
    /// Whether each thread has its own already.
    pub is_thread_local: bool,
    /// Its initialiser, from its first byte to after its last.
    pub initialiser: Option<(Place, usize)>,
    /// Attributes that tie it to a place or a name (`section`, `alias`, `weak`).
    pub attributes: Vec<String>,
    /// Two units declare it with different types: the other type.
    pub other_type: Option<(String, Place)>,
    /// The unit that defines it, or declares it first.
    pub unit: usize,
    /// Whether its value is made of constants and arguments of the program alone, so that all
    /// cores compute the same.
    pub is_steady: bool,
    /// What its initialiser uses that only a function knows: a constant of an enumeration.
    pub local_name: Option<String>,
    /// Whether its initialiser fills an array without a length at its end: its type does not say
    /// how long it is.
    pub is_extended: bool,
}

/// An object without a name that can be written, and lives as long as the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nameless {
    /// Whose initialiser points to it.
    pub holder: GlobalId,
    /// Where it is.
    pub place: Place,
}

/// Who can see a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All files.
    External,
    /// One unit.
    Static,
    /// One function.
    Local(FunctionId),
}

/// One declaration of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalDeclaration {
    /// Its first byte, its specifiers among it.
    pub start: Place,
    /// The byte after its last; the `;` is not among it.
    pub end: usize,
    /// Its name, where it was written.
    pub name: Option<Place>,
    /// Whether it only announces the variable.
    pub is_extern: bool,
    /// Whether it comes out of a macro.
    pub is_in_macro: bool,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// As written.
    pub name: String,
    /// Where its body is.
    pub body: Option<Body>,
    /// The number of its definition among all declarations at file scope.
    pub(crate) number: usize,
    /// Its declarations in the program's own files, its definition among them.
    pub declarations: Vec<FunctionDeclaration>,
    /// Whether only its own unit sees it.
    pub is_static: bool,
    /// Whether it takes any number of arguments.
    pub is_variadic: bool,
    /// Attributes that make something call it, or give it another name.
    pub attributes: Vec<String>,
    /// Whether an attribute gives numbers of its parameters (`format(printf, 1, 2)`).
    pub numbers_parameters: bool,
    /// Types of its parameters, as written.
    pub parameters: Vec<String>,
    /// Their names, as its definition has them.
    pub parameter_names: Vec<String>,
    /// Where each is declared in its definition.
    pub parameter_places: Vec<Option<Place>>,
    /// How each is passed.
    pub parameter_kinds: Vec<Passed>,
    /// Of each that is a record, or points to one: the first pointer that this holds.
    pub parameter_pointers: Vec<Option<String>>,
    /// What it returns, as written.
    pub result: String,
    /// The unit that defines it.
    pub unit: usize,
}

/// Where a function's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// The first byte of the definition.
    pub start: Place,
    /// The byte after its last.
    pub end: usize,
    /// Its `{`: it is in a macro if that makes the definition.
    pub open: Option<Site>,
}

/// One declaration of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDeclaration {
    /// Its name, where it was written.
    pub name: Site,
    /// Whether it has the body.
    pub is_definition: bool,
    /// Whether it has no prototype: `f()`, or the parameters follow as declarations.
    pub is_unprototyped: bool,
    /// How many parameters it names.
    pub parameter_count: usize,
}

/// A call by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who calls; none in an initialiser.
    pub caller: Option<FunctionId>,
    /// What is called.
    pub callee: FunctionId,
    /// The callee's name.
    pub name: Site,
    /// How many arguments it passes.
    pub argument_count: usize,
    /// The byte after its `)`.
    pub end: usize,
    /// Whether nothing uses what it returns.
    pub is_dropped: bool,
}

/// A call through a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerCall {
    /// Who calls.
    pub caller: Option<FunctionId>,
    /// Where.
    pub place: Place,
    /// The pointer, as written.
    pub text: String,
    /// How each argument is passed.
    pub passed: Vec<Passed>,
    /// What it may call.
    pub targets: Vec<FunctionId>,
}

/// A place where a function's address is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressTaken {
    /// Whose.
    pub function: FunctionId,
    /// In which function; none in an initialiser at file scope.
    pub inside: Option<FunctionId>,
    /// The name.
    pub name: Site,
    /// The first byte of the definition at file scope that it is part of.
    pub definition: Place,
    /// Where the address goes.
    pub sink: Sink,
    /// The unit.
    pub unit: usize,
}

/// A use of a variable that a library owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryVariable {
    /// Its name.
    pub name: String,
    /// Who uses it.
    pub inside: Option<FunctionId>,
    /// Where.
    pub site: Site,
}

/// How an argument is passed. A call whose arguments are passed in another way than the function
/// takes them has no meaning (C11 6.5.2.2), so that it does not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A number.
    Integer,
    /// A literal: a number, or a null pointer.
    Literal,
    /// An address.
    Pointer,
    /// A floating-point number.
    Floating,
    /// Its bytes.
    Record,
}

impl Passed {
    pub(crate) fn of(canonical: &str) -> Self {
        // `struct (unnamed at a.c:1:2)`.
        let nameless = canonical
            .find("(unnamed")
            .or_else(|| canonical.find("(anonymous"));
        if let Some(at) = nameless {
            let rest = canonical.rsplit(')').next().unwrap_or_default();
            let is_plain = canonical.ends_with(')') || rest.trim().is_empty();
            let before = canonical.get(..at).unwrap_or_default();
            return match is_plain && !before.contains(['*', '(']) {
                true if before.contains("enum") => Self::Integer,
                true => Self::Record,
                false => Self::Pointer,
            };
        }
        let has = |words: &[&str]| words.iter().any(|word| canonical.contains(word));
        if has(&["*", "[", "("]) {
            Self::Pointer
        } else if has(&["struct ", "union "]) {
            Self::Record
        } else if has(&["float", "double"]) {
            Self::Floating
        } else {
            Self::Integer
        }
    }

    /// Whether what is passed so may be taken so.
    #[must_use]
    pub fn fits(self, parameter: Self) -> bool {
        match (self, parameter) {
            (Self::Literal, Self::Integer | Self::Pointer) => true,
            (given, taken) => given == taken,
        }
    }
}

impl PointerCall {
    /// Whether the call can be of this function: it takes what is passed.
    #[must_use]
    pub fn fits(&self, function: &Function) -> bool {
        let taken = &function.parameter_kinds;
        // `f()` takes anything, and a function without a body is not known.
        let is_open = taken.is_empty() || function.is_variadic || function.body.is_none();
        let same = taken.len() == self.passed.len();
        let mut pairs = self.passed.iter().zip(taken);
        is_open || (same && pairs.all(|(given, taken)| given.fits(*taken)))
    }
}

impl Model {
    /// "file:line" of a place.
    #[must_use]
    pub fn at(&self, place: Place) -> String {
        format!("{}:{}", self.path(place.file), place.line)
    }

    /// A file's path below the root.
    #[must_use]
    pub fn path(&self, file: FileId) -> String {
        let Some(file) = self.files.get(file) else {
            return String::new();
        };
        let below = file.path.strip_prefix(&self.root).unwrap_or(&file.path);
        below.display().to_string()
    }

    /// A global.
    #[must_use]
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id]
    }

    /// A function.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id]
    }

    /// Whether a use names the variable where it is, or its type only. A function's static has no
    /// other name left once it is private.
    #[must_use]
    pub fn needs_state(&self, one: &Reference) -> bool {
        let is_local = matches!(self.global(one.global).scope, Scope::Local(_));
        one.access != Access::Unevaluated || is_local
    }

    /// The name that messages use: `buf in adres` for a static of a function.
    #[must_use]
    pub fn global_name(&self, id: GlobalId) -> String {
        let global = self.global(id);
        match global.scope {
            Scope::Local(function) => {
                format!("{} in {}", global.name, self.function(function).name)
            }
            _ => global.name.clone(),
        }
    }
}
