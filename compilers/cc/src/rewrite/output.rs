//! The files of the transformed program: its sources, the header, the glue, the run-time, a
//! makefile.

use super::edits::Edits;
use super::{Alloc, Backend, Plan};
use crate::model::{FunctionId, Model};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A transformed program.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// All files, by path below the output's folder.
    pub files: Vec<OutputFile>,
    /// What the reader should know: text that is not compiled with these flags.
    pub notes: Vec<String>,
    /// How many lines of the program changed, and how many were added.
    pub changed: usize,
    /// Variables that each core has.
    pub private: Vec<String>,
    /// Numbers that each core has for itself, though the program may mean one of all packets.
    pub warnings: Vec<String>,
    /// What packets of one core have in common, as `flowpin cc check --key` takes it.
    pub key: &'static str,
}

/// A file of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path below the output's folder.
    pub path: PathBuf,
    /// Its bytes.
    pub text: Vec<u8>,
    /// Whether the program had it.
    pub is_source: bool,
}

/// The run-time's sources, which every output holds.
pub(crate) const RUNTIME: &[(&str, &str)] = &[
    ("flowpin_run.h", include_str!("../../runtime/flowpin_run.h")),
    (
        "flowpin_core.h",
        include_str!("../../runtime/flowpin_core.h"),
    ),
    (
        "flowpin_ring.h",
        include_str!("../../runtime/flowpin_ring.h"),
    ),
    ("flowpin_run.c", include_str!("../../runtime/flowpin_run.c")),
    (
        "flowpin_ring.c",
        include_str!("../../runtime/flowpin_ring.c"),
    ),
    (
        "flowpin_stage.c",
        include_str!("../../runtime/flowpin_stage.c"),
    ),
    (
        "flowpin_hash.c",
        include_str!("../../runtime/flowpin_hash.c"),
    ),
    (
        "flowpin_pcap.c",
        include_str!("../../runtime/flowpin_pcap.c"),
    ),
    (
        "flowpin_output.c",
        include_str!("../../runtime/flowpin_output.c"),
    ),
    (
        "flowpin_files.c",
        include_str!("../../runtime/flowpin_files.c"),
    ),
    (
        "flowpin_opened.c",
        include_str!("../../runtime/flowpin_opened.c"),
    ),
    (
        "flowpin_input.c",
        include_str!("../../runtime/flowpin_input.c"),
    ),
    (
        "flowpin_libc.c",
        include_str!("../../runtime/flowpin_libc.c"),
    ),
    ("flowpin_end.c", include_str!("../../runtime/flowpin_end.c")),
    (
        "flowpin_stderr.c",
        include_str!("../../runtime/flowpin_stderr.c"),
    ),
    (
        "flowpin_account.c",
        include_str!("../../runtime/flowpin_account.c"),
    ),
    (
        "flowpin_netdb.c",
        include_str!("../../runtime/flowpin_netdb.c"),
    ),
];

/// What it holds in addition if each core has a pool of memory.
const POOL: (&str, &str) = (
    "flowpin_pool.c",
    include_str!("../../runtime/flowpin_pool.c"),
);

/// The run-time's files for these choices.
fn runtime(plan: &Plan<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let pool = (plan.choices.alloc == Alloc::Pool).then_some(POOL);
    RUNTIME.iter().copied().chain(pool)
}

/// Where the run-time stands in the output.
const FOLDER: &str = "flowpin";

/// A unit's short name.
pub(super) fn tag(plan: &Plan<'_>, unit: usize) -> String {
    let tag = plan.layout.tags.get(unit).cloned();
    tag.unwrap_or_else(|| format!("unit_{unit}"))
}

pub(super) fn make(plan: &Plan<'_>, edits: &Edits, main: Option<FunctionId>) -> Output {
    let model = plan.model;
    let mut output = Output {
        notes: super::not_compiled(model, plan.texts, &plan.decisions),
        warnings: plan.warnings.clone(),
        key: plan.pragmas.shared(),
        ..Output::default()
    };
    for file in 0..model.files.len() {
        let text = edits.apply(plan.texts, file);
        output.changed += changed_lines(plan.texts.of(file), &text);
        output.files.push(OutputFile {
            path: model.path(file).into(),
            text,
            is_source: true,
        });
    }
    let private = (0..model.globals.len()).filter(|id| plan.is_private(*id));
    output.private = private.map(|id| model.global_name(id)).collect();
    let mut add = |name: &str, text: String| {
        output.files.push(OutputFile {
            path: Path::new(FOLDER).join(name),
            text: text.into_bytes(),
            is_source: false,
        });
    };
    for (name, text) in runtime(plan) {
        add(name, text.to_owned());
    }
    add("flowpin_cc.h", header(plan));
    add("flowpin_program.c", program(plan, main));
    output.files.push(OutputFile {
        path: "Makefile".into(),
        text: makefile(plan).into_bytes(),
        is_source: false,
    });
    output
}

/// Lines of the new text that the old one lacks.
fn changed_lines(old: &[u8], new: &[u8]) -> usize {
    let mut left: std::collections::HashMap<&[u8], usize> = std::collections::HashMap::new();
    for line in old.split(|byte| *byte == b'\n') {
        *left.entry(line).or_default() += 1;
    }
    let mut count = 0;
    for line in new.split(|byte| *byte == b'\n') {
        match left.get_mut(line) {
            Some(same) if *same > 0 => *same -= 1,
            _ => count += 1,
        }
    }
    count
}

fn header(plan: &Plan<'_>) -> String {
    let mut out = String::from(
        "/* Made by `flowpin cc`. A core's state, and what the run-time has for each core.\n\
         \x20* Includes nothing, so that it can stand before everything. */\n\
         #ifndef FLOWPIN_CC_H\n#define FLOWPIN_CC_H\n\nstruct flowpin_core {\n",
    );
    out.push_str("  int flowpin_unused;\n");
    for structure in &plan.layout.structures {
        let _ = writeln!(
            out,
            "  _Alignas(64) char {}[{}];",
            structure.name, structure.size
        );
    }
    for id in &plan.layout.externals {
        let global = plan.model.global(*id);
        let (align, size) = (super::layout::alignment(global), global.ty.size);
        let _ = writeln!(
            out,
            "  _Alignas({align}) char {}[{size}]; /* {} */",
            global.name,
            plan.model.path(global.place.file)
        );
    }
    out.push_str(
        "};\n\n\
         /* A core's own copy of a variable that several files use. */\n\
         #define flowpin_own(name) (*(__typeof__(name) *)(void *)flowpin->name)\n\n",
    );
    out.push_str(include_str!("../../runtime/flowpin_cc.h"));
    out.push_str("\n#endif\n");
    out
}

/// What the run-time calls.
fn program(plan: &Plan<'_>, main: Option<FunctionId>) -> String {
    let model = plan.model;
    let is_context = plan.backend == Backend::Context;
    let units = 0..model.units.len();
    let with_state: Vec<usize> = units
        .clone()
        .filter(|unit| is_context && super::unit_end::has_state(plan, *unit))
        .collect();
    let with_config: Vec<usize> = units
        .clone()
        .filter(|unit| super::set_once::has_some(plan, *unit))
        .collect();
    let with_pool: Vec<usize> = units
        .clone()
        .filter(|unit| super::marked::has_reserved(plan, *unit))
        .collect();
    let with_sums: Vec<usize> = units
        .filter(|unit| plan.pragmas.has_sums(model, *unit))
        .collect();
    let mut out = String::from(
        "/* Made by `flowpin cc`: what the run-time calls. */\n\
         #include \"flowpin_cc.h\"\n#include \"flowpin_run.h\"\n\n",
    );
    for unit in &with_state {
        let tag = tag(plan, *unit);
        let _ = writeln!(
            out,
            "void flowpin_init_{tag}(struct flowpin_core *flowpin);"
        );
    }
    for unit in &with_pool {
        let _ = writeln!(out, "void flowpin_reserve_{}(void);", tag(plan, *unit));
    }
    for unit in &with_sums {
        let tag = tag(plan, *unit);
        let _ = writeln!(
            out,
            "void flowpin_reduce_{tag}(struct flowpin_core *flowpin, int step);"
        );
    }
    for unit in &with_config {
        let tag = tag(plan, *unit);
        let _ = writeln!(out, "const char *flowpin_set_once_{tag}(int step);");
    }
    let parameters = main.map_or(2, |main| model.function(main).parameters.len());
    let mut types = Vec::new();
    let mut passed = Vec::new();
    if is_context {
        types.push("struct flowpin_core *");
        passed.push("flowpin");
    }
    types.extend(["int", "char **", "char **"].iter().take(parameters));
    passed.extend(["argc", "argv", "environ"].iter().take(parameters));
    if types.is_empty() {
        types.push("void");
    }
    let returns_nothing = main.is_some_and(|main| model.function(main).result == "void");
    let result = if returns_nothing { "void" } else { "int" };
    let _ = writeln!(
        out,
        "extern char **environ;\n{result} flowpin_main({});",
        types.join(", ")
    );
    let _ = write!(
        out,
        "void flowpin_tick(struct flowpin_core *flowpin, struct timeval *now);\n\n\
         static void init(struct flowpin_core *flowpin) {{\n  (void)flowpin;\n"
    );
    for unit in &with_pool {
        let _ = writeln!(out, "  flowpin_reserve_{}();", tag(plan, *unit));
    }
    for unit in &with_state {
        let _ = writeln!(out, "  flowpin_init_{}(flowpin);", tag(plan, *unit));
    }
    let call = format!("flowpin_main({})", passed.join(", "));
    let run = match returns_nothing {
        true => format!("  {call};\n  return 0;"),
        false => format!("  return {call};"),
    };
    let _ = write!(
        out,
        "}}\n\nstatic int start(struct flowpin_core *flowpin, int argc, char **argv) {{\n\
         \x20 (void)flowpin;\n  (void)argc;\n  (void)argv;\n{run}\n}}\n\n"
    );
    if !with_sums.is_empty() {
        out.push_str("static void reduce(struct flowpin_core *flowpin, int step) {\n");
        for unit in &with_sums {
            let _ = writeln!(out, "  flowpin_reduce_{}(flowpin, step);", tag(plan, *unit));
        }
        out.push_str("}\n\n");
    }
    if !with_config.is_empty() {
        out.push_str("static const char *set_once(int step) {\n  const char *odd = 0;\n");
        for unit in &with_config {
            let tag = tag(plan, *unit);
            let _ = writeln!(out, "  if (!odd) odd = flowpin_set_once_{tag}(step);");
        }
        out.push_str("  return odd;\n}\n\n");
    }
    let _ = write!(
        out,
        "{}const struct flowpin_program flowpin_program = {{\n\
         \x20 .core_size = sizeof(struct flowpin_core),\n\
         \x20 .init = init,\n  .start = start,\n  .reduce = {},\n  .set_once = {},\n  .tick = {},\n\
         \x20 .tick_us = {},\n  .tick_stage = {},\n  .stages = stages,\n\
         \x20 .stage_count = {},\n  .key = {},\n  .ways = {},\n}};\n",
        stage_table(plan),
        if with_sums.is_empty() { "0" } else { "reduce" },
        if with_config.is_empty() {
            "0"
        } else {
            "set_once"
        },
        if plan.pragmas.tick().is_some() {
            "flowpin_tick"
        } else {
            "0"
        },
        plan.pragmas.tick().unwrap_or(0),
        plan.stages.tick,
        plan.stages.all.len().max(1),
        plan.pragmas.key.unwrap_or("FLOWPIN_IP_PAIR"),
        plan.pragmas.ways.unwrap_or(0),
    );
    out
}

/// The program's stages; one, if it is not divided.
fn stage_table(plan: &Plan<'_>) -> String {
    let mut out = "static const struct flowpin_stage stages[] = {\n".to_owned();
    for (number, stage) in plan.stages.all.iter().enumerate() {
        let (ways, from) = (stage.ways.unwrap_or(0), plan.stages.before(number));
        let _ = writeln!(out, "  {{\"{}\", {ways}, {from}}},", stage.name);
    }
    if plan.stages.all.is_empty() {
        out.push_str("  {\"program\", 0, 0},\n");
    }
    out.push_str("};\n\n");
    out
}

/// Compiles each source with its own flags; paths inside the program become paths of the output.
fn makefile(plan: &Plan<'_>) -> String {
    let model = plan.model;
    let fifo = plan.choices.fifo as u8;
    let mut out = format!(
        "# Made by `flowpin cc`. make CC=clang CFLAGS=-O3 LDLIBS=\"-lnet -lpcap\" works, too.\n\
         # Many old programs read memory through pointers of other types.\n\
         # FIFO: 0 Flowpin's ring, 1 Lamport's, 2 FastForward.\n\
         CC ?= cc\nCFLAGS ?= -O2 -g -fno-strict-aliasing\nLDLIBS ?= -lpcap\n\
         PROGRAM ?= program\nFIFO ?= {fifo}\n\n",
    );
    let mut objects = BTreeSet::new();
    let mut rules = String::new();
    for unit in &model.units {
        let source = model.path(unit.file);
        let object = format!("{}.o", source.trim_end_matches(".c"));
        let flags = flags(model, &unit.flags, &unit.directory);
        let flags: Vec<String> = flags.iter().map(|flag| quoted(flag)).collect();
        let flags = flags.join(" ");
        let _ = write!(
            rules,
            "{object}: {source}\n\t$(CC) {flags} -I{FOLDER} $(CFLAGS) -c -o $@ $<\n\n"
        );
        objects.insert(object);
    }
    let own = runtime(plan)
        .map(|(name, _)| name)
        .filter(|name| name.ends_with(".c"));
    for name in own.chain(["flowpin_program.c"]) {
        let object = format!("{FOLDER}/{}.o", name.trim_end_matches(".c"));
        let _ = write!(
            rules,
            "{object}: {FOLDER}/{name}\n\t$(CC) $(CFLAGS) -DFLOWPIN_FIFO=$(FIFO) -c -o $@ $<\n\n"
        );
        objects.insert(object);
    }
    let objects: Vec<String> = objects.into_iter().collect();
    let unity = if plan.choices.unity { UNITY } else { "" };
    let _ = write!(
        out,
        "OBJECTS = {}\n\n{unity}\
         $(PROGRAM): $(OBJECTS)\n\
         \t$(CC) $(CFLAGS) -o $@ $(OBJECTS) $(LDFLAGS) $(LDLIBS) -lpthread\n\n\
         {rules}clean:\n\trm -f $(PROGRAM) $(OBJECTS)\n\n.PHONY: clean\n",
        objects.join(" \\\n  ")
    );
    out
}

/// Takes the one source instead of those that it holds.
const UNITY: &str = "# make UNITY=0 compiles each source by itself.\nUNITY ?= 1\n\
     .DEFAULT_GOAL := $(PROGRAM)\n\
     ifneq ($(UNITY),0)\n-include flowpin_unity.mk\nendif\n\n";

/// What make reads of one source of many: `names` are those that it holds, compiled as `unit` is.
pub(crate) fn unity_rules(model: &Model, unit: usize, source: &str, names: &[String]) -> String {
    let unit = model.units.get(unit);
    let flags = unit.map(|unit| flags(model, &unit.flags, &unit.directory));
    let flags: Vec<String> = flags.iter().flatten().map(|flag| quoted(flag)).collect();
    let object = format!("{}.o", source.trim_end_matches(".c"));
    let objects: Vec<String> = names
        .iter()
        .map(|name| format!("{}.o", name.trim_end_matches(".c")))
        .collect();
    format!(
        "# Made by `flowpin cc`: sources that are compiled as one.\n\
         UNITED = {}\n\n\
         OBJECTS := $(filter-out $(UNITED),$(OBJECTS)) {object}\n\n\
         {object}: {source} {}\n\t$(CC) {} -I{FOLDER} $(CFLAGS) -c -o $@ $<\n",
        objects.join(" \\\n  "),
        names.join(" "),
        flags.join(" ")
    )
}

/// A unit's flags for the output's folder: paths inside the program become paths there, all others
/// stay where they are.
pub(super) fn flags(model: &Model, flags: &[String], directory: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let mut is_path = false;
    for flag in flags {
        let joined = PATHS
            .iter()
            .find_map(|kind| flag.strip_prefix(kind).map(|path| (*kind, path)));
        match joined {
            Some((kind, "")) => {
                out.push(kind.to_owned());
                is_path = true;
            }
            Some((kind, path)) => {
                out.push(format!("{kind}{}", mapped(model, path, directory)));
                let more = leads_out(model, path, directory);
                out.extend(more.map(|full| format!("{kind}{full}")));
            }
            None if is_path => {
                let kind = out.last().cloned().unwrap_or_default();
                out.push(mapped(model, flag, directory));
                let more = leads_out(model, flag, directory);
                out.extend(more.into_iter().flat_map(|full| [kind.clone(), full]));
                is_path = false;
            }
            None => out.push(flag.clone()),
        }
    }
    out
}

/// A folder of the program with links to files of others, which stay where they are.
fn leads_out(model: &Model, path: &str, directory: &Path) -> Option<String> {
    let full = directory.join(path).canonicalize().ok()?;
    let entries = full
        .strip_prefix(&model.root)
        .ok()
        .map(|_| full.read_dir())?;
    let is_out = |entry: std::fs::DirEntry| {
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let target = is_link.then(|| entry.path().canonicalize().ok()).flatten();
        target.is_some_and(|target| !target.starts_with(&model.root))
    };
    entries
        .ok()?
        .flatten()
        .any(is_out)
        .then(|| full.display().to_string())
}

/// Flags that name a path.
const PATHS: &[&str] = &["-I", "-isystem", "-iquote", "-idirafter", "-include"];

fn mapped(model: &Model, path: &str, directory: &Path) -> String {
    let Ok(full) = directory.join(path).canonicalize() else {
        return path.to_owned();
    };
    match full.strip_prefix(&model.root) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => full.display().to_string(),
    }
}

/// For make and the shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./+,:@%".contains(c);
    if text.chars().all(plain) && !text.is_empty() {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''").replace('$', "$$"))
}
