//! The functions that hand a call on, and those that make it in the other stage.

use super::super::context::declarator;
use super::super::edits::{Edits, Slot};
use super::super::pragma::global;
use super::super::{Backend, Plan, lex};
use super::{Cut, Key, Stages, parameter_name};
use crate::model::GlobalId;
use std::fmt::Write;

impl Stages {
    /// Calls that are handed on, and statements of one stage.
    pub(in super::super) fn edit(&self, plan: &Plan<'_>, edits: &mut Edits) {
        let model = plan.model;
        for (number, cut) in self.cuts.iter().enumerate() {
            let name = &model.function(cut.callee).name;
            edits.replace(
                model,
                cut.name,
                name.len(),
                &format!("flowpin_cut_{number}"),
            );
            if let Some(body) = model.function(cut.caller).body {
                let declaration = format!("{};\n", head(plan, number, cut));
                edits.append(body.start, Slot::Callback, &declaration);
            }
        }
        for one in &self.inside {
            let condition = format!("if (flowpin_in_stage({})) ", one.stage);
            edits.insert(model, one.start, Slot::Condition, &condition);
        }
    }

    /// What a unit's end has for its cuts.
    pub(in super::super) fn unit_end(&self, plan: &Plan<'_>, unit: usize) -> String {
        let file = plan.model.units[unit].file;
        let mut out = String::new();
        for (number, cut) in self.cuts.iter().enumerate() {
            if cut.name.file == file {
                out.push_str(&self.functions(plan, number, cut));
            }
        }
        out
    }

    fn functions(&self, plan: &Plan<'_>, number: usize, cut: &Cut) -> String {
        let model = plan.model;
        let callee = model.function(cut.callee);
        let names: Vec<String> = (0..callee.parameters.len())
            .map(|one| parameter_name(model, cut.callee, one))
            .collect();
        let takes_context =
            plan.backend == Backend::Context && plan.closure.all.contains(&cut.callee);
        let call_of = |arguments: Vec<String>| {
            let context = takes_context.then(|| "flowpin".to_owned());
            let all: Vec<String> = context.into_iter().chain(arguments).collect();
            format!("{}({})", callee.name, all.join(", "))
        };
        let mut out = format!(
            "/* A cut: the stage {} runs {}. */\nstruct flowpin_call_{number} {{\n  int unused;\n",
            self.name(cut.to),
            callee.name
        );
        for (ty, name) in callee.parameters.iter().zip(&names) {
            let _ = writeln!(out, "  {};", declarator(unqualified(ty), name));
        }
        for id in &cut.forward {
            let name = &model.global(*id).name;
            let _ = writeln!(out, "  __typeof__({name}) flowpin_{name};");
        }
        let _ = write!(
            out,
            "}};\n\n\
             static void flowpin_run_{number}(struct flowpin_core *flowpin, void *given) {{\n\
             \x20 struct flowpin_call_{number} *call = given;\n  (void)flowpin;\n  (void)call;\n"
        );
        for id in &cut.forward {
            let name = &model.global(*id).name;
            let _ = writeln!(out, "  {} = call->flowpin_{name};", own(plan, *id));
        }
        let passed = names.iter().map(|name| format!("call->{name}")).collect();
        let _ = write!(
            out,
            "  {};\n}}\n\n{} {{\n",
            call_of(passed),
            head(plan, number, cut)
        );
        let mut total = format!("((sizeof(struct flowpin_call_{number}) + 15) & ~15ul)");
        for (index, copy) in cut.copies.iter().enumerate() {
            let pointer = self.expression(plan, cut, &names, &copy.name);
            let length = self.expression(plan, cut, &names, &copy.length);
            let _ = writeln!(
                out,
                "  unsigned long flowpin_size_{index} = {pointer} ? (unsigned long)({length}) : 0;"
            );
            let _ = write!(total, " + ((flowpin_size_{index} + 15) & ~15ul)");
        }
        let key = match &cut.key {
            Key::None => "0".to_owned(),
            Key::Expression(text) => {
                format!("(unsigned)({})", self.expression(plan, cut, &names, text))
            }
            Key::Packet(kind, _) => {
                let packet = cut.copies.first().map_or("0", |copy| copy.name.as_str());
                let packet = self.expression(plan, cut, &names, packet);
                format!("flowpin_key_of({kind}, {packet}, flowpin_size_0)")
            }
        };
        let _ = write!(
            out,
            "  struct flowpin_call_{number} *call = flowpin_hand_on(\n\
             \x20     {}, {key}, flowpin_run_{number},\n\x20     {total});\n\
             \x20 if (!call) {{\n    {};\n    return;\n  }}\n",
            cut.to,
            call_of(names.clone())
        );
        for name in &names {
            let _ = writeln!(out, "  call->{name} = {name};");
        }
        for id in &cut.forward {
            let name = &model.global(*id).name;
            let _ = writeln!(out, "  call->flowpin_{name} = {};", own(plan, *id));
        }
        if !cut.copies.is_empty() {
            let _ = writeln!(
                out,
                "  char *flowpin_at = (char *)call + ((sizeof *call + 15) & ~15ul);"
            );
        }
        for (index, copy) in cut.copies.iter().enumerate() {
            let is_parameter = names.contains(&copy.name);
            let field = match is_parameter {
                true => copy.name.clone(),
                false => format!("flowpin_{}", copy.name),
            };
            let _ = write!(
                out,
                "  if (call->{field}) {{\n\
                 \x20   __builtin_memcpy(flowpin_at, call->{field}, flowpin_size_{index});\n\
                 \x20   call->{field} = (void *)flowpin_at;\n  }}\n\
                 \x20 flowpin_at += (flowpin_size_{index} + 15) & ~15ul;\n"
            );
        }
        out.push_str("  flowpin_handed_on();\n}\n\n");
        out
    }

    /// An author's expression, with the names of private variables as this unit has them.
    fn expression(&self, plan: &Plan<'_>, cut: &Cut, names: &[String], text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for (start, word) in lex::identifiers(text.as_bytes()) {
            let word = String::from_utf8_lossy(word).into_owned();
            let id = global(plan.model, cut.name.file, &word).ok();
            let is_field = text[..start].ends_with(['.', '>']);
            if let (Some(id), false, false) = (id, names.contains(&word), is_field) {
                out.push_str(&text[at..start]);
                out.push_str(&own(plan, id));
                at = start + word.len();
            }
        }
        out.push_str(&text[at..]);
        out
    }
}

fn own(plan: &Plan<'_>, id: GlobalId) -> String {
    let accessor = plan.layout.accessors.get(&id).cloned();
    accessor.unwrap_or_else(|| plan.model.global(id).name.clone())
}

fn head(plan: &Plan<'_>, number: usize, cut: &Cut) -> String {
    let callee = plan.model.function(cut.callee);
    let mut parameters = Vec::new();
    if plan.backend == Backend::Context {
        parameters.push("struct flowpin_core *flowpin".to_owned());
    }
    for (at, ty) in callee.parameters.iter().enumerate() {
        parameters.push(declarator(ty, &parameter_name(plan.model, cut.callee, at)));
    }
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    format!(
        "static void flowpin_cut_{number}({})",
        parameters.join(", ")
    )
}

/// A type that can be assigned to.
fn unqualified(ty: &str) -> &str {
    match ty.contains('*') {
        true => ty.trim_end_matches("const").trim_end(),
        false => ty.strip_prefix("const ").unwrap_or(ty),
    }
}
