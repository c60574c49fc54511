//! One layer over the other: the file, then the environment.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use crate::{Config, ConfigError, Environment, FILE_NAME, KEYS, Key, Kind, RawConfig, nearest::nearest};

/// Variables of ours that set no key.
const OTHER_VARIABLES: [&str; 5] =
    ["WARREN_HOME", "WARREN_CONFIG", "WARREN_LOG", "WARREN_SERVER", "WARREN_TOKEN"];

/// The options, and where they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// What the program believes.
    pub config: Config,
    /// Where the values that are not defaults come from, by key.
    pub origins: BTreeMap<&'static str, Origin>,
    /// Variables that look like ours and set nothing: probably slips.
    pub unknown_variables: Vec<String>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Variable(name) => f.write_str(name),
        }
    }
}

/// Reads the options of the server whose data directory is `directory`.
///
/// The file is `file`, else `WARREN_CONFIG`, else `warren.toml` in the data directory; only the last may be absent.
///
/// # Errors
/// When the file cannot be read, or anything in it or in the environment is not what its key takes.
pub fn load(directory: &Path, file: Option<&Path>, environment: &Environment) -> Result<Loaded, ConfigError> {
    let mut origins = BTreeMap::new();
    let mut merged = Table::new();
    if let Some((path, text)) = read(directory, file, environment)? {
        merged = parse(&path, &text)?;
        for key in KEYS.iter().filter(|key| lookup(&merged, key.name).is_some()) {
            origins.insert(key.name, Origin::File(path.clone()));
        }
    }
    for key in KEYS {
        let Some(name) = key.variable() else { continue };
        let Some(text) = environment.get(&name) else { continue };
        put(&mut merged, key.name, variable(key, &name, text)?);
        origins.insert(key.name, Origin::Variable(name));
    }
    // Each layer was read by itself before, so this cannot fail any more.
    let raw = Value::Table(merged).try_into::<RawConfig>().map_err(|source| syntax(directory, source))?;
    let config = Config::resolve(raw, directory, environment)?;
    Ok(Loaded { config, origins, unknown_variables: unknown_variables(environment) })
}

fn read(
    directory: &Path,
    file: Option<&Path>,
    environment: &Environment,
) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let named = file.or(environment.get("WARREN_CONFIG").map(Path::new)).map(Path::to_owned);
    let may_be_absent = named.is_none();
    let path = named.unwrap_or_else(|| directory.join(FILE_NAME));
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if may_be_absent && error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConfigError::Read { path, source }),
    }
}

/// Reads the file by itself first: its errors name the line then.
fn parse(path: &Path, text: &str) -> Result<Table, ConfigError> {
    let table: Table = toml::from_str(text).map_err(|source| syntax(path, source))?;
    if let Some(key) = unknown(&table, "") {
        let nearest = nearest(&key, KEYS.iter().map(|key| key.name));
        return Err(ConfigError::UnknownKey { path: path.to_owned(), key, nearest });
    }
    toml::from_str::<RawConfig>(text).map_err(|source| syntax(path, source))?;
    Ok(table)
}

/// The first key that is not in the table of keys, with its path.
fn unknown(table: &Table, prefix: &str) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        let path = format!("{prefix}{name}");
        let begins = format!("{path}.");
        if KEYS.iter().any(|key| key.name == path) {
            return None;
        }
        match value {
            Value::Table(inner) if KEYS.iter().any(|key| key.name.starts_with(&begins)) => {
                unknown(inner, &begins)
            }
            _ => Some(path),
        }
    })
}

fn lookup<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => table.get(name),
        Some((first, rest)) => lookup(table.get(first)?.as_table()?, rest),
    }
}

fn put(table: &mut Table, name: &str, value: Value) {
    let Some((first, rest)) = name.split_once('.') else {
        table.insert(name.to_owned(), value);
        return;
    };
    let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    // What stands there was read as `RawConfig`: it is a table.
    if let Value::Table(inner) = inner {
        put(inner, rest, value);
    }
}

/// A variable's value, if its key takes it.
fn variable(key: &Key, name: &str, text: &str) -> Result<Value, ConfigError> {
    let refused = || ConfigError::Variable {
        name: name.to_owned(),
        value: text.to_owned(),
        expected: key.kind.describe(),
    };
    let value = value_of(key.kind, text).ok_or_else(refused)?;
    let mut alone = Table::new();
    put(&mut alone, key.name, value.clone());
    Value::Table(alone).try_into::<RawConfig>().map_err(|_| refused())?;
    Ok(value)
}

fn value_of(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Text | Kind::Path | Kind::Size => Some(Value::String(text.to_owned())),
        Kind::Boolean => text.trim().parse().ok().map(Value::Boolean),
        Kind::Integer => text.trim().parse().ok().map(Value::Integer),
        Kind::Number => text.trim().parse().ok().map(Value::Float),
        Kind::List => Some(Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(|part| Value::String(part.to_owned()))
                .collect(),
        )),
        Kind::Table => None,
    }
}

fn syntax(path: &Path, source: toml::de::Error) -> ConfigError {
    ConfigError::Syntax { path: path.to_owned(), source: Box::new(source) }
}

fn unknown_variables(environment: &Environment) -> Vec<String> {
    let known: Vec<String> = KEYS.iter().filter_map(Key::variable).collect();
    let is_known = |name: &str| OTHER_VARIABLES.contains(&name) || known.iter().any(|known| known == name);
    environment.names("WARREN_").filter(|name| !is_known(name)).map(str::to_owned).collect()
}
