//! A registry that is told what to say.

use std::{
    collections::HashMap,
    fmt::Write as _,
    io::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use warren_env::{TaskKind, Tasks};

/// How a tarball is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Whole,
    /// Half of it, and then the connection is closed.
    CutShort,
    /// An error first, then all of it.
    FailOnce,
    /// Half of it, and then nothing.
    NeverEnd,
    /// Sends whoever asks to another address.
    Redirect(&'static str),
}

#[derive(Clone)]
struct Release {
    document: String,
    tarball: Vec<u8>,
    answer: Answer,
}

#[derive(Default)]
struct State {
    /// By `name/version`.
    releases: Mutex<HashMap<String, Release>>,
    n_requests: AtomicUsize,
}

pub(crate) struct Registry {
    url: String,
    state: Arc<State>,
    tasks: Tasks,
}

impl Registry {
    pub(crate) async fn start() -> Self {
        // The process may have it already, from another test.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let (state, tasks) = (Arc::new(State::default()), Tasks::new());
        let (served, connections) = (Arc::clone(&state), tasks.clone());
        tasks.spawn(TaskKind::Housekeeping, async move {
            while let Ok((io, _)) = listener.accept().await {
                let state = Arc::clone(&served);
                connections.spawn(TaskKind::Connection, async move { state.serve(io).await });
            }
        });
        Self { url, state, tasks }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Requests so far, for descriptions and tarballs alike.
    pub(crate) fn n_requests(&self) -> usize {
        self.state.n_requests.load(Ordering::SeqCst)
    }

    pub(crate) fn publish(&self, name: &str, version: &str, tarball: Vec<u8>) {
        let document = serde_json::json!({
            "name": name,
            "version": version,
            "dist": {
                "tarball": format!("{}/tarballs/{name}/{version}", self.url),
                "integrity": integrity(&tarball),
            },
        });
        let release = Release { document: document.to_string(), tarball, answer: Answer::Whole };
        self.releases().insert(format!("{name}/{version}"), release);
    }

    /// Changes what is said about a package.
    pub(crate) fn describe(&self, name: &str, version: &str, change: impl FnOnce(&mut serde_json::Value)) {
        self.change(name, version, |release| {
            let mut document = serde_json::from_str(&release.document).expect("JSON");
            change(&mut document);
            release.document = document.to_string();
        });
    }

    /// Gives a version another name.
    pub(crate) fn tag(&self, name: &str, tag: &str, version: &str) {
        let release = self.releases().get(&format!("{name}/{version}")).cloned().expect("published");
        self.releases().insert(format!("{name}/{tag}"), release);
    }

    /// Says that a tarball is elsewhere.
    pub(crate) fn move_tarball(&self, name: &str, version: &str, url: &str) {
        let here = format!("{}/tarballs/{name}/{version}", self.url);
        self.change(name, version, |release| release.document = release.document.replace(&here, url));
    }

    /// Sends another tarball than the one that is described.
    pub(crate) fn replace_tarball(&self, name: &str, version: &str, tarball: Vec<u8>) {
        self.change(name, version, |release| release.tarball = tarball);
    }

    pub(crate) fn answer_tarball(&self, name: &str, version: &str, answer: Answer) {
        self.change(name, version, |release| release.answer = answer);
    }

    /// Describes it by a hash that nobody should trust any more.
    pub(crate) fn weaken(&self, name: &str, version: &str) {
        self.change(name, version, |release| release.document = release.document.replace("sha512-", "sha1-"));
    }

    pub(crate) fn remove(&self, name: &str, version: &str) {
        self.releases().remove(&format!("{name}/{version}"));
    }

    fn change(&self, name: &str, version: &str, change: impl FnOnce(&mut Release)) {
        change(self.releases().get_mut(&format!("{name}/{version}")).expect("published"));
    }

    fn releases(&self) -> std::sync::MutexGuard<'_, HashMap<String, Release>> {
        self.state.releases.lock().expect("whole")
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.tasks.cancel();
    }
}

impl State {
    /// Answers one request and closes.
    async fn serve(&self, mut io: TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match io.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).expect("text");
        let path = head.split(' ').nth(1).expect("a path").replace("%2f", "/");
        self.n_requests.fetch_add(1, Ordering::SeqCst);
        let (key, wants_tarball) = match path.strip_prefix("/tarballs/") {
            Some(key) => (key, true),
            None => (path.trim_start_matches('/'), false),
        };
        let release = self.releases.lock().expect("whole").get(key).cloned();
        if let Some(all) = self.all_versions(key).filter(|_| release.is_none() && !wants_tarball) {
            let _ = send(&mut io, "200 OK", all.as_bytes(), all.len()).await;
            return;
        }
        // The other side may leave at any time; that is its business.
        let _ = match release {
            None => send(&mut io, "404 Not Found", b"{}", 2).await,
            Some(release) if !wants_tarball => {
                let document = release.document.as_bytes();
                send(&mut io, "200 OK", document, document.len()).await
            }
            Some(Release { tarball, answer, .. }) => self.send_tarball(&mut io, key, &tarball, answer).await,
        };
    }

    /// What is said about all versions of a package.
    fn all_versions(&self, name: &str) -> Option<String> {
        let releases = self.releases.lock().expect("whole");
        let (mut tags, mut versions) = (serde_json::Map::new(), serde_json::Map::new());
        for (key, release) in releases.iter() {
            let Some(under) = key.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            if under.contains('/') {
                continue;
            }
            let document: serde_json::Value = serde_json::from_str(&release.document).expect("JSON");
            if document["version"] == under {
                versions.insert(under.to_owned(), document);
            } else {
                tags.insert(under.to_owned(), document["version"].clone());
            }
        }
        let all = serde_json::json!({"name": name, "dist-tags": tags, "versions": versions});
        (!versions_of(&all).is_empty()).then(|| all.to_string())
    }

    async fn send_tarball(
        &self,
        io: &mut TcpStream,
        key: &str,
        tarball: &[u8],
        answer: Answer,
    ) -> std::io::Result<()> {
        let half = &tarball[..tarball.len() / 2];
        match answer {
            Answer::Whole => send(io, "200 OK", tarball, tarball.len()).await,
            Answer::CutShort => send(io, "200 OK", half, tarball.len()).await,
            Answer::FailOnce => {
                if let Some(release) = self.releases.lock().expect("whole").get_mut(key) {
                    release.answer = Answer::Whole;
                }
                send(io, "503 Service Unavailable", b"", 0).await
            }
            Answer::Redirect(to) => send(io, &format!("302 Found\r\nlocation: {to}"), b"", 0).await,
            Answer::NeverEnd => {
                send(io, "200 OK", half, tarball.len()).await?;
                std::future::pending().await
            }
        }
    }
}

fn versions_of(all: &serde_json::Value) -> &serde_json::Map<String, serde_json::Value> {
    all["versions"].as_object().expect("an object")
}

async fn send(io: &mut TcpStream, status: &str, body: &[u8], length: usize) -> std::io::Result<()> {
    let mut head = String::new();
    write!(head, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n")
        .expect("written");
    io.write_all(head.as_bytes()).await?;
    io.write_all(body).await?;
    io.flush().await
}

/// The hash of a tarball, as npm writes it.
pub(crate) fn integrity(tarball: &[u8]) -> String {
    format!("sha512-{}", STANDARD.encode(ring::digest::digest(&ring::digest::SHA512, tarball)))
}

/// A package with these files.
pub(crate) fn package(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, mode, content) in files {
        let mut header = tar::Header::new_ustar();
        // As bytes, so that it may be a path that no honest program writes.
        let path = format!("package/{path}");
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_mode(*mode);
        header.set_size(content.len().try_into().expect("short"));
        header.set_cksum();
        builder.append(&header, *content).expect("appended");
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&builder.into_inner().expect("whole")).expect("compressed");
    encoder.finish().expect("compressed")
}
