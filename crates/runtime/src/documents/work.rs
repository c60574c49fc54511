//! One conversion: a sandbox with one document in it, which is gone when the PDF is out.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use warren_domain::ErrorCode;
use warren_guest_api::{ExecRequest, Exit, FilePath, Leftovers, Limit, Root, WriteHow, WriteRequest};
use warren_sandbox::{Backend, CallError, Layer, Limits, Mounts, Sandbox, SandboxId, Spec, StartError};

use super::{ConvertError, LibreOffice, MAX_OUTPUT, kind::Kind};

/// Where the document is in its sandbox, read-only.
const INPUT: &str = "/opt/document";
/// LibreOffice's settings for this conversion alone.
const PROFILE: &str = "profile/user/registrymodifications.xcu";
/// How much of what LibreOffice prints is kept for the log.
const MAX_WORDS: u64 = 4 << 10;
const MIB: u64 = 1 << 20;

/// Everything one conversion needs.
pub(super) struct Job {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) office: LibreOffice,
    pub(super) kind: Kind,
    pub(super) document: NamedTempFile,
    /// Its own, empty after it.
    pub(super) directory: PathBuf,
    pub(super) uid: u32,
    pub(super) required: Vec<Layer>,
    pub(super) timeout: Duration,
}

impl Job {
    /// The PDF.
    pub(super) async fn run(self) -> Result<Vec<u8>, ConvertError> {
        let Self { backend, office, kind, document, directory, uid, required, timeout } = self;
        let at = directory.clone();
        blocking(move || prepare(&at, document, kind)).await?;
        let spec = Spec {
            id: SandboxId(format!("conversion-{uid}")),
            mounts: mounts(&directory, &office),
            uid,
            env: BTreeMap::new(),
            limits: limits(),
            required,
        };
        let sandbox = backend.start(spec).await.map_err(not_started)?;
        let converted = convert(&sandbox, &office, kind, timeout).await;
        // Before the directory goes: running processes could still write.
        sandbox.terminate().await.map_err(|error| broken(&error))?;
        blocking(move || remove(&directory)).await?;
        converted
    }
}

/// Enough for documents of hundreds of pages, and no more than two of them can take from a small machine.
fn limits() -> Limits {
    Limits {
        memory_bytes: 1024 * MIB,
        cpu_millis: 1000,
        pids: 128,
        disk_bytes: 512 * MIB,
        inodes: 10_000,
        file_bytes: MAX_OUTPUT as u64,
        tmp_bytes: 128 * MIB,
    }
}

fn mounts(directory: &Path, office: &LibreOffice) -> Mounts {
    let mut read_only = office.mounts();
    read_only.insert(INPUT.to_owned(), directory.join("input"));
    Mounts {
        workspace: directory.join("workspace"),
        home: directory.join("home"),
        read_only,
        ..Mounts::default()
    }
}

/// Puts the document where the sandbox's UID can read it, under a name that says nothing but its format.
fn prepare(directory: &Path, document: NamedTempFile, kind: Kind) -> io::Result<()> {
    remove(directory)?;
    let input = directory.join("input");
    fs::create_dir_all(&input)?;
    for made in [directory, &input] {
        fs::set_permissions(made, fs::Permissions::from_mode(0o755))?;
    }
    let path = input.join(name(kind));
    document.persist(&path).map_err(|error| error.error)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644))
}

fn name(kind: Kind) -> String {
    format!("document.{}", kind.extension)
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

async fn convert(
    sandbox: &Sandbox,
    office: &LibreOffice,
    kind: Kind,
    timeout: Duration,
) -> Result<Vec<u8>, ConvertError> {
    let call_failed = |error: CallError| broken(&error);
    let profile =
        WriteRequest { path: FilePath::new(Root::Home, PROFILE), how: WriteHow::Replace, mode: None };
    sandbox.guest.mkdir(FilePath::new(Root::Home, "profile/user")).await.map_err(call_failed)?;
    sandbox.guest.write(profile, include_bytes!("profile.xcu").as_slice()).await.map_err(call_failed)?;
    let mut exec = sandbox.guest.exec(request(sandbox, office, kind, timeout)).await.map_err(call_failed)?;
    let ended = async {
        let (stdout, stderr, _) = exec.split();
        let (_, words) = tokio::join!(words(stdout), words(stderr));
        (exec.wait().await, words)
    };
    let (exit, words) = tokio::select! {
        ended = ended => ended,
        () = tokio::time::sleep(timeout) => return Err(timed_out(timeout)),
        limit = sandbox.limit_hit() => {
            return Err(failed(format!("LibreOffice used more disk than a conversion may ({limit:?})")));
        }
    };
    let output = FilePath::new(Root::Workspace, "document.pdf");
    match sandbox.guest.read_all(output, MAX_OUTPUT).await {
        Ok(pdf) if pdf.starts_with(b"%PDF-") => Ok(pdf),
        Err(CallError::TooLong { max }) => {
            Err(failed(format!("the PDF is larger than {} MiB", max as u64 / MIB)))
        }
        Ok(_) | Err(_) => {
            tracing::info!(?exit, words, "a document was not converted");
            Err(failed(match exit {
                Ok(Exit::Signal(signal)) => {
                    format!("LibreOffice was killed by signal {signal}, most often for lack of memory")
                }
                Ok(Exit::Code(137)) => "LibreOffice was killed, most often for lack of memory".to_owned(),
                Ok(Exit::Code(0)) => "LibreOffice cannot read the document".to_owned(),
                Ok(Exit::Code(code)) => format!("LibreOffice cannot read the document (exit code {code})"),
                Err(error) => return Err(broken(&error)),
            }))
        }
    }
}

fn request(sandbox: &Sandbox, office: &LibreOffice, kind: Kind, timeout: Duration) -> ExecRequest {
    let mut argv = vec![office.program(), "-env:UserInstallation=file:///home/agent/profile".to_owned()];
    argv.extend(
        ["--headless", "--nologo", "--nodefault", "--norestore", "--nolockcheck", "--nofirststartwizard"]
            .map(str::to_owned),
    );
    argv.extend(["--convert-to".to_owned(), format!("pdf:{}", kind.written_by)]);
    argv.push(format!("--infilter={}", kind.read_by));
    argv.extend(["--outdir".to_owned(), "/workspace".to_owned(), format!("{INPUT}/{}", name(kind))]);
    ExecRequest {
        argv,
        env: sandbox.env.clone(),
        cwd: Some("/home/agent".to_owned()),
        // CPU time is less than wall time; this ends what goes on when nobody counts any more.
        limits: vec![Limit::Cpu(timeout.as_secs().saturating_add(5)), Limit::As(4096 * MIB)],
        leftovers: Leftovers::Kill,
        ..ExecRequest::default()
    }
}

/// The beginning of what a program prints. The rest is read, so that the program does not wait, and dropped.
async fn words(output: &mut (impl AsyncRead + Unpin)) -> String {
    let mut kept = Vec::new();
    // A guest that is lost is reported by the wait for the program's end.
    _ = (&mut *output).take(MAX_WORDS).read_to_end(&mut kept).await;
    _ = tokio::io::copy(output, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&kept).into_owned()
}

async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> Result<(), ConvertError> {
    let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)));
    done.map_err(|error| broken(&error))
}

fn timed_out(after: Duration) -> ConvertError {
    failed(format!("the conversion took longer than {} s", after.as_secs()))
        .advised("raise `documents.timeout_seconds`, or make the document smaller")
}

fn failed(message: String) -> ConvertError {
    ConvertError { code: ErrorCode::ConversionFailed, message, hint: None }
        .advised("see whether LibreOffice opens it on your own machine")
}

fn not_started(error: StartError) -> ConvertError {
    let code = match &error {
        StartError::MissingIsolation { .. } => ErrorCode::IsolationMissing,
        _ => ErrorCode::SandboxError,
    };
    ConvertError { code, ..broken(&error) }
}

/// The machinery failed, not the document.
fn broken(error: &(dyn std::error::Error + 'static)) -> ConvertError {
    tracing::error!(error, "a document could not be converted");
    let hint = Some("see the server's log, and `warren doctor`".to_owned());
    let message = format!("the sandbox of the conversion failed: {error}");
    ConvertError { code: ErrorCode::SandboxError, message, hint }
}
