//! Installations from a registry on loopback that is told what to say.

#![expect(clippy::expect_used, reason = "a helper that fails is a test that fails")]

#[path = "install/npm.rs"]
mod npm;
#[path = "install/registry.rs"]
mod registry;

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use registry::{Answer, Registry, integrity, package};
use warren_env::Env;
use warren_programs::{
    Agent, InstallError, Installed, Options, Program, Programs, Progress, RemoveError, Report,
};

/// The packages of these tests, as they should be. Both names of the platform, so that they run on either.
fn packages() -> [(&'static str, &'static str, &'static str, Vec<u8>); 5] {
    let program = package(&[("bin/program", 0o644, b"#!/bin/sh\necho hi\n"), ("lib/data", 0o666, b"data")]);
    [
        ("@scope/native-linux-x64", "@scope/native", "1.0.0-platform", program.clone()),
        ("@scope/native-linux-arm64", "@scope/native", "1.0.0-platform", program),
        ("script", "script", "2.0.0", package(&[("main.js", 0o644, b"1")])),
        ("extra", "extra", "3.0.0", package(&[("index.js", 0o644, b"2")])),
        ("@tools/searcher", "@tools/searcher", "4.0.0", package(&[("bin/searcher", 0o755, b"3")])),
    ]
}

/// A lock file with these packages, each known under a name.
fn lock(asked_for: (&str, &str), packages: &[(&str, &str, &str, Vec<u8>)]) -> &'static str {
    let mut locked = serde_json::json!({"": {"dependencies": {asked_for.0: asked_for.1}}});
    for (known_as, name, version, tarball) in packages {
        locked[format!("node_modules/{known_as}")] =
            serde_json::json!({"name": name, "version": version, "integrity": integrity(tarball)});
    }
    let lock = serde_json::json!({"name": "test", "lockfileVersion": 3, "packages": locked});
    lock.to_string().leak()
}

/// The agents of these tests, made of exactly these packages.
fn agents_of(packages: &[(&str, &str, &str, Vec<u8>)]) -> &'static [Agent] {
    let native = Agent {
        name: "native",
        package: "@scope/native",
        version: "1.0.0",
        program: Program::Native { package: "@scope/native-{platform}", file: "bin/program" },
        extras: &[],
        companions: &[],
        path: &["bin"],
        check: &["--version"],
        lock: lock(("@scope/native", "1.0.0"), packages),
    };
    let script = Agent {
        name: "script",
        package: "script",
        version: "2.0.0",
        program: Program::Node { file: "main.js", least_version: 20 },
        extras: &["extra", "absent-{platform}"],
        companions: &[("@tools/searcher", "4.0.0")],
        path: &[],
        check: &["--version"],
        lock: lock(("script", "2.0.0"), packages),
    };
    vec![native, script].leak()
}

fn agents() -> &'static [Agent] {
    agents_of(&packages())
}

fn programs(registry: &Registry, directory: &Path) -> Programs {
    let options = Options { agents: agents(), ..Options::new(directory.join("agents"), registry.url()) };
    Programs::new(options, Env::system())
}

fn quiet() -> Report {
    Arc::new(|_| {})
}

/// A registry that has both agents.
async fn registry() -> Registry {
    let registry = Registry::start().await;
    for (_, name, version, tarball) in packages() {
        registry.publish(name, version, tarball);
    }
    registry
}

/// All files below a directory, without the lock.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("read").path();
        if path.is_dir() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            found.extend(files(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else if !path.ends_with("lock") {
            found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_native_agent_is_the_package_of_this_platform_and_can_be_run() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    assert_eq!(programs.find("native"), None);
    let installed = programs.install("native", &quiet()).await.expect("installed");
    let directory = home.path().join("agents/native/1.0.0");
    assert_eq!(
        installed,
        Installed {
            name: "native".to_owned(),
            version: "1.0.0".to_owned(),
            packages: installed.packages.clone(),
            size_bytes: 22,
            installed_at: installed.installed_at.clone(),
            file: "bin/program".to_owned(),
            interpreter: None,
            path: vec!["bin".to_owned()],
            directory: directory.clone(),
        }
    );
    let named: Vec<_> =
        installed.packages.iter().map(|part| (part.name.as_str(), part.version.as_str())).collect();
    assert_eq!(named, [("@scope/native", "1.0.0-platform")]);
    assert_eq!(installed.argv("/opt/agents/native"), ["/opt/agents/native/bin/program"]);
    assert_eq!(installed.path("/opt/agents/native/"), ["/opt/agents/native/bin"]);
    assert_eq!(programs.find("native"), Some(installed));
    assert_eq!(
        files(&home.path().join("agents")),
        ["native/1.0.0/bin/program", "native/1.0.0/lib/data", "native/current.json"]
    );
    // The package forgot to say that its program can be run.
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &str| fs::metadata(directory.join(path)).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode("bin/program"), mode("lib/data"), mode("bin")), (0o755, 0o644, 0o755));
}

#[tokio::test]
async fn a_script_comes_with_what_it_works_better_with() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let installed = programs(&registry, home.path()).install("script", &quiet()).await.expect("installed");
    assert_eq!(installed.argv("/opt/agents/script"), ["node", "/opt/agents/script/main.js"]);
    let searcher = "node_modules/@tools/searcher/bin/searcher";
    assert_eq!(files(&installed.directory), ["main.js", searcher, "node_modules/extra/index.js"]);
}

#[tokio::test]
async fn an_installation_without_what_its_agent_takes_for_granted_is_made_anew() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    let whole = programs.install("script", &quiet()).await.expect("installed");
    // As an earlier version of this program left it.
    let record = home.path().join("agents/script/current.json");
    let mut kept: serde_json::Value =
        serde_json::from_slice(&fs::read(&record).expect("there")).expect("JSON");
    let packages = kept["packages"].as_array_mut().expect("a list");
    packages.retain(|package| package["name"] != "@tools/searcher");
    fs::write(&record, kept.to_string()).expect("written");
    fs::remove_dir_all(whole.directory.join("node_modules/@tools")).expect("removed");
    let status = programs.list().into_iter().find(|status| status.agent.name == "script").expect("known");
    assert!(!status.is_current(), "something is missing");
    let again = programs.install("script", &quiet()).await.expect("installed");
    assert_eq!(again.packages, whole.packages);
    assert!(again.directory.join("node_modules/@tools/searcher/bin/searcher").is_file());
}

#[tokio::test]
async fn what_is_installed_is_not_asked_for_again_and_can_be_removed() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    let first = programs.install("native", &quiet()).await.expect("installed");
    let n_requests = registry.n_requests();
    assert_eq!(programs.install("native", &quiet()).await.expect("still there"), first);
    assert_eq!(registry.n_requests(), n_requests);
    programs.remove("native").await.expect("removed");
    assert_eq!(programs.find("native"), None);
    assert_eq!(files(&home.path().join("agents")), Vec::<String>::new());
    let again = programs.remove("native").await.expect_err("nothing is there");
    assert!(matches!(again, RemoveError::NotInstalled { .. }), "{again}");
    programs.install("native", &quiet()).await.expect("installed again");
}

/// Installs `native` and expects an error; nothing may be there afterwards.
async fn refused(registry: &Registry) -> InstallError {
    refused_of(registry, agents()).await
}

async fn refused_of(registry: &Registry, agents: &'static [Agent]) -> InstallError {
    let home = tempfile::tempdir().expect("a directory");
    let options = Options { agents, ..Options::new(home.path().join("agents"), registry.url()) };
    let programs = Programs::new(options, Env::system());
    let error = programs.install("native", &quiet()).await.expect_err("refused");
    assert_eq!((programs.find("native"), files(&home.path().join("agents"))), (None, Vec::new()), "{error}");
    error
}

/// Makes the platform's package another one, in the registry and in the lock file alike.
async fn refused_with(tarball: Vec<u8>) -> InstallError {
    let (registry, mut packages) = (registry().await, packages());
    registry.publish("@scope/native", "1.0.0-platform", tarball.clone());
    for package in packages.iter_mut().filter(|package| package.1 == "@scope/native") {
        package.3 = tarball.clone();
    }
    refused_of(&registry, agents_of(&packages)).await
}

#[tokio::test]
async fn tarball_that_differs_from_the_pinned_hash_is_never_installed() {
    let (evil, [(.., program), ..]) = (package(&[("bin/program", 0o755, b"evil")]), packages());
    let expect = format!(
        "`@scope/native@1.0.0-platform` has the wrong hash: expected {}, found {}",
        integrity(&program),
        integrity(&evil)
    );
    // The registry describes the right tarball and sends another one.
    let liar = registry().await;
    liar.replace_tarball("@scope/native", "1.0.0-platform", evil.clone());
    let error = refused(&liar).await;
    assert!(matches!(error, InstallError::Integrity { .. }), "{error}");
    assert_eq!(error.to_string(), expect);
    // The registry describes the tarball that it sends, which is not the pinned one.
    let consistent = registry().await;
    consistent.publish("@scope/native", "1.0.0-platform", evil);
    assert_eq!(refused(&consistent).await.to_string(), expect);
}

#[tokio::test]
async fn installation_whose_packages_are_not_pinned_is_replaced() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    let first = programs.install("native", &quiet()).await.expect("installed");
    // As a registry with other tarballs would have left it, before hashes were pinned.
    let record = home.path().join("agents/native/current.json");
    let kept = fs::read_to_string(&record).expect("there");
    fs::write(&record, kept.replace(&first.packages[0].integrity, &integrity(b"evil"))).expect("written");
    fs::write(first.directory.join("bin/program"), "evil").expect("written");
    assert!(!programs.list()[0].is_current());
    let again = programs.install("native", &quiet()).await.expect("installed");
    assert_eq!(again.packages, first.packages);
    assert_eq!(fs::read(again.directory.join("bin/program")).expect("read"), b"#!/bin/sh\necho hi\n");
}

#[tokio::test]
async fn version_without_a_shipped_hash_is_refused_before_anything_is_asked() {
    let registry = registry().await;
    let newer: &'static [Agent] = vec![Agent { version: "1.0.1", ..agents()[0] }].leak();
    let error = refused_of(&registry, newer).await;
    assert_eq!(error.to_string(), "this release of Warren has no hash for `@scope/native@1.0.1`");
    assert_eq!(registry.n_requests(), 0);
}

#[tokio::test]
async fn plain_http_registry_is_refused_unless_the_operator_allows_it() {
    let home = tempfile::tempdir().expect("a directory");
    // An address of a documentation network: nobody answers there, and nobody is asked.
    let options =
        Options { agents: agents(), ..Options::new(home.path().join("agents"), "http://192.0.2.1") };
    let error = Programs::new(options, Env::system()).install("native", &quiet()).await.expect_err("refused");
    assert!(matches!(error, InstallError::Address { .. }), "{error}");
}

#[tokio::test]
async fn redirect_or_tarball_address_of_plain_http_is_refused() {
    let registry = registry().await;
    registry.move_tarball("@scope/native", "1.0.0-platform", "http://192.0.2.1/x.tgz");
    let error = refused(&registry).await;
    assert!(matches!(error, InstallError::Address { .. }), "{error}");
    let registry = self::registry().await;
    registry.answer_tarball("@scope/native", "1.0.0-platform", Answer::Redirect("http://192.0.2.1/x.tgz"));
    let error = refused(&registry).await;
    let InstallError::Registry { source, .. } = error else { panic!("{error}") };
    let cause = source.source().map(ToString::to_string).unwrap_or_default();
    assert!(cause.contains("plain HTTP"), "{source:?}");
}

#[tokio::test]
async fn a_download_that_breaks_off_is_tried_again_and_then_given_up() {
    let registry = registry().await;
    registry.answer_tarball("@scope/native", "1.0.0-platform", Answer::CutShort);
    let error = refused(&registry).await;
    assert!(matches!(error, InstallError::Registry { .. }), "{error}");
    // Three times the package, after its description.
    assert_eq!(registry.n_requests(), 4);
}

#[tokio::test]
async fn a_registry_that_stumbles_once_is_asked_again() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    registry.answer_tarball("@scope/native", "1.0.0-platform", Answer::FailOnce);
    programs(&registry, home.path()).install("native", &quiet()).await.expect("installed");
}

#[tokio::test]
async fn a_package_that_would_write_elsewhere_is_refused() {
    let error = refused_with(package(&[("../../escaped", 0o644, b"x")])).await;
    assert!(matches!(error, InstallError::Package { .. }), "{error}");
}

#[tokio::test]
async fn a_package_without_the_program_is_refused() {
    let error = refused_with(package(&[("readme", 0o644, b"x")])).await;
    assert!(matches!(error, InstallError::NoProgram { .. }), "{error}");
}

#[tokio::test]
async fn a_version_that_is_not_there_is_said_to_be_missing() {
    let registry = registry().await;
    registry.remove("@scope/native", "1.0.0-platform");
    let error = refused(&registry).await;
    assert_eq!(error.to_string(), "the registry has no `@scope/native@1.0.0-platform`");
    let foreign = [("@scope/native-darwin-arm64", "@scope/native", "1.0.0-platform", Vec::new())];
    let error = refused_of(&registry, agents_of(&foreign)).await;
    assert!(matches!(error, InstallError::Platform { .. }), "{error}");
    registry.publish("@scope/native", "1.0.0-platform", Vec::new());
    registry.weaken("@scope/native", "1.0.0-platform");
    let error = refused(&registry).await;
    assert!(error.to_string().ends_with("it has no SHA-512"), "{error}");
}

#[tokio::test]
async fn an_installation_that_was_killed_leaves_nothing_and_the_next_one_succeeds() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    registry.answer_tarball("@scope/native", "1.0.0-platform", Answer::NeverEnd);
    // As far as the middle of the package; then the installation is dropped, as by a kill.
    let (told, mut begun) = tokio::sync::mpsc::channel(8);
    let report: Report = Arc::new(move |progress| {
        if matches!(progress, Progress::Downloading { .. }) {
            // Full after the first few; one is enough.
            let _ = told.try_send(());
        }
    });
    tokio::select! {
        ended = programs.install("native", &report) => panic!("it ended: {ended:?}"),
        _ = begun.recv() => {}
    }
    // What a kill leaves that no destructor sees.
    let place = home.path().join("agents/native");
    fs::create_dir_all(place.join(".new/bin")).expect("made");
    fs::write(place.join(".new/bin/program"), "half").expect("written");
    fs::create_dir_all(place.join("1.0.0/bin")).expect("made");
    fs::write(place.join("1.0.0/bin/program"), "without a record").expect("written");
    assert_eq!(programs.find("native"), None);

    registry.answer_tarball("@scope/native", "1.0.0-platform", Answer::Whole);
    programs.install("native", &quiet()).await.expect("installed");
    assert_eq!(
        files(&home.path().join("agents")),
        ["native/1.0.0/bin/program", "native/1.0.0/lib/data", "native/current.json"]
    );
    assert_eq!(fs::read(place.join("1.0.0/bin/program")).expect("read"), b"#!/bin/sh\necho hi\n");
}

#[tokio::test]
async fn two_installations_at_once_do_the_work_once() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let (one, other) = (programs(&registry, home.path()), programs(&registry, home.path()));
    let (quiet_one, quiet_other) = (quiet(), quiet());
    let (first, second) =
        tokio::join!(one.install("native", &quiet_one), other.install("native", &quiet_other));
    assert_eq!(first.expect("installed"), second.expect("installed"));
    assert_eq!(registry.n_requests(), 2);
}

#[tokio::test]
async fn a_package_in_the_cache_is_verified_and_not_downloaded() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let install = async |directory: &str| {
        let options = Options {
            agents: agents(),
            cache: Some(home.path().join("cache")),
            ..Options::new(home.path().join(directory), registry.url())
        };
        Programs::new(options, Env::system()).install("native", &quiet()).await.expect("installed")
    };
    install("one").await;
    assert_eq!(registry.n_requests(), 2);
    install("two").await;
    assert_eq!(registry.n_requests(), 3);
    let cached = files(&home.path().join("cache"));
    assert_eq!(cached.len(), 1);
    // Somebody changes it: it is got anew, and nothing of it is used.
    let evil = package(&[("bin/program", 0o755, b"evil"), ("bin/more", 0o755, b"evil")]);
    fs::write(home.path().join("cache").join(&cached[0]), evil).expect("written");
    let installed = install("three").await;
    assert_eq!(registry.n_requests(), 5);
    assert_eq!(files(&installed.directory), ["bin/program", "lib/data"]);
    assert_eq!(fs::read(installed.directory.join("bin/program")).expect("read"), b"#!/bin/sh\necho hi\n");
}

#[tokio::test]
async fn progress_is_told_from_the_first_byte_to_the_last() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let told = Arc::new(Mutex::new(Vec::new()));
    let report: Report = {
        let told = Arc::clone(&told);
        Arc::new(move |progress| told.lock().expect("whole").push(progress))
    };
    programs(&registry, home.path()).install("native", &report).await.expect("installed");
    let package = "@scope/native@1.0.0-platform".to_owned();
    let told = told.lock().expect("whole").clone();
    let Some(Progress::Downloading { received, .. }) = told.last().cloned() else { panic!("{told:?}") };
    let downloading =
        |received| Progress::Downloading { package: package.clone(), received, total: Some(received) };
    let begun = Progress::Downloading { package: package.clone(), received: 0, total: Some(received) };
    let resolving = Progress::Resolving { package: "@scope/native@1.0.0".to_owned() };
    assert_eq!(told, [resolving, begun, downloading(received)]);
}

#[tokio::test]
async fn an_agent_that_is_not_known_is_refused() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let error = programs(&registry, home.path()).install("../native", &quiet()).await.expect_err("refused");
    assert_eq!(error.to_string(), "there is no agent `../native` to install");
    assert_eq!(error.hint(), Some("`warren agents list` lists agents"));
}

/// A registry with versions that no hash is built in for: one native, one for node.
async fn registry_of_new_versions() -> Registry {
    let registry = registry().await;
    let native = package(&[("bin/program", 0o644, b"#!/bin/sh\necho new\n")]);
    registry.publish("@scope/native", "1.1.0-platform", native);
    registry.publish("@scope/native", "1.1.0", package(&[("README", 0o644, b"")]));
    registry.publish("@scope/native", "0.1.0", package(&[("cli.js", 0o644, b"4")]));
    let platform = serde_json::json!("npm:@scope/native@1.1.0-platform");
    registry.describe("@scope/native", "1.1.0", |document| {
        document["optionalDependencies"] =
            serde_json::json!({"@scope/native-linux-x64": platform, "@scope/native-linux-arm64": platform});
    });
    registry.describe("@scope/native", "0.1.0", |document| {
        document["bin"] = serde_json::json!({"it": "./cli.js"})
    });
    registry.tag("@scope/native", "latest", "1.1.0");
    registry
}

#[tokio::test]
async fn any_version_is_installed_and_its_hash_is_pinned_at_the_first_installation() {
    let (registry, home) = (registry_of_new_versions().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    let installed = programs.install_version("native", "1.1.0", &quiet()).await.expect("installed");
    assert_eq!((installed.version.as_str(), installed.file.as_str()), ("1.1.0", "bin/program"));
    let n_requests = registry.n_requests();
    programs.install_version("native", "1.1.0", &quiet()).await.expect("it is there");
    assert_eq!(registry.n_requests(), n_requests, "nothing is asked again");
    let latest = programs.install_version("native", "latest", &quiet()).await.expect("installed");
    assert_eq!(latest.version, "1.1.0");

    programs.remove("native").await.expect("removed");
    registry.publish("@scope/native", "1.1.0-platform", package(&[("bin/program", 0o644, b"another")]));
    let refused = programs.install_version("native", "1.1.0", &quiet()).await.expect_err("refused");
    assert!(matches!(refused, InstallError::Integrity { .. }), "{refused}");
    assert_eq!(programs.find("native"), None);
}

#[tokio::test]
async fn version_without_a_native_program_is_run_by_node() {
    let (registry, home) = (registry_of_new_versions().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    let installed = programs.install_version("native", "0.1.0", &quiet()).await.expect("installed");
    assert_eq!(installed.argv("/opt"), ["node", "/opt/cli.js"]);
    let pinned = programs.install("native", &quiet()).await.expect("installed");
    assert_eq!(pinned.version, "1.0.0", "the tested version takes its place");
}

#[tokio::test]
async fn version_that_does_not_exist_or_is_none_is_refused() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    for (version, expect) in [
        ("9.9.9", "the registry has no `@scope/native@9.9.9`"),
        ("^1.0.0", "`^1.0.0` is not a version of `native`"),
        ("../1.0.0", "`../1.0.0` is not a version of `native`"),
        ("", "`` is not a version of `native`"),
    ] {
        let refused = programs.install_version("native", version, &quiet()).await.expect_err("refused");
        assert_eq!(refused.to_string(), expect);
    }
}

#[tokio::test]
async fn program_of_this_machine_is_copied_and_named_by_its_content() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let programs = programs(&registry, home.path());
    let own = home.path().join("my-agent");
    fs::write(&own, "#!/bin/sh\necho mine\n").expect("written");
    let installed = programs.install_local("native", &own, &quiet()).await.expect("installed");
    fs::write(&own, "changed").expect("written");
    assert!(installed.version.starts_with("local-") && installed.interpreter.is_none(), "{installed:?}");
    let copy = installed.directory.join(&installed.file);
    assert_eq!(fs::read_to_string(&copy).expect("read"), "#!/bin/sh\necho mine\n");
    let script = home.path().join("agent.mjs");
    fs::write(&script, "1").expect("written");
    let installed = programs.install_local("native", &script, &quiet()).await.expect("installed");
    assert_eq!(installed.interpreter.as_deref(), Some("node"));
    let missing =
        programs.install_local("native", &home.path().join("none"), &quiet()).await.expect_err("refused");
    assert!(matches!(missing, InstallError::Local { .. }), "{missing}");
    assert_eq!(
        programs.find("native").map(|it| it.file),
        Some("bin/agent.mjs".to_owned()),
        "what was there stays"
    );
}
