//! Which functions a pointer may hold: values followed through assignments, arguments, results
//! and fields, without regard to the order of statements.

use super::Collector;
use super::walk::ASSIGN;
use crate::clang::{Cursor, kind};
use crate::model::{FunctionId, Model};
use std::collections::{HashMap, HashSet};

/// What can hold a function's address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// The function itself.
    Function(FunctionId),
    /// A variable, or a field of all structures of its type.
    Value(String),
    /// A parameter.
    Parameter(FunctionId, usize),
    /// What a function returns.
    Result(FunctionId),
}

/// A call through a pointer: where the pointer comes from, and what is passed.
type Through = (Vec<Node>, Vec<Vec<Node>>);

/// Where values go.
#[derive(Default)]
pub(super) struct Flows {
    edges: HashMap<Node, HashSet<Node>>,
    calls: Vec<(usize, Through)>,
}

impl Flows {
    pub(super) fn edge(&mut self, from: Node, to: Node) {
        self.edges.entry(from).or_default().insert(to);
    }

    pub(super) fn pointer_call(
        &mut self,
        number: usize,
        pointer: Vec<Node>,
        passed: Vec<Vec<Node>>,
    ) {
        self.calls.push((number, (pointer, passed)));
    }
}

impl Collector {
    /// What the value of an expression may come from.
    pub(super) fn values(&mut self, cursor: Cursor<'_>) -> Vec<Node> {
        let children = cursor.children();
        let of = |collector: &mut Self, number: usize| match children.get(number) {
            Some(child) => collector.values(*child),
            None => Vec::new(),
        };
        match cursor.kind() {
            kind::DECL_REF => match cursor.referenced() {
                Some(target) if target.kind() == kind::FUNCTION => {
                    vec![Node::Function(self.function_id(target))]
                }
                Some(target) => vec![Node::Value(self.key(target))],
                None => Vec::new(),
            },
            kind::MEMBER_REF => {
                let field = cursor.referenced();
                field
                    .map(|field| Node::Value(field.usr()))
                    .into_iter()
                    .collect()
            }
            kind::PAREN | kind::UNEXPOSED | kind::UNARY | kind::ARRAY_SUBSCRIPT => of(self, 0),
            kind::CAST => of(self, children.len().saturating_sub(1)),
            kind::CHOICE => {
                let mut both = of(self, 1);
                both.extend(of(self, 2));
                both
            }
            kind::BINARY if cursor.binary_operator() == ASSIGN => of(self, 1),
            kind::CALL => match cursor.referenced() {
                Some(target) if target.kind() == kind::FUNCTION => {
                    vec![Node::Result(self.function_id(target))]
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// What an initialiser puts into `target` and its fields.
    pub(super) fn initial_flow(&mut self, target: &Node, initialiser: Cursor<'_>) {
        if initialiser.kind() != kind::INIT_LIST {
            for source in self.values(initialiser) {
                self.flows.edge(source, target.clone());
            }
            return;
        }
        let fields = initialiser.fields();
        for (number, element) in initialiser.children().into_iter().enumerate() {
            let designated = designator(element);
            let field = designated
                .map(|(field, _)| field)
                .or(fields.get(number).copied());
            let value = designated.map_or(element, |(_, value)| value);
            match field {
                Some(field) => self.initial_flow(&Node::Value(field.usr()), value),
                None => self.initial_flow(target, value),
            }
        }
    }
}

/// The field and the value of `.field = value`, which libclang shows as a node without a name.
pub(super) fn designator(element: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    let children = element.children();
    let first = children.first()?;
    let is_designator = element.kind() == kind::UNEXPOSED && first.kind() == kind::DESIGNATOR;
    is_designator.then_some(())?;
    Some((first.referenced()?, *children.last()?))
}

/// Follows all functions to the calls that may reach them.
pub(super) fn resolve(model: &mut Model, flows: &Flows) {
    let mut edges = flows.edges.clone();
    let mut holds: HashMap<Node, HashSet<FunctionId>> = HashMap::new();
    let mut work: Vec<(Node, FunctionId)> = Vec::new();
    for id in 0..model.functions.len() {
        work.push((Node::Function(id), id));
    }
    let mut calls_by_pointer: HashMap<&Node, Vec<&(usize, Through)>> = HashMap::new();
    for call in &flows.calls {
        for node in &call.1.0 {
            calls_by_pointer.entry(node).or_default().push(call);
        }
    }
    while let Some((node, function)) = work.pop() {
        if !holds.entry(node.clone()).or_default().insert(function) {
            continue;
        }
        for (number, (_, passed)) in calls_by_pointer.get(&node).into_iter().flatten() {
            if !model.pointer_calls[*number].fits(&model.functions[function]) {
                continue;
            }
            let targets = &mut model.pointer_calls[*number].targets;
            if !targets.contains(&function) {
                targets.push(function);
            }
            for (position, sources) in passed.iter().enumerate() {
                let to = Node::Parameter(function, position);
                for source in sources {
                    edges.entry(source.clone()).or_default().insert(to.clone());
                    for held in holds.get(source).into_iter().flatten() {
                        work.push((to.clone(), *held));
                    }
                }
            }
        }
        for to in edges.get(&node).into_iter().flatten() {
            work.push((to.clone(), function));
        }
    }
    for call in &mut model.pointer_calls {
        call.targets.sort_unstable();
    }
}
