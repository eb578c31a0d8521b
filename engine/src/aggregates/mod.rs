//! All aggregates: one line each.
//!
//! ```text
//!  worker: records ─► Observers ──News, with the records of a tick──► Deciders ─► merger
//!                     (one a worker)                                      └─► Findings ─► report
//! ```
//!
//! [`flowpin_aggregate`] describes the two sides of an aggregate. To add one: write them in a crate
//! under `pipeline/90-detect`, add a line below, and show its findings in the summary.

mod source;

use crate::output::messages;
use crate::recall::Recall;
use flowpin_aggregate::{Aggregate, Decider, Observer};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{Formatter, Merger, RecordBatch};
use flowpin_packet::{InterfaceNames, Timestamp};
use flowpin_record::{Alert, ConnRecord, DataChannel, MessagePlace, RecordKey};
use source::Source;
use std::io;

type ObserverOf<A> = <A as Aggregate>::Observer;
type DeciderOf<A> = <A as Aggregate>::Decider;
type NewsOf<A> = <ObserverOf<A> as Observer>::News;
type FindingsOf<A> = <DeciderOf<A> as Decider>::Findings;

macro_rules! aggregates {
    ($($(#[$doc:meta])* $name:ident: $aggregate:ty;)*) => {
        /// The news that a worker hands over with its records.
        #[derive(Debug, Default)]
        pub(crate) struct News {
            $(pub(crate) $name: Option<NewsOf<$aggregate>>,)*
        }

        /// The observers of one worker, for the aggregates that its plan enables.
        #[derive(Debug, Default)]
        pub(crate) struct Observers {
            $($name: Option<ObserverOf<$aggregate>>,)*
        }

        impl Observers {
            /// The observers that a plan enables. `secret` keys hash tables.
            pub(crate) fn new(plan: &Plan, secret: u64) -> io::Result<Self> {
                Ok(Self {
                    $($name: <$aggregate>::is_wanted(plan)
                        .then(|| <$aggregate>::observer(plan, secret))
                        .transpose()?,)*
                })
            }

            /// A connection record is written.
            #[inline]
            pub(crate) fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
                $(if let Some(observer) = &mut self.$name {
                    observer.conn(key, record);
                })*
            }

            /// A connection announces another one.
            pub(crate) fn data_channel(
                &mut self,
                key: RecordKey,
                place: &MessagePlace,
                channel: DataChannel<'_>,
            ) {
                $(if let Some(observer) = &mut self.$name {
                    observer.data_channel(key, place, channel);
                })*
            }

            /// A rule fits something of a connection.
            pub(crate) fn alert(
                &mut self,
                key: RecordKey,
                place: &MessagePlace,
                alert: Alert<'_>,
            ) {
                $(if let Some(observer) = &mut self.$name {
                    observer.alert(key, place, alert);
                })*
            }

            /// How much memory their news take.
            #[inline]
            pub(crate) fn held_bytes(&self) -> usize {
                let mut bytes = 0;
                $(if let Some(observer) = &self.$name {
                    bytes += observer.held_bytes();
                })*
                bytes
            }

            /// The news since the last tick.
            pub(crate) fn tick(&mut self, now: Timestamp) -> News {
                News {
                    $($name: self.$name.as_mut().and_then(|observer| observer.tick(now)),)*
                }
            }

            /// The last news.
            pub(crate) fn finish(self, end: Timestamp) -> News {
                News {
                    $($name: self.$name.and_then(|observer| observer.finish(end)),)*
                }
            }
        }

        /// The findings of a run's aggregates, for its summary.
        #[derive(Debug, Default)]
        pub struct Findings {
            $($(#[$doc])* pub $name: FindingsOf<$aggregate>,)*
        }

        /// The deciders of a run. Those that emit records are sources of its merger.
        #[derive(Debug)]
        pub(crate) struct Deciders {
            /// By worker: the key up to which it has delivered everything.
            delivered: Vec<RecordKey>,
            /// Sources of the merger that are before these.
            before: usize,
            $($name: Option<Source<DeciderOf<$aggregate>>>,)*
        }

        impl Deciders {
            /// The deciders that a plan enables, for `workers` workers. `before`: the merger's
            /// sources before them.
            pub(crate) fn new(plan: &Plan, workers: usize, before: usize) -> Self {
                Self {
                    delivered: vec![RecordKey::default(); workers],
                    before,
                    $($name: <$aggregate>::is_wanted(plan)
                        .then(|| Source::new(<$aggregate>::decider(plan, workers), plan)),)*
                }
            }

            /// Tells a conditional recording of what they find.
            pub(crate) fn recall(&mut self, recall: &Recall) {
                $(if let Some(source) = &mut self.$name {
                    source.findings = Some(Box::new(recall.findings()));
                })*
            }

            /// The number of their sources in the merger.
            pub(crate) fn sources(&self) -> usize {
                let mut sources = 0;
                $(sources += usize::from(self.$name.as_ref().is_some_and(Source::emits));)*
                sources
            }

            /// Takes the news of a worker, which has delivered all its records up to `watermark`.
            /// Other sources have no news.
            pub(crate) fn push(&mut self, worker: usize, watermark: RecordKey, news: News) {
                let Some(delivered) = self.delivered.get_mut(worker) else {
                    return;
                };
                *delivered = watermark;
                $(if let (Some(source), Some(news)) = (&mut self.$name, news.$name) {
                    source.decider.add(worker, news);
                })*
            }

            /// Decides what can be decided, and pushes the records to the merger.
            pub(crate) fn decide(&mut self, merger: &mut Merger) {
                let delivered = self.delivered.iter().min().copied().unwrap_or_default();
                let mut number = self.before;
                $(if let Some(source) = &mut self.$name {
                    source.decide(delivered, number, merger);
                    number += usize::from(source.emits());
                })*
                debug_assert_eq!(number, self.before + self.sources());
            }

            /// Returns a written batch to its formatter; hands back one of an earlier source.
            pub(crate) fn recycle(
                &mut self,
                source: usize,
                batch: RecordBatch,
            ) -> Option<RecordBatch> {
                let Some(nth) = source.checked_sub(self.before) else {
                    return Some(batch);
                };
                let mut formatters = self.formatters().skip(nth);
                if let Some(formatter) = formatters.next() {
                    formatter.recycle(batch);
                }
                None
            }

            fn formatters(&mut self) -> impl Iterator<Item = &mut Formatter> {
                let all = [$(self.$name.as_mut().and_then(Source::formatter),)*];
                all.into_iter().flatten()
            }

            /// News that did not fit.
            pub(crate) fn losses(&self) -> Losses {
                let mut losses = Losses::default();
                $(if let Some(source) = &self.$name {
                    losses.add(&source.decider.losses());
                })*
                losses
            }

            /// The findings, once everything is decided.
            pub(crate) fn take_findings(&mut self) -> Findings {
                Findings {
                    $($name: self
                        .$name
                        .as_mut()
                        .map(|source| source.decider.take_findings())
                        .unwrap_or_default(),)*
                }
            }
        }
    };
}

aggregates! {
    /// Scans and floods.
    scans: flowpin_portscan::Scans;
    /// Connections that carry FTP's data, and what they were counted as.
    data: flowpin_data_channels::DataChannels;
    /// Alerts of rules.
    alerts: flowpin_detect::Alerts;
    /// Connections, by transport, state, protocol and port.
    connections: flowpin_totals::Connections;
    /// The addresses, and the pairs of client and server, with the most bytes.
    hosts: flowpin_totals::Hosts;
    /// Records of the pairs of client and server.
    host_pairs: flowpin_totals::HostPairs;
    /// The VLANs with the most bytes, and connections without one.
    vlans: flowpin_totals::Vlans;
}

impl Observers {
    /// Other rules fit from here on; the number of the first.
    pub(crate) fn exchange_rules(&mut self, first: u32) {
        if let Some(alerts) = &mut self.alerts {
            alerts.exchanged(first);
        }
    }
}

impl Deciders {
    /// The names of the interfaces that records carry numbers of.
    pub(crate) fn name_interfaces(&mut self, names: &InterfaceNames) {
        self.formatters()
            .for_each(|formatter| formatter.name_interfaces(names));
    }

    /// Where alerts of packets that belong to no connection are put, if there are rules.
    pub(crate) fn alerts_inbox(&self) -> Option<flowpin_detect::Inbox> {
        let alerts = self.alerts.as_ref();
        alerts.map(|source| source.decider.inbox())
    }

    /// Of a part: the alerts that are there now.
    pub(crate) fn take_inbox(&self) -> Option<flowpin_detect::AlertNews> {
        self.alerts.as_ref()?.decider.take_inbox()
    }
}

impl Findings {
    /// Counts connections under the names that other connections have given them.
    pub(crate) fn rename(&mut self) {
        for (was, name, traffic) in self.data.iter() {
            self.connections.rename(was, name, traffic);
        }
    }
}
