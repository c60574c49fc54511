//! A local backend in a temporary directory, and specs for it.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use tempfile::TempDir;
use warren_env::Tasks;
use warren_sandbox::{
    Backend, Layer, Limits, Mounts, SandboxId, Spec,
    apart::Apart,
    conformance::Ground,
    local::{Local, Options},
};

/// Every sandbox of every test gets a uid of its own, so that a test can find its processes on the host.
static NEXT_UID: AtomicU32 = AtomicU32::new(0);

pub(crate) struct LocalGround {
    // Before the directory, so that it ends first.
    pub(crate) local: Arc<Local>,
    pub(crate) directory: TempDir,
    required: Vec<Layer>,
}

impl LocalGround {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        Self::below(&std::env::temp_dir(), change).await
    }

    /// A ground on the file system of `parent`.
    pub(crate) async fn below(parent: &Path, change: impl FnOnce(&mut Options)) -> Self {
        // Nobody else may enter it, as on a stock machine where the data directory is below root's home.
        let directory = tempfile::tempdir_in(parent).expect("a temporary directory");
        let mut options = options(directory.path());
        change(&mut options);
        let local = Local::open(options, Tasks::new()).expect("the backend opens");
        let isolation = local.probe().await.isolation;
        let required: Vec<Layer> = Layer::OFFERED.into_iter().filter(|layer| isolation.has(*layer)).collect();
        assert!(required.starts_with(&Layer::BASIC), "this machine cannot run sandboxes: {isolation:?}");
        Self { local: Arc::new(local), directory, required }
    }
}

impl Ground for LocalGround {
    fn backend(&self) -> &dyn Backend {
        self.local.as_ref()
    }

    fn spec(&self, name: &str) -> Spec {
        spec(&self.directory.path().join(name), name, self.required.clone())
    }
}

/// The same, with files that are in its sandboxes alone.
pub(crate) struct ApartGround {
    apart: Apart,
    local: LocalGround,
}

impl ApartGround {
    pub(crate) async fn new() -> Self {
        let local = LocalGround::new().await;
        let apart =
            Apart::new(Arc::clone(&local.local) as _, local.directory.path().join("files"), Tasks::new());
        Self { apart, local }
    }

    /// Where its sandboxes have their directories.
    pub(crate) fn files(&self) -> PathBuf {
        self.local.directory.path().join("files")
    }
}

impl Ground for ApartGround {
    fn backend(&self) -> &dyn Backend {
        &self.apart
    }

    fn spec(&self, name: &str) -> Spec {
        self.local.spec(name)
    }
}

pub(crate) fn options(directory: &Path) -> Options {
    let launcher = env!("CARGO_BIN_EXE_warren-launcher").into();
    Options::new(vec![launcher], directory.join("shared"))
}

pub(crate) fn spec(directory: &Path, name: &str, required: Vec<Layer>) -> Spec {
    let knowledge = directory.join("knowledge");
    fs::create_dir_all(&knowledge).expect("a directory");
    fs::write(knowledge.join("fact"), "true").expect("a file");
    let mounts = Mounts {
        workspace: directory.join("workspace"),
        home: directory.join("home"),
        user_input: Some(directory.join("user-input")),
        knowledge: Some(knowledge),
        instructions: None,
        agents: [("hostile".to_owned(), env!("CARGO_BIN_EXE_warren-hostile").into())].into(),
        ..Mounts::default()
    };
    // Test programs run one after the other, and their process ids differ.
    let uid = 100_000 + std::process::id() % 10_000 * 100 + NEXT_UID.fetch_add(1, Ordering::Relaxed);
    Spec {
        id: SandboxId(name.into()),
        mounts,
        uid,
        env: Default::default(),
        limits: Limits::default(),
        required,
    }
}

/// Process ids on the host that belong to a uid.
pub(crate) fn processes_of(uid: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("there is a /proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| owner(*pid) == Some(uid)).collect()
}

fn owner(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().next()?.parse().ok()
}
