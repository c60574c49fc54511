//! Agents by the name of their package, with what they depend on.

use serde_json::json;
use warren_programs::{InstallError, NpmRecipe, NpmWanted, RemoveError};

use super::{
    files, programs, quiet,
    registry::{Registry, package},
};

/// A package `@scope/agent` with one program, which needs `helper`, which needs another `tool` than the agent.
async fn registry() -> Registry {
    let registry = Registry::start().await;
    let script = package(&[("cli.js", 0o644, b"#!/usr/bin/env node\n1"), ("native", 0o644, b"\x7fELF")]);
    let plain = || package(&[("index.js", 0o644, b"2")]);
    registry.publish("@scope/agent", "1.2.0", script.clone());
    registry.publish("@scope/agent", "1.1.0", script);
    registry.tag("@scope/agent", "latest", "1.2.0");
    registry.describe("@scope/agent", "1.2.0", |document| {
        document["bin"] = json!({"agent": "./cli.js"});
        document["dependencies"] = json!({"helper": "^2.0.0", "tool": "~1.0.0"});
        document["optionalDependencies"] = json!({"elsewhere": "1.0.0", "absent": "1.0.0"});
    });
    registry.publish("helper", "2.5.0", plain());
    registry.describe("helper", "2.5.0", |document| document["dependencies"] = json!({"tool": ">=2"}));
    registry.publish("tool", "1.0.4", plain());
    registry.publish("tool", "1.1.0", plain());
    registry.publish("tool", "2.0.0", plain());
    registry.publish("elsewhere", "1.0.0", plain());
    registry.describe("elsewhere", "1.0.0", |document| document["os"] = json!(["win32"]));
    registry
}

fn wanted(version: &str) -> NpmWanted {
    NpmWanted {
        id: "mine".to_owned(),
        package: "@scope/agent".to_owned(),
        version: version.to_owned(),
        args: vec!["--acp".to_owned()],
        env: [("MODE".to_owned(), "fast".to_owned())].into(),
        needs: vec!["API_TOKEN".to_owned()],
        hosts: vec!["api.example.com".to_owned()],
        ..NpmWanted::default()
    }
}

#[tokio::test]
async fn package_is_installed_with_what_it_needs_and_its_recipe_is_remembered() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let all = programs(&registry, home.path());
    let (recipe, installed) = all.npm_install(&wanted("^1.0.0"), &quiet()).await.expect("installed");
    let expect = NpmRecipe {
        id: "mine".to_owned(),
        package: "@scope/agent".to_owned(),
        version: "1.2.0".to_owned(),
        bin: "agent".to_owned(),
        args: vec!["--acp".to_owned()],
        env: [("MODE".to_owned(), "fast".to_owned())].into(),
        needs: vec!["API_TOKEN".to_owned()],
        hosts: vec!["api.example.com".to_owned()],
    };
    assert_eq!(recipe, expect);
    assert_eq!(installed.argv("/opt"), ["node", "/opt/node_modules/@scope/agent/cli.js"]);
    let found = files(&home.path().join("agents"));
    let expect = [
        "mine/1.2.0/node_modules/@scope/agent/cli.js",
        "mine/1.2.0/node_modules/@scope/agent/native",
        "mine/1.2.0/node_modules/helper/index.js",
        "mine/1.2.0/node_modules/helper/node_modules/tool/index.js",
        "mine/1.2.0/node_modules/tool/index.js",
        "mine/current.json",
        "mine/recipe.json",
        "pins/npm+@scope+agent@1.2.0.json",
    ];
    assert_eq!(found, expect);
    // Another process sees the same.
    let again = programs(&registry, home.path());
    assert_eq!(again.npm_list(), [(recipe, installed)]);
    again.remove("mine").await.expect("removed");
    assert_eq!(again.npm_list(), []);
    assert_eq!(files(&home.path().join("agents/mine")), Vec::<String>::new());
    let error = again.remove("mine").await.expect_err("it is gone");
    assert!(matches!(error, RemoveError::NotInstalled { .. }), "{error}");
}

#[tokio::test]
async fn same_version_with_other_content_is_refused_after_the_first_installation() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let all = programs(&registry, home.path());
    all.npm_install(&wanted("1.2.0"), &quiet()).await.expect("installed");
    all.remove("mine").await.expect("removed");
    registry.publish("tool", "2.0.0", package(&[("index.js", 0o644, b"evil")]));
    let error = all.npm_install(&wanted("latest"), &quiet()).await.expect_err("refused");
    assert!(matches!(&error, InstallError::Integrity { package, .. } if package == "tool@2.0.0"), "{error}");
    assert_eq!(all.npm_list(), []);
}

#[tokio::test]
async fn package_without_a_clear_program_is_refused_with_what_there_is() {
    let (registry, home) = (registry().await, tempfile::tempdir().expect("a directory"));
    let all = programs(&registry, home.path());
    let refused = async |wanted: &NpmWanted| {
        let error = all.npm_install(wanted, &quiet()).await.expect_err("refused");
        (error.to_string(), error.hint().unwrap_or_default())
    };
    assert_eq!(
        refused(&wanted("1.1.0")).await,
        (
            "`@scope/agent@1.1.0` has no program".to_owned(),
            "an agent is a package with a program that speaks ACP"
        )
    );
    let unknown = NpmWanted { package: "@scope/nothing".to_owned(), ..wanted("latest") };
    assert_eq!(refused(&unknown).await.0, "the registry has no `@scope/nothing@latest`");
    assert_eq!(refused(&wanted("9.9.9")).await.0, "the registry has no `@scope/agent@9.9.9`");
    registry.describe("@scope/agent", "1.2.0", |document| {
        document["bin"] = json!({"agent": "cli.js", "same": "./cli.js", "other": "native"});
    });
    assert_eq!(
        refused(&wanted("1.2.0")).await,
        (
            "`@scope/agent@1.2.0` has several programs: agent, other, same".to_owned(),
            "choose one of them with `--bin NAME`"
        )
    );
    let missing = NpmWanted { bin: Some("third".to_owned()), ..wanted("1.2.0") };
    assert_eq!(
        refused(&missing).await.0,
        "`@scope/agent@1.2.0` has no program `third`; it has: agent, other, same"
    );
    let native = NpmWanted { bin: Some("other".to_owned()), ..wanted("1.2.0") };
    let (_, installed) = all.npm_install(&native, &quiet()).await.expect("installed");
    assert_eq!(installed.argv("/opt"), ["/opt/node_modules/@scope/agent/native"]);
    for id in ["native", "template", "pins", "Mine", "a/b", "", "codex"] {
        let named = NpmWanted { id: id.to_owned(), ..wanted("1.2.0") };
        let error = all.npm_install(&named, &quiet()).await.expect_err("refused");
        assert!(matches!(error, InstallError::Id { .. }), "{id}: {error}");
    }
}
