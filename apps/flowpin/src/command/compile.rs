//! `flowpin cc`: reports on C programs, their transformation, and the check whether it is allowed.

use super::print;
use super::watch::watch;
use crate::cli::{
    CcCommand, CheckArgs, FlexArgs, Memory, PartKey, ReportArgs, RingKind, ScannerArgs, SourceArgs,
    StateBackend, TransformArgs,
};
use crate::exit::{Exit, Failure};
use crate::tell::tell;
use anyhow::{Context, anyhow};
use flowpin_cc::model::{Model, Texts};
use flowpin_cc::{
    Alloc, Answer, Backend, CheckError, Choices, Fifo, FlexOptions, Key, Question, ReadError,
    Sources,
};
use flowpin_disk::{Existing, Output, Reads};
use flowpin_pattern::{Limits, Rewrite, l7};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Builder};
use std::time::Duration;

/// Runs `flowpin cc`: on a thread whose stack is enough for deeply nested programs, while this one
/// watches that it ends.
pub(crate) fn compile(what: &CcCommand) -> Result<Exit, Failure> {
    let limit = match what {
        CcCommand::Report(args) => args.sources.time_limit,
        CcCommand::Transform(args) => args.sources.time_limit,
        // Programs of others' may run as long as they like.
        CcCommand::Scanner(_) | CcCommand::Patterns(_) | CcCommand::Check(_) => 0,
    };
    let (tells, told) = mpsc::channel();
    let work = move || match what {
        CcCommand::Report(args) => report(args, &tells),
        CcCommand::Transform(args) => transform(args, &tells),
        CcCommand::Scanner(args) => scanner(args),
        CcCommand::Patterns(args) => patterns(args),
        CcCommand::Check(args) => check(args),
    };
    thread::scope(|scope| {
        let thread = Builder::new().name("cc".into()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).map_err(Failure::failed)?;
        watch(&told, (limit > 0).then(|| Duration::from_secs(limit)));
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Of a chain of `else if`, libclang takes some 3 kB a branch.
const STACK_BYTES: usize = 1 << 30;

/// The program's model, and its text.
fn read(args: &SourceArgs, tells: &Sender<PathBuf>) -> Result<(Model, Texts), Failure> {
    let sources = match &args.database {
        Some(path) => Sources::of_database(path),
        None => {
            let here = std::env::current_dir().map_err(Failure::failed)?;
            Sources::of_files(&here, &args.sources, &args.flags)
        }
    };
    let sources = sources.map_err(Failure::unreadable)?;
    let model = flowpin_cc::collect_telling(&sources, |file| {
        // Who watches may have nothing to tell any more.
        let _ = tells.send(file.to_owned());
    });
    let model = model.map_err(|error| match error {
        ReadError::Library(_) => Failure::failed(error),
        ReadError::Compile { .. } => Failure::unreadable(error),
    })?;
    let texts = Texts::read(&model.files).map_err(|(path, why)| {
        Failure::unreadable(anyhow!(why).context(format!("cannot read {}", path.display())))
    })?;
    Ok((model, texts))
}

fn report(args: &ReportArgs, tells: &Sender<PathBuf>) -> Result<Exit, Failure> {
    let is_json = args.json;
    let (model, texts) = read(&args.sources, tells)?;
    if let Some(function) = &args.cut {
        let cut = flowpin_cc::cut(model, &texts, function);
        let cut = cut.map_err(|what| Failure::usage(anyhow!(what)))?;
        print(&match is_json {
            true => serde_json::to_string_pretty(&cut).map_err(Failure::failed)? + "\n",
            false => flowpin_cc::cut_text(&cut),
        })?;
        return Ok(Exit::Done);
    }
    let report = flowpin_cc::report(&model, &texts);
    print(&match is_json {
        true => serde_json::to_string_pretty(&report).map_err(Failure::failed)? + "\n",
        false => flowpin_cc::report_text(&report),
    })?;
    Ok(Exit::Done)
}

/// What to do where the written program has an error that the given one has not.
const NOT_COMPILED: &str = "the output does not compile at a place where most often a macro makes \
     more, or less, than an expression: an initial value with the variable itself, or names that \
     it pastes together (##); write that use of the macro out, or report the program if there is \
     no macro";

fn transform(args: &TransformArgs, tells: &Sender<PathBuf>) -> Result<Exit, Failure> {
    let (model, texts) = read(&args.sources, tells)?;
    is_free(&args.output, &model, args.force)?;
    let backend = match args.backend {
        StateBackend::Context => Backend::Context,
        StateBackend::Thread => Backend::Thread,
    };
    let choices = Choices {
        backend,
        fifo: match args.fifo {
            RingKind::Flowpin => Fifo::Flowpin,
            RingKind::Lamport => Fifo::Lamport,
            RingKind::Fastforward => Fifo::FastForward,
        },
        alloc: match args.alloc {
            Memory::Libc => Alloc::Libc,
            Memory::Pool => Alloc::Pool,
        },
        unity: args.unity,
    };
    let output = match flowpin_cc::transform(&model, &texts, choices) {
        Ok(output) => output,
        Err(refusals) => return refused(&refusals),
    };
    write_files(&output.files, &args.output)
        .with_context(|| format!("cannot write to {}", args.output.display()))
        .map_err(Failure::failed)?;
    if backend == Backend::Context {
        let folder = args.output.canonicalize().map_err(Failure::failed)?;
        let left = flowpin_cc::verify(&model, &folder, &output.private);
        let left = left.context(NOT_COMPILED).map_err(Failure::failed)?;
        if !left.is_empty() {
            return refused(&left);
        }
    }
    let united = match args.unity {
        true => united(&model, &args.output)?,
        false => String::new(),
    };
    for note in &output.notes {
        tell(format_args!(
            "note: {note} is not compiled with these flags, and is left as it is"
        ));
    }
    for warning in &output.warnings {
        tell(format_args!("warning: {warning}"));
    }
    let mut text = format!(
        "{}: {} lines changed or added; {} variables are private to each core{united}\n",
        args.output.display(),
        output.changed,
        output.private.len()
    );
    let _ = writeln!(
        text,
        "next: make -C {0}, then FLOWPIN_WAYS=N {0}/program",
        args.output.display()
    );
    // By source alone, `check` does not divide.
    if output.key != "source" {
        let _ = writeln!(
            text,
            "to be sure: flowpin cc check --key {} -r FILE PROGRAM, with the program as it was",
            output.key
        );
    }
    print(&text)?;
    Ok(Exit::Done)
}

/// Makes one source of those of the output that go together, and tells which do not.
fn united(model: &Model, folder: &Path) -> Result<String, Failure> {
    let folder = folder.canonicalize().map_err(Failure::failed)?;
    let unity = flowpin_cc::unite(model, &folder).map_err(Failure::failed)?;
    for (name, why) in &unity.apart {
        tell(format_args!("note: {name} is compiled by itself: {why}"));
    }
    write_files(&unity.files, &folder)
        .with_context(|| format!("cannot write to {}", folder.display()))
        .map_err(Failure::failed)?;
    Ok(match unity.together {
        0 => "; no two sources go together as one".to_owned(),
        count => format!("; {count} sources are compiled as one"),
    })
}

fn refused(refusals: &[flowpin_cc::Refusal]) -> Result<Exit, Failure> {
    for refusal in refusals {
        tell(format_args!("{refusal}"));
    }
    let count = refusals.len();
    let places = if count == 1 { "place" } else { "places" };
    Err(Failure::failed(anyhow!(
        "refused: {count} {places} cannot be shown to be safe"
    )))
}

/// An output never replaces the program itself, and an earlier output only with `--force`.
fn is_free(folder: &Path, model: &Model, force: bool) -> Result<(), Failure> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut files = model.files.iter();
    if let Some(inside) = files.find(|file| file.path.starts_with(&real)) {
        return Err(Failure::usage(anyhow!(
            "{} holds the program itself ({}): name another directory",
            folder.display(),
            inside.path.display()
        )));
    }
    if real.is_file() {
        return Err(Failure::usage(anyhow!("{} is a file", folder.display())));
    }
    let is_used = fs::read_dir(&real).is_ok_and(|mut entries| entries.next().is_some());
    let is_ours = real.join("flowpin/flowpin_cc.h").is_file();
    if is_used && !(force && is_ours) {
        let what = match is_ours {
            true => "holds an earlier output: --force replaces it",
            false => "is not empty, and holds no earlier output",
        };
        return Err(Failure::usage(anyhow!("{} {what}", folder.display())));
    }
    Ok(())
}

fn write_files(files: &[flowpin_cc::OutputFile], folder: &Path) -> anyhow::Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, &file.text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn scanner(args: &ScannerArgs) -> Result<Exit, Failure> {
    let source = flowpin_disk::read_given_text(&args.scanner)
        .with_context(|| format!("cannot read {}", args.scanner.display()))
        .map_err(Failure::unreadable)?;
    let header = args.output.with_extension("h");
    let name = header.file_name().unwrap_or_default().to_string_lossy();
    let pushed = flowpin_cc::push_scanner(&source, &name)
        .with_context(|| args.scanner.display().to_string())
        .map_err(Failure::failed)?;
    let files = [
        (&*args.output, &*pushed.source),
        (&*header, &*pushed.header),
    ];
    write_all(&files, slice::from_ref(&args.scanner), args.force)?;
    print(&format!(
        "{}: names begin with {}flow_; each stream keeps {}\n",
        args.output.display(),
        pushed.prefix,
        match pushed.variables.is_empty() {
            true => "no variables of the actions".to_owned(),
            false => pushed.variables.join(", "),
        }
    ))?;
    Ok(Exit::Done)
}

fn patterns(args: &FlexArgs) -> Result<Exit, Failure> {
    let read = l7::read_paths(&args.patterns, &Limits::default()).map_err(|(path, error)| {
        let error = anyhow!(error).context(format!("cannot read {}", path.display()));
        Failure::unreadable(error)
    })?;
    let (patterns, refused) = read;
    for error in &refused {
        tell(format_args!("flowpin: left out: {error}"));
    }
    let options = FlexOptions {
        rewrite: match args.anchored {
            true => Rewrite::Anchored,
            false => Rewrite::Exact,
        },
        drops_ends: args.drop_ends,
    };
    let file = flowpin_cc::flex_file(&patterns, options);
    for (path, line, why) in &file.left_out {
        tell(format_args!(
            "flowpin: left out: {}:{line}: {why}",
            path.display()
        ));
    }
    if file.names.is_empty() {
        return Err(Failure::usage(anyhow!(
            "no pattern is left; nothing was written"
        )));
    }
    let read: Vec<_> = patterns
        .iter()
        .map(|pattern| pattern.path.clone())
        .collect();
    write_all(&[(&args.output, &file.text)], &read, args.force)?;
    print(&format!(
        "{}: {} of {} patterns; a stream's first token is its protocol (pattern_name)\n",
        args.output.display(),
        file.names.len(),
        patterns.len() + refused.len(),
    ))?;
    Ok(Exit::Done)
}

/// Writes files, all or none; those that were read are not replaced.
fn write_all(files: &[(&Path, &str)], read: &[PathBuf], force: bool) -> Result<(), Failure> {
    let existing = match force {
        true => Existing::Replace,
        false => Existing::Refuse,
    };
    let mut reads = Reads::default();
    read.iter().for_each(|path| reads.add_file(path));
    let paths: Vec<_> = files.iter().map(|(path, _)| *path).collect();
    Output::check_all(&paths, existing, &reads).map_err(Failure::usage)?;
    for (path, text) in files {
        let written = Output::open(path, existing, &reads).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.keep()
        });
        written
            .with_context(|| format!("cannot write {}", path.display()))
            .map_err(Failure::failed)?;
    }
    Ok(())
}

fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::failed)?;
    let capture = super::plain::plain(&args.read, folder.path());
    let capture = capture.map_err(Failure::unreadable)?;
    let question = Question {
        command: args.command.clone(),
        capture,
        key: match args.key {
            PartKey::IpPair => Key::IpPair,
            PartKey::FourTuple => Key::FourTuple,
        },
        ways: args.ways,
        ignored: args.ignored.clone(),
        folder: PathBuf::from(folder.path()),
    };
    let answer = flowpin_cc::check(&question).map_err(|error| match error {
        CheckError::Capture(_) => Failure::unreadable(error),
        _ => Failure::failed(error),
    })?;
    if answer.lines == 0 {
        return Err(Failure::failed(anyhow!(
            "the program wrote no line about the capture, so there is nothing to compare: name its \
             output with {{out}}, and see --ignore"
        )));
    }
    print(&verdict(&answer, args))?;
    Ok(match answer.is_affine() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// What the check found, in words.
fn verdict(answer: &Answer, args: &CheckArgs) -> String {
    let mut out = String::new();
    let packets: Vec<String> = answer.packets.iter().map(u64::to_string).collect();
    let _ = writeln!(
        out,
        "{} lines about the whole capture; parts of {} packets",
        answer.lines,
        packets.join(", ")
    );
    if answer.is_affine() {
        let _ = writeln!(
            out,
            "connection-affine: the {} parts together give the same lines",
            args.ways
        );
        return out;
    }
    let missing: usize = answer.missing.values().sum();
    let added: usize = answer.added.values().sum();
    let _ = writeln!(
        out,
        "NOT connection-affine under this key: {missing} lines are missing, {added} are others. \
         A parallel run would be wrong. Totals of the whole run may be left out with --ignore"
    );
    for (sign, lines) in [("-", &answer.missing), ("+", &answer.added)] {
        for line in lines.keys().take(LINES_SHOWN) {
            let _ = writeln!(out, "{sign} {line}");
        }
        if lines.len() > LINES_SHOWN {
            let _ = writeln!(out, "{sign} … and {} more", lines.len() - LINES_SHOWN);
        }
    }
    out
}

const LINES_SHOWN: usize = 5;
