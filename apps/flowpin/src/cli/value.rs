//! Values on the command line that are no settings.

/// A number that is not 0.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("needs a number above 0".to_owned()),
        Ok(number) => Ok(number),
    }
}
