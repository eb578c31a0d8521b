//! The reputation of addresses: categories, and lists of addresses with a score in one of them.
//!
//! ```text
//!  categories: 1,BadHosts,Hosts that are known to attack
//!  list:       192.0.2.7,1,90        2001:db8::/32,1,20        the longest prefix counts
//! ```

use crate::Reader;
use crate::files::{given, rules_in};
use crate::option::Word;
use crate::problem::Fault;
use crate::sets::leads_out;
use flowpin_packet::{Network, NetworkError, NetworkMap};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// The categories that were read, and the scores of addresses in them.
#[derive(Debug, Default)]
pub(crate) struct Reputation {
    /// Numbers by their names.
    categories: BTreeMap<String, u8>,
    /// Scores of networks, by the number of the category.
    scores: HashMap<u8, HashMap<Network, u8>>,
    /// The same for evaluation, of categories that rules have named.
    maps: HashMap<u8, Arc<NetworkMap<u8>>>,
}

impl Reputation {
    /// The scores of a category, by the name that a rule has.
    pub(crate) fn scores(&mut self, name: Word<'_>) -> Result<Arc<NetworkMap<u8>>, Fault> {
        if self.categories.is_empty() {
            let why = "no categories of reputation were read: name their file with \
                       --reputation-categories, and lists of addresses with --reputation";
            return Err(name.fault(why));
        }
        let Some(&number) = self.categories.get(name.text) else {
            let known: Vec<&str> = self.categories.keys().map(String::as_str).collect();
            let known = known.get(..NAMES_SHOWN).unwrap_or(&known).join(", ");
            let why = format!("no category is called \"{}\": there are {known}", name.text);
            return Err(name.fault(why));
        };
        let networks = self.scores.get(&number);
        let map = self.maps.entry(number).or_insert_with(|| {
            let networks = networks.into_iter().flatten();
            let networks = networks.map(|(network, score)| (*network, *score));
            Arc::new(NetworkMap::new(0, networks))
        });
        Ok(Arc::clone(map))
    }
}

impl Reader {
    /// Reads categories of reputation, and lists of addresses with a score in one: before the
    /// rules that ask for them.
    ///
    /// # Errors
    /// If a file cannot be read. Lines that are wrong are problems.
    pub fn read_reputation(
        &mut self,
        categories: Option<&Path>,
        lists: &[impl AsRef<Path>],
    ) -> Result<(), String> {
        if let Some(path) = categories {
            self.read_lines(path, Self::add_category)?;
        }
        lists
            .iter()
            .try_for_each(|path| self.read_lines(path.as_ref(), Self::add_score))
    }

    /// Reads what lies in the folder `iprep` of a folder of rules: `categories.txt` and `*.list`.
    pub(crate) fn read_reputation_beside(&mut self, rules: &Path) -> Result<(), String> {
        let folder = rules.join("iprep");
        let categories = folder.join("categories.txt");
        if !categories.is_file() {
            return Ok(());
        }
        let lists = rules_in(&folder, "*.list")?;
        // These come with rules of others, unasked.
        let mut all = lists.iter().chain([&categories]);
        if let Some(path) = all.find(|path| leads_out(rules, path)) {
            let path = path.display();
            return Err(format!(
                "{path}: lists are read below the folder of the rules alone"
            ));
        }
        self.read_reputation(Some(&categories), &lists)
    }

    fn read_lines(
        &mut self,
        path: &Path,
        add: fn(&mut Reputation, &str) -> Result<(), String>,
    ) -> Result<(), String> {
        let text = given(path)?;
        self.beside.push(path.to_owned());
        let file = path.display().to_string();
        let (mut wrong, mut last) = (0_u64, 0);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Err(why) = add(&mut self.context.names.reputation, line) {
                (wrong, last) = (wrong + 1, number);
                if wrong <= PROBLEMS_MAX {
                    self.refuse_line(&file, (number, line), why);
                }
            }
        }
        if let Some(more) = wrong.checked_sub(PROBLEMS_MAX).filter(|&more| more > 0) {
            let why = format!("{more} more lines of the file are wrong; this is the last one");
            self.refuse_line(&file, (last, ""), why);
        }
        // What was made of less is made again.
        self.context.names.reputation.maps.clear();
        Ok(())
    }

    fn add_category(known: &mut Reputation, line: &str) -> Result<(), String> {
        let mut parts = line.splitn(3, ',').map(str::trim);
        let number = parts.next().and_then(|number| number.parse().ok());
        let number = number.filter(|number| (1..=CATEGORIES_MAX).contains(number));
        match (number, parts.next()) {
            (Some(number), Some(name)) if !name.is_empty() => {
                known.categories.insert(name.to_owned(), number);
                Ok(())
            }
            _ => Err(format!(
                "the form is NUMBER,NAME,DESCRIPTION, with numbers from 1 to {CATEGORIES_MAX}"
            )),
        }
    }

    fn add_score(known: &mut Reputation, line: &str) -> Result<(), String> {
        let mut parts = line.split(',').map(str::trim);
        let network = parts.next().unwrap_or_default();
        let network = match network.parse() {
            // As in Suricata, bits behind the prefix do not count.
            Ok(network) | Err(NetworkError::HostBits(_, network)) => network,
            Err(error) => return Err(error.to_string()),
        };
        let mut number = |most: u8| {
            let number = parts.next()?.parse().ok();
            number.filter(|number| (1..=most).contains(number))
        };
        match (number(CATEGORIES_MAX), number(SCORE_MAX)) {
            (Some(category), Some(score)) => {
                let networks = known.scores.entry(category).or_default();
                networks.insert(network, score);
                Ok(())
            }
            _ => Err(format!(
                "the form is ADDRESS,CATEGORY,SCORE, with numbers of categories and scores from 1 \
                 to {SCORE_MAX}"
            )),
        }
    }
}

/// The highest score, as in Suricata.
pub(crate) const SCORE_MAX: u8 = 127;
/// The highest number of a category.
const CATEGORIES_MAX: u8 = SCORE_MAX;
/// Lines of one file that are each reported.
const PROBLEMS_MAX: u64 = 20;
const NAMES_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use crate::Reader;
    use flowpin_rule::Condition;
    use std::fs;

    /// Lists that come with rules are none of those elsewhere, nor by a link.
    #[cfg(unix)]
    #[test]
    fn planted_links_are_not_followed() {
        let all = tempfile::tempdir().unwrap();
        let rules = all.path().join("rules");
        fs::create_dir_all(rules.join("iprep")).unwrap();
        fs::write(rules.join("iprep/categories.txt"), "1,Bad,bad hosts\n").unwrap();
        fs::write(rules.join("own.list"), "10.0.0.1,1,9\n").unwrap();
        fs::write(all.path().join("secret"), "root:secret\n").unwrap();
        let link = rules.join("iprep/a.list");
        std::os::unix::fs::symlink("../own.list", &link).unwrap();
        let mut reader = Reader::default();
        assert_eq!(reader.read_reputation_beside(&rules), Ok(()));
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("../../secret", &link).unwrap();
        let why = reader.read_reputation_beside(&rules).unwrap_err();
        assert!(why.contains("a.list: ") && !why.contains("secret"), "{why}");
    }

    /// The longest prefix counts, the last line of one network; what is wrong is told by its line.
    #[test]
    fn scores_are_those_of_the_longest_prefix() {
        let folder = tempfile::tempdir().unwrap();
        let categories = folder.path().join("categories.txt");
        let list = folder.path().join("a.list");
        fs::write(&categories, "# ours\n1,Bad,bad hosts\n2,Worse\n0,None\n").unwrap();
        let lines = "10.0.0.0/8,1,10\n10.1.2.3/16,1,20\n10.1.2.3,1,30\n10.1.2.3,1,40\n\
            2001:db8::/32,1,50\n10.9.9.9,2,60\nten,1,1\n10.0.0.1,1\n10.0.0.1,1,128\n";
        fs::write(&list, lines).unwrap();
        let mut reader = Reader::default();
        reader.read_reputation(Some(&categories), &[&list]).unwrap();
        let rule = "alert ip any any -> any any (iprep:src,Bad,>,5; sid:1;)\n\
            alert ip any any -> any any (iprep:src,Good,>,5; sid:2;)\n";
        reader.read_text("x", rule);
        let loaded = reader.finish();
        let wrong: Vec<u32> = loaded.problems.iter().map(|one| one.place.line).collect();
        assert_eq!(wrong, [4, 7, 8, 9, 2]);
        assert!(loaded.problems[4].why.contains("there are Bad, Worse"));
        let Condition::Reputation { scores, .. } = &loaded.set.rules[0].conditions[0] else {
            panic!("no reputation");
        };
        for (address, score) in [
            ("10.1.2.3", 40),
            ("10.1.2.4", 20),
            ("10.9.9.9", 10),
            ("11.0.0.1", 0),
            ("2001:db8::9", 50),
        ] {
            assert_eq!(scores.of(address.parse().unwrap()), score, "{address}");
        }
        assert_eq!(loaded.beside.len(), 2);
    }

    /// A file of wrong lines alone does not fill the memory with what is said of it.
    #[test]
    fn many_wrong_lines_are_told_in_few() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("a.list");
        fs::write(&list, "x\n".repeat(10_000)).unwrap();
        let mut reader = Reader::default();
        reader.read_reputation(None, &[&list]).unwrap();
        let loaded = reader.finish();
        assert_eq!(loaded.problems.len(), 21);
        assert!(loaded.problems[20].why.starts_with("9980 more lines"));
    }

    /// What no score can be, and rules without lists, are refused with what to do.
    #[test]
    fn what_is_asked_of_scores_makes_sense() {
        let mut reader = Reader::default();
        reader.read_text(
            "x",
            "alert ip any any -> any any (iprep:any,Bad,>,1; sid:1;)",
        );
        let loaded = reader.finish();
        assert!(loaded.problems[0].why.contains("--reputation-categories"));
        let folder = tempfile::tempdir().unwrap();
        let categories = folder.path().join("categories.txt");
        fs::write(&categories, "1,Bad,bad hosts\n").unwrap();
        let mut reader = Reader::default();
        let none: [&str; 0] = [];
        reader.read_reputation(Some(&categories), &none).unwrap();
        for asks in [
            "<,1", ">,127", "=,0", ">,300", "~,3", "isthere", ">", "<=,0",
        ] {
            let rule = format!("alert ip any any -> any any (iprep:any,Bad,{asks}; sid:1;)");
            reader.read_text("x", &rule);
        }
        let right = ["isset", "isnotset", ">,126", "<,2", "=,127", ">=,0", "<=,1"];
        for (sid, asks) in (2..).zip(right) {
            let rule = format!("alert ip any any -> any any (iprep:both,Bad,{asks}; sid:{sid};)");
            reader.read_text("x", &rule);
        }
        let loaded = reader.finish();
        assert_eq!(
            (loaded.problems.len(), loaded.set.rules.len()),
            (8, right.len())
        );
    }
}
