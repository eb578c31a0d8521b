//! From libclang's trees to the model.
//!
//! Owns what outlives a unit while the model is made: numbers of files, variables and functions.
//! Guarantees that a name with internal linkage is a thing of its own in each unit, also where a
//! header holds it, and that whatever is found twice (in a header) is there once.

mod declare;
mod flow;
mod left_out;
mod places;
mod statements;
mod steady;
mod usage;
mod walk;

use crate::clang::{Cursor, Library, LibraryError, RawPlace, RawUnit, kind};
use crate::model::{
    Access, FunctionId, GlobalId, Model, Reference, Sink, Site, Through, UnitFacts,
};
use crate::program::{SourceUnit, Sources};
use flow::Flows;
use left_out::LeftOut;
use places::Files;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use steady::Steady;

/// Why a program could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No usable libclang.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The sources do not compile.
    #[error("{place}: {text}")]
    Compile {
        /// File and line.
        place: String,
        /// What the compiler says.
        text: String,
    },
}

/// Reads all units of a program.
///
/// # Errors
/// [`ReadError`]: no libclang, or the first error of the sources.
pub fn collect(sources: &Sources) -> Result<Model, ReadError> {
    collect_telling(sources, |_| {})
}

/// As [`collect`]; says of each source that its turn has come.
///
/// # Errors
/// As [`collect`].
pub fn collect_telling(sources: &Sources, mut tell: impl FnMut(&Path)) -> Result<Model, ReadError> {
    let library = Library::load()?;
    let mut collector = Collector::new(sources);
    for unit in &sources.units {
        tell(&unit.file);
        collector.unit(&library, unit)?;
    }
    Ok(collector.finish())
}

struct Collector {
    model: Model,
    files: Files,
    globals: HashMap<String, GlobalId>,
    functions: HashMap<String, FunctionId>,
    /// How many declarations at file scope were met.
    number: usize,
    /// Files in which attributes stand.
    attributed: HashMap<PathBuf, Rc<[u8]>>,
    seen: Seen,
    flows: Flows,
    steady: Steady,
    /// Which variable each of the model's `locals` is.
    local_keys: Vec<String>,
    left_out: LeftOut,
    /// The declaration statement that is being read.
    statement: Option<(RawPlace, RawPlace)>,
    /// The unit that is being read.
    unit: usize,
}

/// How a variable is used, and where its address goes.
type Way = (Access, bool, Option<Sink>, Option<Through>);

/// What was found already: headers are read by many units.
#[derive(Default)]
struct Seen {
    references: HashSet<(GlobalId, Option<FunctionId>, Site, Way)>,
    calls: HashSet<(FunctionId, Option<FunctionId>, Site)>,
    addresses: HashSet<(FunctionId, Option<FunctionId>, Site)>,
    macros: HashSet<(usize, usize)>,
    other_names: HashSet<(usize, usize)>,
    library_variables: HashSet<(String, Option<FunctionId>, Site)>,
}

impl Collector {
    fn new(sources: &Sources) -> Self {
        let files = Files::of(sources);
        Self {
            model: Model::default(),
            files,
            globals: HashMap::new(),
            functions: HashMap::new(),
            number: 0,
            attributed: HashMap::new(),
            seen: Seen::default(),
            flows: Flows::default(),
            steady: Steady::default(),
            local_keys: Vec::new(),
            left_out: LeftOut::default(),
            statement: None,
            unit: 0,
        }
    }

    fn unit(&mut self, library: &Library, source: &SourceUnit) -> Result<(), ReadError> {
        self.files.directory.clone_from(&source.directory);
        let file = source.file.display().to_string();
        let unit = RawUnit::parse(library, &file, &arguments(library, source)).map_err(|text| {
            ReadError::Compile {
                place: file.clone(),
                text,
            }
        })?;
        if let Some((place, text)) = unit.error() {
            let place = place.map_or(file, |place| format!("{}:{}", place.file, place.line));
            return Err(ReadError::Compile { place, text });
        }
        let own: Vec<_> = unit
            .files()
            .iter()
            .filter_map(|name| self.files.own(name))
            .collect();
        self.left_out.read(&own);
        self.unit = self.model.units.len();
        self.model.units.push(UnitFacts {
            file: own.first().copied().unwrap_or(0),
            files: own,
            flags: source.flags.clone(),
            directory: source.directory.clone(),
        });
        for (start, end) in unit.skipped() {
            if let Some(place) = self.files.place(&start) {
                let range = (place.file, place.offset, end as usize);
                self.left_out.skip(range);
            }
        }
        for cursor in unit.root().children() {
            self.top(cursor);
        }
        Ok(())
    }

    /// A declaration at file scope, or a macro.
    fn top(&mut self, cursor: Cursor<'_>) {
        self.number += 1;
        match cursor.kind() {
            kind::MACRO_DEFINITION => self.macro_definition(cursor),
            kind::VARIABLE if self.is_own(cursor) => {
                self.variable(cursor, None);
            }
            kind::FUNCTION if self.is_own(cursor) => self.function(cursor),
            _ => {}
        }
    }

    fn is_own(&mut self, cursor: Cursor<'_>) -> bool {
        !cursor.is_in_system_header()
            && cursor
                .expanded()
                .is_some_and(|place| self.files.own(&place.file).is_some())
    }

    fn macro_definition(&mut self, cursor: Cursor<'_>) {
        let Some((start, end)) = cursor.extent() else {
            return;
        };
        let Some(place) = self.files.place(&start) else {
            return;
        };
        if self.seen.macros.insert((place.file, place.offset)) {
            self.model.macros.push(crate::model::Macro {
                name: cursor.name(),
                place,
                end: end.offset as usize,
            });
        }
    }

    /// Where a cursor's name was written and takes effect; none outside the program's files.
    fn site(&mut self, cursor: Cursor<'_>) -> Option<Site> {
        let expanded = self.files.place(&cursor.expanded()?)?;
        let spelled = cursor.spelled().and_then(|place| self.files.place(&place));
        Some(Site { spelled, expanded })
    }

    fn reference(&mut self, reference: Reference) {
        // A macro may use its argument twice, and in two ways: all are where the argument is.
        let way = (
            reference.access,
            reference.is_counted,
            reference.sink.clone(),
            reference.through.clone(),
        );
        let key = (reference.global, reference.inside, reference.site, way);
        if self.seen.references.insert(key) {
            self.model.references.push(reference);
        }
    }

    fn finish(self) -> Model {
        let mut model = self.model;
        (model.root, model.files) = self.files.finish();
        model.skipped = self.left_out.always();
        flow::resolve(&mut model, &self.flows);
        let unsteady = self.steady.unsteady(&model);
        for (key, id) in &self.globals {
            model.globals[*id].is_steady = !unsteady.contains(key);
        }
        for (one, key) in model.locals.iter_mut().zip(&self.local_keys) {
            one.is_steady = !unsteady.contains(key);
        }
        model
    }
}

/// What libclang gets: the unit's flags, and what makes it as lenient as compilers are.
pub(crate) fn arguments(library: &Library, source: &SourceUnit) -> Vec<String> {
    let mut arguments = vec![
        "-working-directory".to_owned(),
        source.directory.display().to_string(),
        "-w".to_owned(),
        // gcc up to 13 warns about these; clang 19 refuses them.
        "-Wno-error=implicit-function-declaration".to_owned(),
        "-Wno-error=implicit-int".to_owned(),
        "-Wno-error=int-conversion".to_owned(),
        "-Wno-error=incompatible-function-pointer-types".to_owned(),
        "-Wno-error=return-type".to_owned(),
    ];
    if let Some(resources) = &library.resources {
        arguments.push("-resource-dir".to_owned());
        arguments.push(resources.display().to_string());
    }
    arguments.extend(source.flags.iter().cloned());
    arguments
}
