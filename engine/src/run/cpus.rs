//! The processors of a run's threads.

use super::shape::Shape;
use crate::RunError;
use flowpin_config::Plan;

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
pub(super) fn cpus(plan: &Plan, shape: Shape, cores: usize) -> Vec<usize> {
    if !plan.cpus.is_empty() {
        return plan.cpus.clone();
    }
    match shape {
        Shape::Single => Vec::new(),
        _ if shape.threads() > cores => Vec::new(),
        _ => flowpin_cpu::choose_cpus(shape.threads()),
    }
}
