//! `flowpin rules`.

use super::{InputArgs, help};
use clap::{Args, Subcommand, ValueHint};
use flowpin_config::RulesPlan;
use std::path::PathBuf;

/// The commands for signature rules.
#[derive(Subcommand, Debug)]
pub(crate) enum RulesCommand {
    /// Read rules, and report those that are refused, with the place of what is wrong
    #[command(after_long_help = help::RULES_CHECK_AFTER)]
    Check {
        #[command(flatten)]
        rules: RuleArgs,
        /// End with exit code 2 if a rule is refused
        #[arg(long)]
        strict: bool,
    },
    /// List rules, one a line
    List {
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Explain how a rule is grouped and evaluated
    Explain {
        /// The rule's number (sid)
        #[arg(long, value_name = "NUMBER")]
        sid: u32,
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Compare captures with rules, and show what each rule costs
    #[command(after_long_help = help::RULES_PROFILE_AFTER)]
    Profile {
        #[command(flatten)]
        profile: Box<RuleProfileArgs>,
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// List the keywords of rules: evaluated, accepted without effect, refused
    Keywords,
}

/// Which rules.
#[derive(Args, Debug)]
pub(crate) struct RuleArgs {
    /// Files, directories of *.rules, or a suricata.yaml that names them
    #[arg(
        value_name = "PATH",
        required_unless_present = "indicators",
        value_hint = ValueHint::AnyPath
    )]
    pub(crate) paths: Vec<PathBuf>,

    /// Lists of indicators: text, CSV, MISP's events, STIX 2 bundles; may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) indicators: Vec<PathBuf>,

    /// What a variable of the rules stands for: HOME_NET=[10.0.0.0/8]; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<String>,

    /// Take variables and reputation from a suricata.yaml, or from that of a directory, if it has
    /// one; not its rules
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) suricata_yaml: Option<PathBuf>,

    /// Categories of reputation, for `iprep`: lines NUMBER,NAME,DESCRIPTION
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) reputation_categories: Option<PathBuf>,

    /// Addresses and networks with their reputation, for `iprep`: lines ADDRESS,CATEGORY,SCORE;
    /// may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) reputation: Vec<PathBuf>,
}

impl RuleArgs {
    /// What a plan says of these rules.
    pub(crate) fn wanted(&self) -> RulesPlan {
        RulesPlan {
            files: self.paths.clone(),
            indicators: self.indicators.clone(),
            variables: self.variables.clone(),
            suricata_yaml: self.suricata_yaml.clone(),
            reputation_categories: self.reputation_categories.clone(),
            reputation: self.reputation.clone(),
            ..RulesPlan::default()
        }
    }
}

/// What rules are compared with.
#[derive(Args, Debug)]
pub(crate) struct RuleProfileArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Verify checksums
    #[arg(short = 'k', long = "checksums", value_name = "WHICH", value_parser = ["all", "none"])]
    pub(crate) checksums: Option<String>,

    /// How many rules to show, the dearest first
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,
}
