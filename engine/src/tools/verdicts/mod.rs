//! Which protocol each connection speaks, told one by one.
//!
//! ```text
//!  input stage ► connection table ► reassembly ► identify ► ListSink
//!  (as in a run)                                            a table, JSON lines, CSV
//! ```
//!
//! One thread. What is told, and its order, is that of the records of a run with the same settings.

mod counted;

use crate::aggregates::{Deciders, Findings};
use crate::output::OutputSummary;
use crate::report::{ProgressSink, RunReport};
use crate::run::shape::Shape;
use crate::run::{self, open};
use crate::tools;
use crate::worker::identify::IdentifyRules;
use crate::worker::stages::{AllStages, Planned};
use crate::{Control, RunError};
use counted::{Counted, Ended};
use flowpin_config::{IdentifyPlan, Plan, ScansPlan};
use flowpin_data_channels::DataNames;
use flowpin_flow::Table;
use flowpin_identify::On;
use flowpin_record::{ConnRecord, RecordKey};

/// A connection, and what is known of its protocol.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Its record; [`ConnRecord::app`] is the verdict.
    pub record: ConnRecord,
    /// Packets whose bytes were looked at; 255: or more.
    pub inspected: u8,
    /// Where there is no verdict: what the server's port suggests.
    pub port_hint: Option<&'static str>,
}

/// Who gets the list.
pub trait ListSink {
    /// The input is open and the rules are compiled; `names` are all protocols that there can be,
    /// the user's included.
    ///
    /// # Errors
    /// The run ends with it.
    fn begin(&mut self, names: &[&str]) -> Result<(), RunError> {
        let _ = names;
        Ok(())
    }

    /// The next connection.
    ///
    /// # Errors
    /// The run ends with it.
    fn connection(&mut self, listed: &Listed) -> Result<(), RunError>;
}

pub(crate) fn identify<K: ListSink>(
    plan: &Plan,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    let plan = Plan {
        identify: IdentifyPlan {
            enabled: true,
            ..plan.identify.clone()
        },
        scans: ScansPlan {
            enabled: false,
            ..plan.scans.clone()
        },
        interim_ns: None,
        ..tools::silent(plan)
    };
    let source = open(&plan, control)?;
    let known = IdentifyRules::of(&plan)?;
    let mut list = List {
        known: known.as_ref(),
        sink,
        waiting: Vec::new(),
        names: DataNames::default(),
    };
    if let Some(known) = &known {
        known.report_refused(progress);
        list.sink.begin(&known.names.all())?;
    }
    let stages = |table: &Table| {
        let all = AllStages::new(&plan, known.as_ref(), table)?;
        Ok(Counted::new(all))
    };
    let hands = (control, progress);
    let (worker, input) = tools::run(&plan, source, hands, stages, |worker, watermark, news| {
        list.waiting.extend(worker.stages().take());
        list.names.add(news.data, watermark);
        list.tell(watermark)
    })?;
    let (last, finished) = worker.finish();
    let mut deciders = Deciders::new(&plan, 1, 0);
    deciders.push(0, RecordKey::LAST, last.news);
    let found = Findings {
        data: list.names.take_renamed(),
        ..deciders.take_findings()
    };
    let mut report = RunReport::of(run::Ended {
        steps: Vec::new(),
        shape: Shape::Single,
        input,
        workers: vec![finished],
        output: OutputSummary {
            found,
            ..OutputSummary::default()
        },
    });
    report.stopped_early = control.is_stopped();
    Ok(report)
}

/// Connections that wait until none before them can come any more.
struct List<'k, K> {
    known: Option<&'k IdentifyRules>,
    sink: &'k mut K,
    waiting: Vec<Ended>,
    names: DataNames,
}

impl<K: ListSink> List<'_, K> {
    fn tell(&mut self, watermark: RecordKey) -> Result<(), RunError> {
        self.waiting.sort_unstable_by_key(|one| one.key);
        let ready = self.waiting.partition_point(|one| one.key <= watermark);
        for one in self.waiting.drain(..ready) {
            let mut record = one.record;
            record.app = self.names.take(one.key).or(record.app);
            let port_hint = match (&record.app, self.known) {
                (None, Some(known)) => hint(known, &record),
                _ => None,
            };
            self.sink.connection(&Listed {
                record,
                inspected: one.inspected,
                port_hint,
            })?;
        }
        Ok(())
    }
}

fn hint(known: &IdentifyRules, record: &ConnRecord) -> Option<&'static str> {
    let on = match record.protocol {
        6 => On::Tcp,
        17 => On::Udp,
        132 => On::Sctp,
        _ => return None,
    };
    let id = known.identifier.hint(on, record.server.port)?;
    Some(known.names.protocol(id))
}
