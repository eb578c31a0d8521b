//! Values on the command line that are not settings.

/// A number that is not 0.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number above 0 is needed".to_owned()),
        Ok(number) => Ok(number),
    }
}
