//! Where the data directory is.

use std::path::{Path, PathBuf};

use crate::{ConfigError, Environment};

/// The name of the file with the options, in the data directory.
pub const FILE_NAME: &str = "warren.toml";

/// The data directory: `flag`, else `WARREN_HOME`, else `.warren` in the current directory if it exists, else `~/.warren`.
/// It need not exist. The answer is absolute, because servers and clients compare it.
///
/// # Errors
/// When nothing of the four is known.
pub fn data_directory(
    flag: Option<&Path>,
    environment: &Environment,
    current: &Path,
) -> Result<PathBuf, ConfigError> {
    if let Some(named) = flag.or(environment.get("WARREN_HOME").map(Path::new)) {
        return Ok(current.join(named));
    }
    let here = current.join(".warren");
    if here.is_dir() {
        return Ok(here);
    }
    let home = environment.get("HOME").ok_or(ConfigError::NoHome)?;
    Ok(current.join(home).join(".warren"))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::data_directory;
    use crate::{ConfigError, Environment};

    #[test]
    fn the_flag_counts_before_the_variable_before_the_current_directory_before_the_home() {
        let current = tempfile::tempdir().expect("a directory");
        let here = current.path();
        let all = Environment::from([("WARREN_HOME", "/var/lib/warren"), ("HOME", "/home/ada")]);
        let home_only = Environment::from([("HOME", "/home/ada")]);
        let find = |flag, environment| data_directory(flag, environment, here).expect("there is one");

        assert_eq!(find(Some(Path::new("data")), &all), here.join("data"));
        assert_eq!(find(None, &all), Path::new("/var/lib/warren"));
        assert_eq!(find(None, &home_only), Path::new("/home/ada/.warren"));
        fs::create_dir(here.join(".warren")).expect("made");
        assert_eq!(find(None, &home_only), here.join(".warren"));
    }

    #[test]
    fn without_any_of_them_it_says_which_to_set() {
        let current = tempfile::tempdir().expect("a directory");
        let error =
            data_directory(None, &Environment::default(), current.path()).expect_err("nothing is known");
        assert!(matches!(error, ConfigError::NoHome));
        assert_eq!(error.hint().as_deref(), Some("set one with `--dir` or `WARREN_HOME`"));
    }
}
