//! Which processors share a cache, and which of them to use.
//!
//! Read from `/sys/devices/system/cpu` once at start. Where that is absent or says nonsense
//! (containers, other systems), all processors count as one group of whole cores.

use crate::affinity::{allowed_cpus, current_cpu};
use std::fs;
use std::path::Path;

/// The allowed processors in groups that share their last-level cache.
pub fn cache_sharing_groups() -> Vec<Vec<usize>> {
    Topology::read(Path::new(SYSFS), &allowed_cpus())
        .groups
        .into_iter()
        .map(|g| g.cpus())
        .collect()
}

/// `count` processors for threads that talk to each other: whole cores that share a cache first,
/// then whole cores elsewhere, then second threads of cores. Of equal groups, the one that the
/// calling thread runs in: two runs started together then tend not to choose the same.
///
/// Empty if fewer than `count` are allowed: two threads that wait for each other should not be
/// pinned to one processor, the scheduler does better.
pub fn choose_cpus(count: usize) -> Vec<usize> {
    Topology::read(Path::new(SYSFS), &allowed_cpus()).choose(count, current_cpu())
}

const SYSFS: &str = "/sys/devices/system/cpu";

/// The processors of one last-level cache, core by core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    cores: Vec<Vec<usize>>,
}

impl Group {
    fn cpus(&self) -> Vec<usize> {
        let mut cpus: Vec<usize> = self.cores.iter().flatten().copied().collect();
        cpus.sort_unstable();
        cpus
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Topology {
    groups: Vec<Group>,
}

impl Topology {
    fn read(sysfs: &Path, allowed: &[usize]) -> Self {
        let mut groups: Vec<(Vec<usize>, Group)> = Vec::new();
        for &cpu in allowed {
            let folder = sysfs.join(format!("cpu{cpu}"));
            let cache = last_level_cache(&folder).unwrap_or_default();
            let siblings = cpu_list(&folder.join("topology/thread_siblings_list"))
                .unwrap_or_else(|| vec![cpu]);
            let at = groups
                .iter()
                .position(|(shared, _)| *shared == cache)
                .unwrap_or_else(|| {
                    groups.push((cache, Group::default()));
                    groups.len() - 1
                });
            let Some((_, group)) = groups.get_mut(at) else {
                continue;
            };
            let core = group
                .cores
                .iter_mut()
                .find(|core| core.first().is_some_and(|first| siblings.contains(first)));
            match core {
                Some(core) => core.push(cpu),
                None => group.cores.push(vec![cpu]),
            }
        }
        Self {
            groups: groups.into_iter().map(|(_, group)| group).collect(),
        }
    }

    fn choose(mut self, count: usize, current: Option<usize>) -> Vec<usize> {
        let allowed: usize = self
            .groups
            .iter()
            .flat_map(|g| &g.cores)
            .map(Vec::len)
            .sum();
        if count > allowed {
            return Vec::new();
        }
        // A stable sort: equal groups stay in the order of their processors.
        self.groups.sort_by_key(|group| {
            let enough = group.cores.len() >= count;
            let here = current.is_some_and(|cpu| group.cores.iter().any(|c| c.contains(&cpu)));
            let size = if enough { 0 } else { group.cores.len() };
            (!enough, core::cmp::Reverse(size), !here)
        });
        let threads = self
            .groups
            .iter()
            .flat_map(|g| &g.cores)
            .map(Vec::len)
            .max()
            .unwrap_or(0);
        (0..threads)
            .flat_map(|nth| {
                let cores = self.groups.iter().flat_map(|group| &group.cores);
                cores.filter_map(move |core| core.get(nth).copied())
            })
            .take(count)
            .collect()
    }
}

/// The processors that share the highest cache level of one; `None` if that cannot be read.
fn last_level_cache(folder: &Path) -> Option<Vec<usize>> {
    let mut best: Option<(u32, Vec<usize>)> = None;
    for entry in fs::read_dir(folder.join("cache")).ok()?.flatten() {
        let index = entry.path();
        let Some(level) = fs::read_to_string(index.join("level"))
            .ok()
            .and_then(|text| text.trim().parse::<u32>().ok())
        else {
            continue;
        };
        if best.as_ref().is_none_or(|(highest, _)| level > *highest)
            && let Some(cpus) = cpu_list(&index.join("shared_cpu_list"))
        {
            best = Some((level, cpus));
        }
    }
    best.map(|(_, cpus)| cpus)
}

/// A file that lists processors, as `0-3,8`.
fn cpu_list(file: &Path) -> Option<Vec<usize>> {
    let text = fs::read_to_string(file).ok()?;
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if last < first || last - first > CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    (!cpus.is_empty()).then_some(cpus)
}

/// A longer range than this is nonsense.
const CPUS_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{Group, SYSFS, Topology, cache_sharing_groups, choose_cpus};
    use crate::allowed_cpus;
    use std::path::Path;

    fn topology(groups: &[&[&[usize]]]) -> Topology {
        Topology {
            groups: groups
                .iter()
                .map(|g| Group {
                    cores: g.iter().map(|c| c.to_vec()).collect(),
                })
                .collect(),
        }
    }

    /// Two caches of two cores with two threads each.
    fn two_caches() -> Topology {
        topology(&[&[&[0, 4], &[1, 5]], &[&[2, 6], &[3, 7]]])
    }

    /// Threads that talk to each other get whole cores of one cache if there are enough.
    #[test]
    fn whole_cores_of_one_cache_come_first() {
        assert_eq!(two_caches().choose(2, None), [0, 1]);
        assert_eq!(two_caches().choose(2, Some(7)), [2, 3]);
        assert_eq!(two_caches().choose(3, Some(2)), [2, 3, 0]);
        assert_eq!(two_caches().choose(6, None), [0, 1, 2, 3, 4, 5]);
        let uneven = topology(&[&[&[0]], &[&[1], &[2], &[3]]]);
        assert_eq!(uneven.choose(3, Some(0)), [1, 2, 3]);
    }

    /// More threads than processors: nobody is pinned.
    #[test]
    fn more_threads_than_processors_are_left_to_the_scheduler() {
        assert!(two_caches().choose(9, Some(0)).is_empty());
        assert!(choose_cpus(usize::MAX).is_empty());
        assert!(two_caches().choose(0, None).is_empty());
    }

    /// Without `/sys` every processor is a core of one group, so the choice still works.
    #[test]
    fn without_sysfs_all_processors_are_one_group() {
        let blind = Topology::read(Path::new("/nonexistent"), &[3, 4, 9]);
        assert_eq!(blind, topology(&[&[&[3], &[4], &[9]]]));
        assert_eq!(blind.choose(2, Some(4)), [3, 4]);
    }

    /// On this machine: every allowed processor is in exactly one group, and can be chosen.
    #[test]
    fn this_machines_processors_are_each_in_one_group() {
        let allowed = allowed_cpus();
        let mut grouped: Vec<usize> = cache_sharing_groups().into_iter().flatten().collect();
        grouped.sort_unstable();
        assert_eq!(grouped, allowed);
        let mut chosen = Topology::read(Path::new(SYSFS), &allowed).choose(allowed.len(), None);
        chosen.sort_unstable();
        assert_eq!(chosen, allowed);
    }
}
