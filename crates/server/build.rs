//! Lists the files of the built page, `web/dist`, so that they are part of the program. A tree where the page was not
//! built gives an empty list: the server builds all the same, and says what to run.
#![allow(clippy::disallowed_methods, reason = "cargo talks to build scripts through the environment")]

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    hash::{DefaultHasher, Hasher as _},
    path::{Path, PathBuf},
};

fn main() -> Result<(), Box<dyn Error>> {
    let dist = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../web/dist");
    // A path that is missing would mean building each time; where it cannot be made, that is all that happens.
    drop(fs::create_dir_all(&dist));
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut found = Vec::new();
    if dist.is_dir() {
        collect(&dist.canonicalize()?, &mut found)?;
    }
    found.sort();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut list = String::from("&[\n");
    for (number, path) in found.iter().enumerate() {
        let name =
            path.strip_prefix(dist.canonicalize()?)?.to_str().ok_or("a name of the page is not UTF-8")?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(path)?);
        let plain = keep(path, &out, number, "")?.ok_or("a file of the page went away")?;
        let forms =
            [keep(path, &out, number, ".br")?, keep(path, &out, number, ".gz")?].map(|form| match form {
                Some(form) => format!("Some(include_bytes!({form:?}))"),
                None => "None".to_owned(),
            });
        let [br, gz] = forms;
        writeln!(
            list,
            "File {{ path: {name:?}, etag: \"\\\"{:016x}\\\"\", plain: include_bytes!({plain:?}), br: {br}, gz: {gz} }},",
            hasher.finish(),
        )?;
    }
    list.push(']');
    fs::write(out.join("page.rs"), list)?;
    Ok(())
}

/// Copies a file, or the compressed form beside it if there is one: the compiler reads the copies, so that the page can be
/// built anew meanwhile.
fn keep(path: &Path, out: &Path, number: usize, form: &str) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let mut from = path.as_os_str().to_owned();
    from.push(form);
    let to = out.join(format!("page-{number}{form}"));
    if !Path::new(&from).is_file() {
        return Ok(None);
    }
    fs::copy(from, &to)?;
    Ok(Some(to))
}

/// Files to serve: neither hidden ones nor the compressed forms of others.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let is_compressed = path.extension().is_some_and(|extension| extension == "br" || extension == "gz");
        match () {
            () if is_hidden || is_compressed => {}
            () if path.is_dir() => collect(&path, found)?,
            () => found.push(path),
        }
    }
    Ok(())
}
