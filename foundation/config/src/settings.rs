//! The settings of a configuration file or a command line: every key is optional.
//!
//! ```text
//!  defaults ◄─overlaid by─ file ◄─overlaid by─ flags ──► Settings ──check──► Plan
//! ```

use crate::filter;
use crate::options::{Described, Section};
use crate::{
    ByteSize, ConfigError, ConnectionSettings, DefragmentationSettings, FileSettings, Format,
    HostGroupSettings, HostSettings, IdentifySettings, Input, InputSettings, LiveSettings,
    OutputPlan, OutputSettings, ParseSettings, PipelineSettings, Plan, RuleSettings, ScanSettings,
    StreamSettings,
};
use serde::{Deserialize, Serialize};

/// The sections, in the order to show, and where in the plan each is.
macro_rules! sections {
    ($($section:ident: $settings:ident $(in $($part:ident).+)?;)*) => {
        /// All settings, by section.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Settings {
            $(
                #[doc = concat!("`[", stringify!($section), "]`.")]
                pub $section: $settings,
            )*
            /// `[[hosts]]`: hosts whose system is known.
            pub hosts: Vec<HostGroupSettings>,
        }

        impl Settings {
            /// These settings, and those of `below` for keys that are not set here.
            ///
            /// ```
            /// use flowpin_config::Settings;
            /// let file = Settings::from_toml("[input]\ncount = 10\nfilter = 'tcp'").unwrap();
            /// let flags = Settings::from_toml("[input]\ncount = 3").unwrap();
            /// let both = flags.over(file);
            /// assert_eq!(both.input.count, Some(3));
            /// assert_eq!(both.input.filter.as_deref(), Some("tcp"));
            /// ```
            #[must_use]
            pub fn over(self, mut below: Self) -> Self {
                self.output.clear_rotation(&mut below.output);
                self.input.clear_filter(&mut below.input);
                self.output.clear_place(&mut below.output);
                self.live.clear_rotation(&mut below.live);
                Self {
                    $($section: self.$section.over(below.$section),)*
                    hosts: match self.hosts.is_empty() {
                        true => below.hosts,
                        false => self.hosts,
                    },
                }
            }

            /// Every option but those of `[[hosts]]`, in the order to show.
            pub fn options() -> Vec<Described> {
                [$($settings::options()),*].concat()
            }

            fn put(self, plan: &mut Plan) {
                $(self.$section.put(&mut (*plan)$($(.$part)+)?);)*
                plan.hosts.groups = self.hosts.into_iter().map(Into::into).collect();
            }
        }

        /// The settings that lead to `plan`: for `--print-config`.
        impl From<&Plan> for Settings {
            fn from(plan: &Plan) -> Self {
                let mut settings = Self {
                    $($section: $settings::of(&plan$($(.$part)+)?),)*
                    hosts: plan.hosts.groups.iter().map(Into::into).collect(),
                };
                if plan.filter_file.is_some() {
                    settings.input.filter = None;
                }
                settings
            }
        }

        /// A setting that is 0 and must not be.
        fn zero(plan: &Plan) -> Option<ConfigError> {
            [$($settings::zero(&plan$($(.$part)+)?)),*].into_iter().flatten().next()
        }
    };
}

sections! {
    input: InputSettings;
    live: LiveSettings in live;
    pipeline: PipelineSettings;
    connections: ConnectionSettings;
    defragmentation: DefragmentationSettings in defragmentation;
    other_hosts: HostSettings in hosts.others;
    streams: StreamSettings in streams;
    identify: IdentifySettings in identify;
    parse: ParseSettings in parse;
    files: FileSettings in files;
    scans: ScanSettings in scans;
    rules: RuleSettings in rules;
    output: OutputSettings in output;
}

impl Settings {
    /// The plan: defaults for keys that are not set, and all checks that are possible without
    /// opening a file but that of the filter. Else the file system is queried only for which inputs
    /// are directories.
    ///
    /// # Errors
    /// Settings that contradict each other or that cannot work.
    pub fn into_plan(self) -> Result<Plan, ConfigError> {
        let mut plan = Plan::default();
        let has_memory = self.pipeline.memory.is_some();
        let has_formats = self.output.formats.is_some();
        self.put(&mut plan);
        plan.filter = plan.filter.trim().to_owned();
        filter::read(&mut plan)?;
        plan.files.settle();
        plan.output.settle(has_formats);
        if plan.files.decode && !has_memory {
            plan.memory_bytes = Plan::MEMORY_BYTES_WITH_BODIES;
        }
        check(&plan)?;
        Ok(plan)
    }
}

fn check(plan: &Plan) -> Result<(), ConfigError> {
    let stdin_count = plan
        .inputs
        .iter()
        .filter(|input| **input == Input::Stdin)
        .count();
    if stdin_count > 1 {
        return Err(ConfigError::StdinTwice);
    }
    if plan.memory_bytes < Plan::MEMORY_BYTES_MIN {
        return Err(ConfigError::MemoryTooSmall(ByteSize(plan.memory_bytes)));
    }
    if let Some(error) = zero(plan) {
        return Err(error);
    }
    let mut groups = plan.hosts.groups.iter();
    if let Some(index) = groups.position(|group| group.networks.is_empty()) {
        return Err(ConfigError::HostsNowhere(index + 1));
    }
    if let Some((network, group)) = plan.hosts.repeated() {
        return Err(ConfigError::NetworkTwice { network, group });
    }
    check_live(plan)?;
    check_times(plan)?;
    check_formats(&plan.output)
}

/// Checks that packets come from interfaces or from captures.
fn check_live(plan: &Plan) -> Result<(), ConfigError> {
    let output = &plan.output;
    let rotates = output.rotate_every_ns.is_some() || output.rotate_bytes_max.is_some();
    if plan.is_live() && output.has_bucket() && !rotates {
        return Err(ConfigError::NeverWhole);
    }
    match plan.is_live() && !plan.inputs.is_empty() {
        true => Err(ConfigError::LiveAndFiles),
        false => Ok(()),
    }
}

/// Checks that a packet can have been captured in the time that is wanted.
fn check_times(plan: &Plan) -> Result<(), ConfigError> {
    match (plan.since, plan.until) {
        (Some(since), Some(until)) if since >= until => Err(ConfigError::NoTime),
        _ => Ok(()),
    }
}

fn check_formats(output: &OutputPlan) -> Result<(), ConfigError> {
    if output.formats.is_empty() {
        return Err(ConfigError::NoFormat);
    }
    if output.formats.contains(&Format::None) && output.formats.len() > 1 {
        return Err(ConfigError::NoneAmongFormats);
    }
    if output.to_stdout && output.stream.is_some() {
        return Err(ConfigError::TwoPlaces);
    }
    if output.is_one_place() && output.formats != [Format::Eve] {
        return Err(ConfigError::NotEve);
    }
    if output.has_bucket() && output.formats != [Format::Parquet] {
        return Err(ConfigError::NotParquet);
    }
    if output.is_one_place()
        && (output.rotate_every_ns.is_some() || output.rotate_bytes_max.is_some())
    {
        return Err(ConfigError::RotatedStdout);
    }
    check_files(output)
}

/// Checks that logs can be divided among files.
fn check_files(output: &OutputPlan) -> Result<(), ConfigError> {
    if output.files > OutputPlan::FILES_MAX {
        return Err(ConfigError::TooManyFiles(output.files));
    }
    let rotates = output.rotate_every_ns.is_some() || output.rotate_bytes_max.is_some();
    let has_parquet = output.formats.contains(&Format::Parquet);
    let against = [
        (output.to_stdout, "standard output is one"),
        (output.stream.is_some(), "a stream is one"),
        (rotates, "leave `--rotate` away"),
        (has_parquet, "leave the format parquet away"),
    ];
    let why = against.into_iter().find(|(is_so, _)| *is_so);
    match why.filter(|_| output.files > 1) {
        Some((_, why)) => Err(ConfigError::NotDivided(why)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use crate::{ConfigError, Plan};

    fn plan(text: &str) -> Result<Plan, ConfigError> {
        Settings::from_toml(text).unwrap().into_plan()
    }

    /// Empty settings give the defaults, so that one place defines them: `Plan::default`.
    #[test]
    fn no_settings_are_the_default_plan() {
        assert_eq!(plan("").unwrap(), Plan::default());
    }

    /// What the effective configuration prints, read again, is the same plan.
    #[test]
    fn settings_of_a_plan_lead_back_to_it() {
        let text = "[input]\nread = ['-']\nfilter = 'tcp'\ncount = 9\n\
            [pipeline]\nshape = '2x3'\ncut = 'l3'\ncpus = '0-2'\nmemory = '64 MiB'\nseed = 4\n\
            [connections]\nchecksums = 'none'\ntimeouts = 'none'\ninterim = '5 min'\n\
            [defragmentation]\nmemory = '9 MiB'\nby_vlan = true\n\
            [streams]\nmemory = '3 MiB'\ndepth = '1 MiB'\npaws = false\n\
            [identify]\nenabled = false\ncache = 'there'\npatterns = ['p', 'q.pat']\n\
            [parse]\nenabled = false\nprotocols = ['dns', 'sip']\n\
            all_fields = true\ngrammars = ['g.l']\n\
            fix_dictionaries = ['a.xml', 'b.xml']\n\
            [files]\nmd5 = true\nextract = 'there'\nsize_max = '1 MiB'\n\
            count_max = 5\ntotal_max = '9 MiB'\n\
            [scans]\nenabled = false\nports = 7\nallow_sources = ['10.0.0.0/8']\n\
            [other_hosts]\nsystem = 'bsd'\nipv6_fragments = 'last'\n\
            [[hosts]]\nnetworks = ['10.0.0.0/8', '::/0']\nsystem = 'linux'\nsegments = 'vista'\n\
            [[hosts]]\nnetworks = ['10.1.0.0/16']\nfragments = 'bsd-right'\n\
            [output]\nformats = ['zeek', 'csv', 'zeek']\nrotate_every = '1 h'";
        let first = plan(text).unwrap();
        let again = Settings::from(&first).into_plan().unwrap();
        assert_eq!(first, again);
        assert_eq!(first.output.formats.len(), 2, "a format twice is one");
    }

    /// A pipe takes EVE JSON: every other format has a file for each type of record, or none.
    #[test]
    fn standard_output_takes_eve_only() {
        for formats in [
            "['csv']",
            "['zeek']",
            "['zeek-json']",
            "['parquet']",
            "['none']",
            "['eve', 'zeek-json']",
        ] {
            let text = format!("[output]\nstdout = true\nformats = {formats}");
            assert!(matches!(plan(&text), Err(ConfigError::NotEve)), "{formats}");
        }
        assert!(plan("[output]\nstdout = true\nformats = ['eve', 'eve']").is_ok());
    }

    /// Contradictions are refused before anything is opened.
    #[test]
    fn contradictions_are_refused() {
        for text in [
            "[input]\nread = ['-', '-']",
            "[input]\ncount = 0",
            "[input]\nsince = '9'\nuntil = '9'",
            "[pipeline]\nmemory = '1 KiB'",
            "[connections]\ninterim = '0 s'",
            "[defragmentation]\nmemory = '0 B'",
            "[streams]\nmemory = '0 B'",
            "[scans]\nhosts = 0",
            "[[hosts]]\nsystem = 'linux'",
            "[[hosts]]\nnetworks = ['::/0', '10.0.0.0/8', '::/0']",
            "[output]\nformats = []",
            "[output]\nformats = ['none', 'eve']",
            "[output]\nstdout = true\nrotate_every = '1 h'",
            "[output]\nstream = 'unix:/x'\nrotate_every = '1 h'",
            "[output]\nstdout = true\nstream = 'unix:/x'",
        ] {
            assert!(plan(text).is_err(), "{text}");
        }
    }
}
