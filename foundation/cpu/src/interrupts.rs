//! Which processors take a device's interrupts.

use std::fs;

/// One interrupt of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// Its number in `/proc/interrupts`.
    pub number: u32,
    /// The queue that its name ends with: `eth0-TxRx-2`.
    pub queue: Option<u16>,
    /// The processors that may take it, as the kernel lists them: `3`, `0-3`.
    pub processors: String,
}

impl Interrupt {
    /// The processor that takes it, if it is only one.
    pub fn processor(&self) -> Option<usize> {
        self.processors.parse().ok()
    }
}

/// The interrupts of a network interface or another device, as far as the system tells.
pub fn interrupts(device: &str) -> Vec<Interrupt> {
    let listed = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let named = of_device(&listed, device);
    let known = named.filter_map(|(number, queue)| {
        let path = format!("/proc/irq/{number}/effective_affinity_list");
        let processors = fs::read_to_string(path).ok()?.trim().to_owned();
        (!processors.is_empty()).then_some(Interrupt {
            number,
            queue,
            processors,
        })
    });
    known.collect()
}

/// Of all interrupts those whose name is the device's, or begins with it; and what it ends with.
fn of_device(listed: &str, device: &str) -> impl Iterator<Item = (u32, Option<u16>)> {
    listed.lines().filter_map(move |line| {
        let name = line.split_whitespace().next_back()?;
        let rest = name.strip_prefix(device)?;
        if !rest.is_empty() && !rest.starts_with('-') {
            return None;
        }
        let (number, _) = line.trim_start().split_once(':')?;
        let (_, last) = rest.rsplit_once('-').unwrap_or_default();
        Some((number.parse().ok()?, last.parse().ok()))
    })
}

#[cfg(test)]
mod tests {
    use super::{Interrupt, of_device};

    /// As drivers name them: a number for each queue behind the interface, one for the rest of it.
    #[test]
    fn names_tell_interface_and_queue() {
        let listed = "           CPU0       CPU1
   8:          0          1   IO-APIC   8-edge      rtc0
  40:      12345          0   PCI-MSI 524288-edge      eth1
  41:          0       6789   PCI-MSI 524289-edge      eth1-TxRx-0
  42:          1          2   PCI-MSI 524290-edge      eth1-rx-7
  43:          1          2   PCI-MSI 524291-edge      eth10-TxRx-0
 NMI:          0          0   Non-maskable interrupts
";
        let found: Vec<_> = of_device(listed, "eth1").collect();
        assert_eq!(found, [(40, None), (41, Some(0)), (42, Some(7))]);
        assert_eq!(of_device(listed, "eth2").count(), 0);
    }

    /// A list of several is no processor of its own.
    #[test]
    fn only_one_processor_is_the_processor() {
        let one = |processors: &str| Interrupt {
            number: 1,
            queue: None,
            processors: processors.to_owned(),
        };
        assert_eq!(one("3").processor(), Some(3));
        assert_eq!(one("0-3").processor(), None);
    }
}
