//! The processors of a run's threads.

use super::shape::Shape;
use crate::RunError;
use flowpin_config::Plan;
use flowpin_cpu::Interrupt;

/// Checks that this process may use all processors of `--cpus`.
pub(crate) fn check_cpus(plan: &Plan) -> Result<(), RunError> {
    if plan.cpus.is_empty() {
        return Ok(());
    }
    let allowed = flowpin_cpu::allowed_cpus();
    match plan.cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(()),
        Some(&cpu) => Err(RunError::NoSuchCpu { cpu, allowed }),
    }
}

/// The processors for a shape's threads: those of `--cpus`, or some that share a cache. With fewer
/// cores than threads none are pinned: the scheduler then does better.
///
/// A thread that only reads is where the packets come in ([`interrupt_cpu`]).
pub(super) fn cpus(plan: &Plan, shape: Shape, cores: usize) -> Vec<usize> {
    if !plan.cpus.is_empty() {
        return plan.cpus.clone();
    }
    match shape {
        Shape::Single => Vec::new(),
        _ if shape.threads() > cores => Vec::new(),
        _ => {
            let chosen = flowpin_cpu::choose_cpus(shape.threads());
            match shape {
                Shape::Single | Shape::Turns(_) => chosen,
                Shape::InputAndWorkers(_) | Shape::InputWorkersOutput(_) => {
                    reading_at(chosen, interrupt_cpu(plan))
                }
            }
        }
    }
}

/// The processor that takes the interrupts of the only queue that is captured from: the kernel has
/// just put the packets into its cache, and it goes first there, so that the thread gives it way.
fn interrupt_cpu(plan: &Plan) -> Option<usize> {
    let [interface] = plan.live.interfaces.as_slice() else {
        return None;
    };
    let all = flowpin_cpu::interrupts(&interface.name);
    let its = |one: &&Interrupt| interface.queue.is_none() || one.queue == interface.queue;
    let mut taken = all.iter().filter(its);
    let cpu = taken.next()?.processor()?;
    let is_one = taken.all(|other| other.processor() == Some(cpu));
    (is_one && flowpin_cpu::allowed_cpus().contains(&cpu)).then_some(cpu)
}

/// The same processors with this one for the first thread.
fn reading_at(mut chosen: Vec<usize>, cpu: Option<usize>) -> Vec<usize> {
    let Some(cpu) = cpu else {
        return chosen;
    };
    let place = chosen.iter().position(|&one| one == cpu).unwrap_or(0);
    if let Some(one) = chosen.get_mut(place) {
        *one = cpu;
        chosen.swap(0, place);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::reading_at;

    /// Each thread has a processor of its own, and the first one that which takes the packets.
    #[test]
    fn the_first_thread_is_where_packets_come_in() {
        assert_eq!(reading_at(vec![0, 1, 2], Some(2)), [2, 1, 0]);
        assert_eq!(reading_at(vec![0, 1, 2], Some(7)), [7, 1, 2]);
        assert_eq!(reading_at(vec![0, 1, 2], None), [0, 1, 2]);
        assert_eq!(reading_at(Vec::new(), Some(1)), [0; 0]);
    }
}
