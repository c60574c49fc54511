//! Puts answers of the server into a file, whole or not at all.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Component, Path, PathBuf},
    time::Duration,
};

use http_body_util::BodyExt;
use hyper::Method;

use super::{call::CallError, request::Means};

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum SaveError {
    #[error("`{0}` is not beneath the home")]
    Place(String),
    #[error("failed to call `{path}`")]
    Call {
        path: String,
        #[source]
        source: CallError,
    },
    #[error("the server answered {status} to `{path}`")]
    Refused { path: String, status: u16 },
    #[error("failed to write the file")]
    Write(#[source] io::Error),
}

/// Writes an object whose fields are the answers to these calls. What was there before stays until it is whole.
pub(super) async fn save(
    means: &Means,
    file: &str,
    fields: &[(String, String)],
    patience: Duration,
) -> Result<(), SaveError> {
    let path = place(means.home.as_deref(), file).ok_or_else(|| SaveError::Place(file.to_owned()))?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(SaveError::Write)?;
    }
    let unfinished = Unfinished::beside(&path);
    let mut writer = BufWriter::new(File::create(&unfinished.0).map_err(SaveError::Write)?);
    for (n, (name, call)) in fields.iter().enumerate() {
        let name = serde_json::Value::from(name.as_str());
        let before = if n == 0 { "{" } else { "," };
        write!(writer, "{before}{name}:").map_err(SaveError::Write)?;
        copy(means, call, &mut writer, patience).await?;
    }
    writer.write_all(if fields.is_empty() { b"{}" } else { b"}" }).map_err(SaveError::Write)?;
    writer.into_inner().map_err(|error| SaveError::Write(error.into_error()))?;
    fs::rename(&unfinished.0, &path).map_err(SaveError::Write)
}

/// An answer may be larger than the memory we want to use: it goes to the file as it comes.
async fn copy(means: &Means, path: &str, file: &mut impl Write, patience: Duration) -> Result<(), SaveError> {
    let failed = |source| SaveError::Call { path: path.to_owned(), source };
    let (mut connection, response) =
        means.server.call(Method::GET, path, Vec::new(), patience).await.map_err(failed)?;
    let status = response.status();
    if !status.is_success() {
        return Err(SaveError::Refused { path: path.to_owned(), status: status.as_u16() });
    }
    let mut body = response.into_body();
    while let Some(frame) = connection.drive(body.frame()).await {
        let frame = frame.map_err(|error| failed(CallError::Broken(error)))?;
        if let Some(bytes) = frame.data_ref() {
            file.write_all(bytes).map_err(SaveError::Write)?;
        }
    }
    Ok(())
}

/// A path beneath the home, and nothing else.
fn place(home: Option<&Path>, file: &str) -> Option<PathBuf> {
    let is_beneath = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    (is_beneath && !file.is_empty() && !file.ends_with('/')).then_some(home?.join(file))
}

/// A file that goes away unless it gets its name.
struct Unfinished(PathBuf);

impl Unfinished {
    fn beside(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self(path.with_file_name(format!(".warren-writing-{name}")))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Once it has its name, there is nothing here.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::place;

    #[test]
    fn a_file_is_beneath_the_home_or_nowhere() {
        let place = |file| place(Some(Path::new("/home/a")), file);
        assert_eq!(place("x/y.json"), Some(PathBuf::from("/home/a/x/y.json")));
        assert_eq!(["", "/etc/x", "../x", "a/../../x", "a/"].map(place), [const { None }; 5]);
        assert_eq!(super::place(None, "x"), None);
    }
}
