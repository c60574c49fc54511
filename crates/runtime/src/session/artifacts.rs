//! What is worth showing: looked for whenever `outputs/` or what listens changes, decided by `warren_domain::find`.

mod kept;
mod manifest;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::{StreamExt as _, stream};
use warren_domain::{
    Artifact, ArtifactKind, BlobHash, Draft, MANIFEST_PATH, Manifest, OutputFile, Outputs, Package, Seq,
    Timestamp, Version, artifact_events, find,
};
use warren_env::TaskKind;
use warren_guest_api::{FilePath, ReadRequest, Root};
use warren_sandbox::Guest;
use warren_store::{VersionRecord, WorkspaceFile};

use self::kept::KeptOutputs;
use super::{SessionTask, signal::Signal, tree::tree_id};
use crate::{
    api::{SessionError, not_read},
    recorder::RecordError,
};

/// The directory that is scanned for artifacts.
const OUTPUTS: &str = "outputs/";

/// The file that describes an app, in its directory.
const PACKAGE: &str = "/package.json";

/// Timeout of a scan that a run's end waits for.
const LOOK: Duration = Duration::from_secs(10);

/// The largest file whose content is hashed, and the most bytes of one look. Larger ones are known by their length.
const MAX_HASHED: u64 = 64 << 20;
const MAX_LOOK: u64 = 512 << 20;

/// The most files that are looked at.
const MAX_FILES: usize = 5_000;

/// The longest manifest and the longest `package.json` that are read, and how many of those.
const MAX_TEXT: usize = 256 << 10;
const MAX_PACKAGES: usize = 20;

/// Files that are read at a time.
const AT_ONCE: usize = 8;

/// The known state of `outputs/`.
#[derive(Default)]
pub(super) struct KnownOutputs {
    /// Nothing, until somebody looked.
    seen: Option<Looked>,
    /// The newest look that was asked for. An older one that comes in late says nothing any more.
    round: u64,
    is_looking: bool,
    is_stale: bool,
}

/// The result of a scan.
pub(super) struct Looked {
    round: u64,
    files: BTreeMap<String, Seen>,
    manifest: Option<Manifest>,
    packages: BTreeMap<String, Package>,
}

/// A file, and when it was so.
#[derive(Clone, PartialEq)]
struct Seen {
    modified_at: Timestamp,
    file: OutputFile,
}

impl SessionTask {
    /// Has `outputs/` looked at, as soon as nobody is looking. The result comes as [`Signal::Looked`].
    pub(super) fn outputs_changed(&mut self) {
        let Some(guest) = self.sandbox.ready().map(|ready| ready.sandbox.guest.clone()) else { return };
        if self.outputs.is_looking {
            self.outputs.is_stale = true;
            return;
        }
        self.outputs.is_looking = true;
        self.outputs.is_stale = false;
        let look = self.look(guest);
        let sender = self.sender.clone();
        self.shared.parts.tasks.spawn(TaskKind::Sandbox, async move {
            // Nobody left to tell is fine: the session is gone.
            let _ = sender.send(Signal::Looked(Box::new(look.await))).await;
        });
    }

    /// A look that somebody asked for is there.
    pub(super) async fn on_looked(&mut self, looked: Looked) -> Result<(), RecordError> {
        self.outputs.is_looking = false;
        if looked.round == self.outputs.round {
            self.outputs.seen = Some(looked);
            self.record_artifacts().await?;
        }
        if self.outputs.is_stale {
            self.outputs_changed();
        }
        Ok(())
    }

    /// Looks at once, if there may be something new: what a run made belongs to the run.
    pub(super) async fn look_at_outputs(&mut self) -> Result<(), RecordError> {
        let Some(guest) = self.sandbox.ready().map(|ready| ready.sandbox.guest.clone()) else {
            return Ok(());
        };
        if !self.outputs.is_looking {
            return Ok(());
        }
        let look = self.look(guest);
        if let Ok(looked) = tokio::time::timeout(LOOK, look).await {
            self.outputs.is_stale = false;
            self.outputs.seen = Some(looked);
            self.record_artifacts().await?;
        }
        Ok(())
    }

    /// The files of a version in `outputs/`.
    pub(super) async fn outputs_of(&self, version: Option<&VersionRecord>) -> Result<Outputs, SessionError> {
        let tree = tree_id(version.and_then(|version| version.tree.as_ref()));
        let tree = tree.map_err(|error| SessionError::internal("read the version", error))?;
        let (snapshots, partition) = (&self.shared.parts.snapshots, &self.identity.partition);
        KeptOutputs { snapshots, partition, tree }.look().await.map_err(not_read)
    }

    /// What is to be said of what is shown when the files are those of a version at once: nobody can look at them while there
    /// is no sandbox. `n_before` entries are recorded before, and `version` is the one that has them so.
    pub(super) fn artifacts_become(
        &mut self,
        outputs: Outputs,
        n_before: usize,
        version: Version,
    ) -> Vec<Draft> {
        self.outputs.round += 1;
        self.outputs.seen = None;
        let found = self.found(outputs);
        let head = Seq(self.recorder.head.0 + n_before as u64);
        let bodies = artifact_events(&self.recorder.state.artifacts, found, head, version);
        bodies.into_iter().map(Draft::of_session).collect()
    }

    fn look(&mut self, guest: Guest) -> impl Future<Output = Looked> + use<> {
        self.outputs.round += 1;
        let files = worth_a_look(self.files.beneath(OUTPUTS));
        let before = self.outputs.seen.as_ref().map(|seen| seen.files.clone()).unwrap_or_default();
        look(guest, files, before, self.outputs.round)
    }

    /// Records what follows from what was seen last and what listens now.
    pub(super) async fn record_artifacts(&mut self) -> Result<(), RecordError> {
        let Some(seen) = &self.outputs.seen else { return Ok(()) };
        let outputs = Outputs {
            files: seen.files.iter().map(|(path, seen)| (path.clone(), seen.file.clone())).collect(),
            manifest: seen.manifest.clone(),
            packages: seen.packages.clone(),
            ..Outputs::default()
        };
        let (found, state) = (self.found(outputs), &self.recorder.state);
        let bodies = artifact_events(&state.artifacts, found, self.recorder.head, state.version.next());
        let run = state.running();
        let drafts: Vec<_> =
            bodies.into_iter().map(|body| Draft { run_id: run, ..Draft::of_session(body) }).collect();
        self.recorder.record(drafts, |_| Vec::new()).await?;
        Ok(())
    }

    /// What is worth showing of these files and of what listens now.
    fn found(&self, outputs: Outputs) -> Vec<Artifact> {
        let (ports, template) = (self.ports.owners(), self.shared.options.template_hashes());
        let mut found = find(self.identity.session, &Outputs { ports, template, ..outputs });
        self.place(&mut found);
        found
    }

    /// Where they are seen. An app that does not run has the port it will be told to take: the one it had, if it had one.
    fn place(&self, found: &mut [Artifact]) {
        let before = |app: &Artifact| self.recorder.state.artifacts.get(&app.id).and_then(|known| known.port);
        let mut taken: BTreeSet<u16> = found.iter().filter_map(|artifact| artifact.port).collect();
        let silent =
            |artifact: &&mut Artifact| artifact.kind == ArtifactKind::WebApp && artifact.port.is_none();
        let mut apps: Vec<_> = found.iter_mut().filter(silent).collect();
        // Nobody's port goes to one that is new.
        apps.sort_by_key(|app| before(app).is_none());
        for app in apps {
            app.port = match app.command {
                Some(_) => self.ports.planned(app.id, before(app), &taken),
                None => before(app),
            };
            taken.extend(app.port);
        }
        let hosts = self.shared.options.previews.as_ref();
        for artifact in found {
            artifact.preview_url = hosts.and_then(|hosts| hosts.url_of(self.identity.session, artifact));
        }
    }
}

/// What is looked at: regular files, and if these are too many, those that describe others or are worth showing first.
fn worth_a_look<'a>(files: impl Iterator<Item = &'a WorkspaceFile>) -> Vec<WorkspaceFile> {
    let rank = |file: &&WorkspaceFile| {
        let describes = file.path == MANIFEST_PATH || file.path.ends_with(PACKAGE);
        let is_shown = ArtifactKind::of_file(&file.path).is_some();
        // `false` comes before `true`.
        (!describes, !is_shown)
    };
    let mut files: Vec<_> = files.filter(|file| file.kind == "file").collect();
    files.sort_by_cached_key(rank);
    files.into_iter().take(MAX_FILES).cloned().collect()
}

/// Looks at files: hashes those that are not as they were, reads what describes the others.
async fn look(guest: Guest, files: Vec<WorkspaceFile>, before: BTreeMap<String, Seen>, round: u64) -> Looked {
    let manifest = match files.iter().any(|file| file.path == MANIFEST_PATH) {
        true => read(&guest, MANIFEST_PATH).await.and_then(|text| Manifest::parse(&text).ok()),
        false => None,
    };
    let mut packages = BTreeMap::new();
    let described = files.iter().filter_map(|file| file.path.strip_suffix(PACKAGE));
    for directory in described.take(MAX_PACKAGES) {
        let text = read(&guest, &format!("{directory}{PACKAGE}")).await;
        if let Some(package) = text.and_then(|text| package(&text)) {
            packages.insert(directory.to_owned(), package);
        }
    }
    let mut room = MAX_LOOK;
    let planned: Vec<_> = files.into_iter().map(|file| plan(file, &before, &mut room)).collect();
    let seen =
        stream::iter(planned.into_iter().map(|(path, seen, wanted)| hashed(&guest, path, seen, wanted)));
    let files = seen.buffer_unordered(AT_ONCE).collect().await;
    Looked { round, files, manifest, packages }
}

/// What is known of a file already, and whether its content has to be read.
fn plan(file: WorkspaceFile, before: &BTreeMap<String, Seen>, room: &mut u64) -> (String, Seen, bool) {
    let known = before.get(&file.path).filter(|seen| {
        seen.modified_at == file.modified_at
            && seen.file.size_bytes == file.size_bytes
            && seen.file.hash.is_some()
    });
    if let Some(known) = known {
        return (file.path, known.clone(), false);
    }
    let is_small = file.kind == "file" && file.size_bytes <= MAX_HASHED.min(*room);
    if is_small {
        *room -= file.size_bytes;
    }
    let seen = OutputFile { size_bytes: file.size_bytes, hash: None };
    (file.path, Seen { modified_at: file.modified_at, file: seen }, is_small)
}

async fn hashed(guest: &Guest, path: String, mut seen: Seen, is_wanted: bool) -> (String, Seen) {
    if is_wanted {
        seen.file.hash = hash(guest, &path, seen.file.size_bytes).await;
    }
    (path, seen)
}

/// BLAKE3 of a file, unless it is another meanwhile: then whoever watches says so, and it is looked at again.
pub(super) async fn hash(guest: &Guest, path: &str, size: u64) -> Option<BlobHash> {
    let request = ReadRequest { path: FilePath::new(Root::Workspace, path), offset: 0, len: Some(size + 1) };
    let mut reader = guest.read(request).await.ok()?;
    let (mut hasher, mut n_bytes) = (blake3::Hasher::new(), 0);
    while let Some(piece) = reader.next().await.ok()? {
        n_bytes += piece.len() as u64;
        hasher.update(&piece);
    }
    (n_bytes == size).then(|| BlobHash(hasher.finalize().to_hex().to_string()))
}

async fn read(guest: &Guest, path: &str) -> Option<Vec<u8>> {
    guest.read_all(FilePath::new(Root::Workspace, path), MAX_TEXT).await.ok()
}

/// The command that starts an app, from its `package.json`.
fn package(text: &[u8]) -> Option<Package> {
    let described: serde_json::Value = serde_json::from_slice(text).ok()?;
    let has = |script: &&str| described["scripts"][*script].is_string();
    let script = ["dev", "start", "preview"].into_iter().find(has)?;
    let name = described["name"].as_str().filter(|name| !name.is_empty() && name.len() <= 200);
    Some(Package { name: name.map(str::to_owned), command: format!("npm run {script}") })
}

#[cfg(test)]
mod tests {
    use warren_domain::Timestamp;
    use warren_store::WorkspaceFile;

    use super::{MAX_FILES, package, worth_a_look};

    fn file(path: &str, kind: &str) -> WorkspaceFile {
        let (path, kind) = (path.to_owned(), kind.to_owned());
        let modified_at = Timestamp::from_millis(0);
        WorkspaceFile { path, kind, size_bytes: 1, mode: 0o644, modified_at, hash: None }
    }

    #[test]
    fn what_is_worth_showing_is_looked_at_however_much_else_there_is() {
        let mut all: Vec<_> =
            (0..MAX_FILES + 200).map(|n| file(&format!("outputs/data/{n}.bin"), "file")).collect();
        all.extend((0..MAX_FILES).map(|n| file(&format!("outputs/maps/{n}.xyz"), "file")));
        let shown = ["outputs/manifest.json", "outputs/web/package.json", "outputs/report.md"];
        all.extend(shown.map(|path| file(path, "file")));
        let seen = worth_a_look(all.iter());
        assert_eq!(seen.len(), MAX_FILES);
        let first: Vec<_> = seen.iter().take(4).map(|it| it.path.as_str()).collect();
        assert_eq!(first, [shown[0], shown[1], shown[2], "outputs/data/0.bin"], "the rest in its order");
    }

    #[test]
    fn a_link_or_a_pipe_is_nothing_to_show() {
        let all = [
            file("outputs/a.md", "file"),
            file("outputs/link.md", "symlink"),
            file("outputs/pipe.md", "other"),
        ];
        let seen = worth_a_look(all.iter());
        assert_eq!(seen, [file("outputs/a.md", "file")]);
    }

    #[test]
    fn a_package_is_an_app_if_something_in_it_can_be_started() {
        let command = |text: &str| package(text.as_bytes()).map(|package| package.command);
        assert_eq!(command(r#"{"scripts": {"start": "x", "dev": "y"}}"#).as_deref(), Some("npm run dev"));
        assert_eq!(command(r#"{"scripts": {"start": "x"}}"#).as_deref(), Some("npm run start"));
        for text in ["{}", r#"{"scripts": {"build": "x"}}"#, r#"{"scripts": {"dev": 7}}"#, "[", ""] {
            assert_eq!(command(text), None, "{text}");
        }
    }
}
