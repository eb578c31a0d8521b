//! Which buffers are made of messages of HTTP.

use super::Group;
use flowpin_rule::{BufferId, BufferSource};
use std::collections::{BTreeMap, BTreeSet};

/// Buffers that are made of messages of HTTP in one direction.
#[derive(Debug, Default)]
pub(crate) struct OfHttp {
    /// Rules have their fast patterns there.
    pub(crate) searched: Vec<BufferId>,
    pub(crate) others: Vec<BufferId>,
}

impl OfHttp {
    pub(super) fn new(
        used: &BTreeSet<BufferId>,
        groups: &BTreeMap<BufferId, [Group; 2]>,
        to_server: bool,
    ) -> Self {
        let is_made = |one: &&BufferId| {
            let info = one.info();
            let is_of_side = info.to_server.is_none_or(|sender| sender == to_server);
            let is_of_http = matches!(
                info.source,
                BufferSource::Http(_) | BufferSource::File | BufferSource::OfFile(_)
            );
            is_of_side && is_of_http
        };
        let is_searched = |one: &BufferId| {
            let group = groups
                .get(one)
                .and_then(|both| both.get(usize::from(!to_server)));
            group.is_some_and(|group| !group.is_empty())
        };
        let made = used.iter().filter(is_made);
        let (searched, others) = made.partition(|one| is_searched(one));
        Self { searched, others }
    }
}
