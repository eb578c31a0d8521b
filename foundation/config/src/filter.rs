//! The filter of a run, if it stands in a file.

use crate::{ConfigError, InputSettings, Plan};
use std::path::Path;

/// Reads the filter's file, if there is one.
///
/// # Errors
/// It cannot be read; there is another filter beside it.
pub(crate) fn read(plan: &mut Plan) -> Result<(), ConfigError> {
    let Some(path) = &plan.filter_file else {
        return Ok(());
    };
    if !plan.filter.is_empty() {
        return Err(ConfigError::TwoFilters);
    }
    let unreadable = |source| ConfigError::UnreadableFilter {
        path: path.clone(),
        source,
    };
    let text = flowpin_disk::read_given_text(path).map_err(unreadable)?;
    plan.filter = expression(&text);
    // A file that says nothing is a mistake more often than a wish to have all packets.
    match plan.filter.is_empty() && path != Path::new("/dev/null") {
        true => Err(ConfigError::EmptyFilter(path.clone())),
        false => Ok(()),
    }
}

/// The lines of a filter as one expression, without comments.
fn expression(text: &str) -> String {
    let lines = text.lines().map(|line| line.split('#').next());
    let lines = lines.flatten().map(str::trim);
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

impl InputSettings {
    /// Either setting of the filter replaces both settings `below`.
    pub(crate) fn clear_filter(&self, below: &mut Self) {
        if self.filter.is_some() || self.filter_file.is_some() {
            (below.filter, below.filter_file) = (None, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ConfigError, Settings};

    /// A filter in a file is that of the plan; the settings that lead to it name the file.
    #[test]
    fn a_file_has_the_filter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("filter");
        std::fs::write(
            &path,
            "# only these\ntcp and ( port 80 # web\n  or port 443 )\n\n",
        )
        .unwrap();
        let settings = |text: String| Settings::from_toml(&text).unwrap();
        let file = format!("filter_file = '{}'", path.display());
        let plan = settings(format!("[input]\n{file}")).into_plan().unwrap();
        assert_eq!(plan.filter, "tcp and ( port 80 or port 443 )");
        assert_eq!(Settings::from(&plan).into_plan().unwrap(), plan);
        // What the command line says replaces either form.
        let flag = settings("[input]\nfilter = 'udp'".to_owned());
        let over = flag.over(Settings::from(&plan)).into_plan().unwrap();
        assert_eq!((over.filter.as_str(), over.filter_file), ("udp", None));
        let both = settings(format!("[input]\nfilter = 'udp'\n{file}")).into_plan();
        assert!(matches!(both, Err(ConfigError::TwoFilters)));
        std::fs::write(&path, "# nothing\n").unwrap();
        let empty = settings(format!("[input]\n{file}")).into_plan();
        assert!(matches!(empty, Err(ConfigError::EmptyFilter(_))));
    }
}
