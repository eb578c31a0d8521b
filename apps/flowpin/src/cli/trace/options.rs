//! Conversion of arguments to the options of the generator.

use super::{
    Layout, NetArgs, ReplicateArgs, SizeArgs, TalkArgs, Target, TargetArgs, TraceArgs, Wrapping,
};
use flowpin_disk::{Existing, Output};
use flowpin_gen::{Format, Kind, Options, Replication, Tunnel};
use std::path::{Path, PathBuf};

impl TargetArgs {
    fn format(&self) -> Format {
        match self.format {
            Some(Layout::Pcapng) => Format::PcapNg,
            Some(Layout::Pcap) => Format::Pcap,
            None if self.file().extension().is_some_and(|end| end == "pcapng") => Format::PcapNg,
            None => Format::Pcap,
        }
    }

    /// The path of `-w`; empty if frames are sent to an interface.
    fn file(&self) -> &Path {
        self.write.as_deref().unwrap_or(Path::new(""))
    }

    /// The treatment of existing files.
    pub(crate) const fn existing(&self) -> Existing {
        if self.force {
            Existing::Replace
        } else {
            Existing::Refuse
        }
    }

    /// Where the trace is written.
    pub(crate) fn target(&self) -> Target<'_> {
        match &self.interface {
            Some(name) => Target::Interface {
                name,
                topspeed: self.topspeed,
            },
            None if Output::is_stdout(self.file()) => Target::Stdout,
            None => Target::File(self.file()),
        }
    }
}

impl TraceArgs {
    /// The options from these arguments.
    ///
    /// # Errors
    /// A preset of another kind.
    pub(crate) fn options(&self, kind: Kind) -> anyhow::Result<Options> {
        let size = &self.size;
        let mut options = match size.preset {
            Some(preset) if preset.kind != kind => {
                anyhow::bail!("the preset `{}` is not a trace of this kind", preset.name)
            }
            Some(preset) => preset.options(size.part),
            None => Options::new(kind),
        };
        size.apply(&mut options);
        self.net.apply(&mut options);
        self.talk.apply(&mut options);
        let troubles = &mut options.troubles;
        troubles.lost = self.trouble.loss;
        troubles.reordered = self.trouble.reorder;
        troubles.retransmitted = self.trouble.retransmit;
        troubles.duplicated = self.trouble.duplicate;
        troubles.missing = self.trouble.missing;
        options.format = self.target.format();
        options.snap_len = self.target.snap_len;
        options.seed = self.target.seed;
        Ok(options)
    }

    /// Where the ground truth is written, if anywhere.
    pub(crate) fn truth(&self) -> Option<PathBuf> {
        match (&self.truth, self.target.target()) {
            (Some(path), _) => Some(path.clone()),
            (None, Target::File(path)) if !self.no_truth => {
                let is_device = path.exists() && !path.is_file();
                (!is_device).then(|| path.with_extension("truth.json"))
            }
            _ => None,
        }
    }
}

fn set<T: Copy>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl SizeArgs {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "counts and their ratios"
    )]
    fn apply(&self, options: &mut Options) {
        let each = self
            .rate
            .map(|rate| 1000.0 / rate)
            .or(self.packets_per_connection);
        set(&mut options.packets_per_connection, each);
        match (self.packets, self.connections) {
            (Some(packets), Some(connections)) => {
                options.connections = connections;
                options.packets_per_connection = packets as f64 / connections as f64;
            }
            (Some(packets), None) => {
                let connections = packets as f64 / options.packets_per_connection;
                options.connections = (connections as u64).max(1);
            }
            (None, connections) => set(&mut options.connections, connections),
        }
        set(&mut options.packet_len, self.packet_len);
        set(&mut options.packets_per_s, self.pps);
        if self.preset.is_none() {
            let share = if options.kind == Kind::Connections {
                0.98
            } else {
                0.1
            };
            options.concurrency = (options.connections as f64 * share).max(1.0);
        }
        set(&mut options.concurrency, self.concurrency);
    }
}

impl NetArgs {
    fn apply(&self, options: &mut Options) {
        set(&mut options.v6, self.ipv6);
        options.vlans.clone_from(&self.vlans);
        let tunnel = self.tunnel.map(|wrapping| match wrapping {
            Wrapping::Vxlan => Tunnel::Vxlan,
            Wrapping::Geneve => Tunnel::Geneve,
            Wrapping::Gre => Tunnel::Gre,
            Wrapping::Gtpu => Tunnel::Gtpu,
            Wrapping::Ipip => Tunnel::IpInIp,
        });
        set(&mut options.tunnel, tunnel);
        set(&mut options.mtu, self.mtu);
        set(&mut options.clients, self.clients);
        set(&mut options.servers, self.servers);
        set(&mut options.ports, self.ports);
        set(&mut options.datagram_len, self.datagram_len);
    }
}

impl TalkArgs {
    fn apply(&self, options: &mut Options) {
        set(&mut options.straddling, self.straddling);
        set(&mut options.chunked, self.chunked);
        if self.header_len.is_some() {
            options.header_len = self.header_len;
        }
        if !self.services.is_empty() {
            options.mix.clone_from(&self.services);
        }
        set(&mut options.reset, self.reset);
        options.closes &= !self.stay_open;
    }
}

impl ReplicateArgs {
    /// The capture to copy, and how.
    pub(crate) fn replication(&self) -> Replication {
        Replication {
            read: self.read.clone(),
            copies: self.copies,
            appended: self.appended,
            window_ns: self.window.0,
            seed: self.target.seed,
            snap_len: self.target.snap_len,
            format: self.target.format(),
        }
    }
}
