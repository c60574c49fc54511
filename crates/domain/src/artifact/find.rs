//! From what lies in `outputs/`, and what listens, to artifacts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Artifact, ArtifactKind, MANIFEST_PATH, Manifest, ManifestEntry};
use crate::{ArtifactId, BlobHash, SessionId};

/// At most this many artifacts of a session are told of; the rest are files like any other.
pub const MAX_ARTIFACTS: usize = 500;

/// The directory that is searched for apps and other artifacts.
const OUTPUTS: &str = "outputs/";

/// The file that makes a directory an app.
const PACKAGE: &str = "package.json";

/// Everything that decides which artifacts there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outputs {
    /// Files, by path relative to the workspace. Those outside `outputs/` are passed over.
    pub files: BTreeMap<String, OutputFile>,
    /// What the agent says.
    pub manifest: Option<Manifest>,
    /// Directories that have a `package.json` with something to start in it, relative to the workspace.
    pub packages: BTreeMap<String, Package>,
    /// What listens inside the sandbox, by port.
    pub ports: BTreeMap<u16, PortOwner>,
    /// Files as the template of a new session has them. What is still so is nobody's work.
    pub template: BTreeMap<String, BlobHash>,
}

/// A file as something saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its size in bytes.
    pub size_bytes: u64,
    /// BLAKE3 of its content, if it was looked at.
    pub hash: Option<BlobHash>,
}

/// The relevant part of a `package.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its display name.
    pub name: Option<String>,
    /// The command that starts it.
    pub command: String,
}

/// The app that owns a port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortOwner {
    /// The directory it runs in, relative to the workspace; the workspace itself is the empty text.
    pub directory: Option<String>,
}

/// The artifacts there are, by path.
#[must_use]
pub fn find(session: SessionId, outputs: &Outputs) -> Vec<Artifact> {
    let mut found: BTreeMap<String, Artifact> = BTreeMap::new();
    let apps = apps(outputs);
    for (path, app) in &apps {
        found.insert(path.clone(), app.artifact(session, path, outputs));
    }
    for (path, file) in files(outputs) {
        let entry = outputs.manifest.as_ref().and_then(|manifest| manifest.entry(path));
        let in_app = apps.keys().any(|app| is_beneath(path, app));
        let Some(kind) = kind_of(path, entry).filter(|_| entry.is_some() || !in_app) else { continue };
        let name = entry.and_then(|entry| entry.name.clone()).unwrap_or_else(|| last_name(path).to_owned());
        let artifact =
            Artifact { hash: file.hash.clone(), ..new(session, path, kind, name, file.size_bytes) };
        found.insert(path.clone(), artifact);
    }
    found.into_values().take(MAX_ARTIFACTS).collect()
}

/// What is known of an app before it is an artifact.
#[derive(Default)]
struct App {
    name: Option<String>,
    command: Option<String>,
    port: Option<u16>,
}

impl App {
    fn artifact(&self, session: SessionId, path: &str, outputs: &Outputs) -> Artifact {
        let name = self.name.clone().unwrap_or_else(|| last_name(path).to_owned());
        let mut hasher = blake3::Hasher::new();
        let mut size_bytes = 0;
        let mut is_known = true;
        for (file, seen) in outputs.files.iter().filter(|(file, _)| is_beneath(file, path)) {
            size_bytes += seen.size_bytes;
            is_known &= seen.hash.is_some();
            for part in [file.as_str(), seen.hash.as_ref().map_or("", |hash| &hash.0)] {
                hasher.update(part.as_bytes()).update(&[0]);
            }
        }
        let hash = (is_known && size_bytes > 0).then(|| BlobHash(hasher.finalize().to_hex().to_string()));
        Artifact {
            hash,
            port: self.port,
            command: self.command.clone(),
            ..new(session, path, ArtifactKind::WebApp, name, size_bytes)
        }
    }
}

/// Apps by their directory: what the manifest names, what has a package of its own, and what listens.
fn apps(outputs: &Outputs) -> BTreeMap<String, App> {
    let mut apps: BTreeMap<String, App> = BTreeMap::new();
    let touched = touched(outputs);
    for (directory, package) in outputs.packages.iter().filter(|(path, _)| path.starts_with(OUTPUTS)) {
        // A package inside another app is a part of it.
        let is_part = apps.keys().any(|app| is_beneath(directory, app));
        if !is_part && touched.contains(directory.as_str()) {
            let app = App { name: package.name.clone(), command: Some(package.command.clone()), port: None };
            apps.insert(directory.clone(), app);
        }
    }
    for entry in outputs.manifest.iter().flat_map(|manifest| &manifest.entries) {
        let has_files = outputs.files.keys().any(|file| is_beneath(file, &entry.path));
        if entry.kind == Some(ArtifactKind::WebApp) && has_files {
            let package = outputs.packages.get(&entry.path);
            let app = apps.entry(entry.path.clone()).or_default();
            app.name = entry.name.clone().or_else(|| app.name.take());
            let own = package.map(|package| package.command.clone());
            app.command = entry.command.clone().or_else(|| app.command.take()).or(own);
            app.port = entry.port;
        }
    }
    for (port, owner) in &outputs.ports {
        let directory = owner.directory.as_deref();
        let home = directory.and_then(|directory| home_of(directory, &apps)).map(str::to_owned);
        let path = home.or_else(|| directory.filter(|path| !path.is_empty()).map(str::to_owned));
        let app = apps.entry(path.unwrap_or_else(|| format!("port:{port}"))).or_default();
        // What the manifest says counts if it is true; of several ports the lowest is the app's.
        if app.port.is_none_or(|said| !outputs.ports.contains_key(&said)) {
            app.port = Some(*port);
        }
    }
    apps
}

/// Directories of packages in which anything is not as the template has it.
fn touched(outputs: &Outputs) -> BTreeSet<&str> {
    let is_own = |path: &str, file: &OutputFile| match outputs.template.get(path) {
        Some(of_template) => file.hash.as_ref() != Some(of_template),
        None => true,
    };
    let packages = outputs.packages.keys().map(String::as_str);
    let has_own = |directory: &&str| {
        outputs.files.iter().any(|(path, file)| is_beneath(path, directory) && is_own(path, file))
    };
    packages.filter(has_own).collect()
}

/// The app that a directory is, or is part of.
fn home_of<'a>(directory: &str, apps: &'a BTreeMap<String, App>) -> Option<&'a str> {
    let home = apps.keys().find(|app| *app == directory || is_beneath(directory, app));
    home.map(String::as_str)
}

/// Files that may be artifacts: in `outputs/`, and not as the template has them.
fn files(outputs: &Outputs) -> impl Iterator<Item = (&String, &OutputFile)> {
    outputs.files.iter().filter(|(path, file)| {
        let is_own = match outputs.template.get(*path) {
            Some(of_template) => file.hash.as_ref() != Some(of_template),
            None => true,
        };
        path.starts_with(OUTPUTS) && *path != MANIFEST_PATH && is_own && !is_hidden(path)
    })
}

fn kind_of(path: &str, entry: Option<&ManifestEntry>) -> Option<ArtifactKind> {
    let said = entry.and_then(|entry| entry.kind).filter(|kind| *kind != ArtifactKind::WebApp);
    match (said, ArtifactKind::of_file(path)) {
        (Some(kind), _) => Some(kind),
        (None, None) if entry.is_some() => Some(ArtifactKind::Code),
        // Another package's own file says nothing to people.
        (None, _) if last_name(path) == PACKAGE => None,
        (None, kind) => kind,
    }
}

fn new(session: SessionId, path: &str, kind: ArtifactKind, name: String, size_bytes: u64) -> Artifact {
    Artifact {
        id: ArtifactId::of(session, path),
        kind,
        name,
        path: path.to_owned(),
        size_bytes,
        hash: None,
        port: None,
        command: None,
        preview_url: None,
        created_seq: None,
        updated_seq: None,
        created_version: None,
        updated_version: None,
    }
}

fn is_beneath(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
