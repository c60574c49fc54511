//! What a new session's `outputs/` has in it, through the whole server and real sandboxes.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};

use super::{
    files::{browse, enter},
    session::said,
};

/// A template as an operator would make one.
fn make_template(directory: &Path) {
    let at = |path: &str| directory.join(path);
    fs::create_dir_all(at("web/src")).expect("a directory");
    fs::create_dir_all(at("documents")).expect("a directory");
    fs::write(at("web/package.json"), r#"{"name": "web", "scripts": {"dev": "node server.js"}}"#)
        .expect("a file");
    fs::write(at("web/src/page.js"), "page").expect("a file");
    fs::write(at("notes.md"), "# As the template has it").expect("a file");
    fs::write(at("run.sh"), "#!/bin/sh\necho ran\n").expect("a file");
    fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    std::os::unix::fs::symlink("/etc/shadow", at("secret")).expect("a link");
}

async fn start_with(template: &Path) -> TestServer {
    let config = format!("[storage]\noutputs_template_path = {:?}", template.display().to_string());
    Setup::new().config(&config).start().await
}

async fn artifact_paths(client: &TestClient, session: SessionId) -> Vec<Value> {
    let listed = client.get(&format!("/api/sessions/{session}/artifacts")).await.expect(StatusCode::OK);
    listed["artifacts"].as_array().expect("a list").iter().map(|it| it["path"].clone()).collect()
}

async fn outputs(client: &TestClient, session: SessionId) -> String {
    said(&client.run(session, "run: cd outputs && find . | sort && cat notes.md").await)
}

#[tokio::test]
async fn a_workspace_that_was_given_only_a_part_of_the_template_gets_all_of_it() {
    let template = tempfile::tempdir().expect("a directory");
    make_template(template.path());
    let mut server = start_with(template.path()).await;
    let session = server.admin().session_create().await;
    server.admin().post(&format!("/api/sessions/{session}/sandbox/start"), &json!({})).await;
    let workspace = server.directory().join("workspaces").join(session.to_string());
    let is_given = async {
        while !workspace.join("tree/outputs/web/src/page.js").exists() || workspace.join("begun").exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_given).await.expect("it is given, and that is over");
    server.kill().await;
    // As if the server had been killed before.
    fs::remove_dir_all(workspace.join("tree/outputs/web")).expect("removed");
    fs::write(workspace.join("begun"), "").expect("written");
    server.restart().await;
    let told = outputs(&server.admin(), session).await;
    assert!(told.contains("./web/src/page.js") && told.contains("# As the template has it"), "{told}");
    // What somebody removes later stays removed.
    let client = server.admin();
    client.run(session, "run: rm outputs/web/src/page.js").await;
    client
        .post(&format!("/api/sessions/{session}/sandbox/stop"), &json!({}))
        .await
        .expect(StatusCode::NO_CONTENT);
    let told = outputs(&client, session).await;
    assert!(!told.contains("page.js"), "{told}");
}

#[tokio::test]
async fn a_new_session_starts_with_the_operators_template_and_it_is_nobodys_work() {
    let template = tempfile::tempdir().expect("a directory");
    make_template(template.path());
    let server = start_with(template.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    let listing =
        "run: cd outputs && find . | sort | tr '\\n' ' ' && stat -c %u:%a notes.md && ./run.sh && id -u";
    let events = client.run(session, listing).await;
    let told = said(&events);
    assert!(
        told.contains(
            ". ./documents ./notes.md ./run.sh ./web ./web/package.json ./web/src ./web/src/page.js"
        ),
        "{told}"
    );
    assert!(told.contains("1000:644") && told.contains("ran"), "{told}");
    let of_run = events.iter().filter(|event| event.json["runId"].is_string());
    let changed: Vec<_> = of_run.filter(|event| event.kind() == "file_changed").collect();
    assert!(changed.is_empty(), "no run made what a session starts with: {changed:#?}");
    assert_eq!(artifact_paths(&client, session).await, Vec::<Value>::new());

    // What is changed is an artifact, and so is an app of which anything is.
    client.run(session, "run: echo more >> outputs/notes.md; echo 2 > outputs/web/src/page.js").await;
    let found = artifact_paths(&client, session).await;
    assert_eq!(found, [json!("outputs/notes.md"), json!("outputs/web")]);
}

#[tokio::test]
async fn every_session_begins_with_the_template_that_comes_with_the_program_whatever_is_installed() {
    let server = Setup::new().begin_with_template().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let events = client.run(session, "run: cd outputs && find . -type f | sort | tr '\\n' ' '").await;
    let told = said(&events);
    assert!(
        told.contains(
            "./charts/README.md ./charts/example.py ./charts/requirements.txt ./documents/README.md ./manifest.json \
             ./presentations/README.md ./web/README.md ./web/next.config.mjs ./web/package.json \
             ./web/src/app/globals.css ./web/src/app/layout.tsx ./web/src/app/page.tsx ./web/tsconfig.json"
        ),
        "{told}"
    );
    assert_eq!(artifact_paths(&client, session).await, Vec::<Value>::new());
    let versions = client.get(&format!("/api/sessions/{session}/versions")).await.expect(StatusCode::OK);
    let mut made: Vec<_> = versions["versions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (it["version"].as_u64(), it["cause"].as_str(), it["files"]["added"].as_u64()))
        .collect();
    made.sort_unstable();
    let expected = [(0, "manual", 0), (1, "template", 13), (2, "run", 0)];
    assert_eq!(made, expected.map(|(version, cause, added)| (Some(version), Some(cause), Some(added))));

    // Nothing of it is a change, so no pull brings it.
    let path = format!("/api/sessions/{session}/versions/2/changes");
    let changes = client.get(&path).await.expect(StatusCode::OK);
    assert_eq!((&changes["from"]["version"], &changes["changes"]), (&json!(1), &json!([])));

    // The preview of its app reports the missing packages.
    client.run(session, "run: echo '// mine' >> outputs/web/src/app/page.tsx").await;
    let listed = client.get(&format!("/api/sessions/{session}/artifacts")).await.expect(StatusCode::OK);
    let id = listed["artifacts"][0]["id"].as_str().expect("an id").to_owned();
    let (host, cookie) = enter(&server, session, &id).await;
    let looking = async {
        loop {
            let page = browse(&server, &host, "/", Some(&cookie)).await;
            let text = page.body.to_string();
            if text.contains("warren template install") {
                return;
            }
            assert!(text.contains("Starting…"), "{page:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), looking).await.expect("it says so in time");
}

async fn manifest(client: &TestClient, session: SessionId) -> Value {
    let path = format!("/api/sessions/{session}/fs/read?path=outputs/manifest.json");
    client.get(&path).await.expect(StatusCode::OK)["artifacts"].clone()
}

#[tokio::test]
async fn the_manifest_has_what_runs_made_until_somebody_writes_it() {
    let server = Setup::new().begin_with_template().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let events = client.run(session, "run: cd outputs && echo 1 > documents/a.md && echo 2 > b.pptx").await;
    let document = json!({"type": "markdown", "name": "a.md", "path": "documents/a.md"});
    let slides = json!({"type": "pptx", "name": "b.pptx", "path": "b.pptx"});
    assert_eq!(manifest(&client, session).await, json!([slides, document]));
    let is_manifest = |event: &&warren_testkit::TestEvent| {
        event.json["path"] == "outputs/manifest.json" && event.json["runId"].is_string()
    };
    assert_eq!(events.iter().filter(is_manifest).count(), 1, "the run's log and its version have it");
    // What is gone is not in it, also after the session was woken; what did not change is not written.
    let path = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&path, &json!({})).await.expect(StatusCode::NO_CONTENT);
    let detail = client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    assert_eq!(detail["version"], json!(2), "nothing was left to commit after the run");
    client.run(session, "run: rm outputs/b.pptx").await;
    assert_eq!(manifest(&client, session).await, json!([document]));
    let events = client.run(session, "hello").await;
    assert_eq!(events.iter().filter(is_manifest).count(), 0);

    // What an agent writes is its own, and names what there is.
    let own = r#"{"artifacts": [{"type": "markdown", "name": "Results", "path": "documents/a.md"}]}"#;
    client.run(session, &format!("run: echo '{own}' > outputs/manifest.json; echo 3 > outputs/c.md")).await;
    let named = json!({"type": "markdown", "name": "Results", "path": "documents/a.md"});
    assert_eq!(manifest(&client, session).await, json!([named]));
    let listed = client.get(&format!("/api/sessions/{session}/artifacts")).await.expect(StatusCode::OK);
    let names: Vec<_> =
        listed["artifacts"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, [&json!("c.md"), &json!("Results")]);

    // Who removes it has none.
    client.run(session, "run: rm outputs/manifest.json; echo 4 > outputs/d.md").await;
    let path = format!("/api/sessions/{session}/fs/read?path=outputs/manifest.json");
    assert_eq!(client.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn forks_and_restores_have_what_their_version_has_and_the_first_version_is_the_template() {
    let template = tempfile::tempdir().expect("a directory");
    make_template(template.path());
    let server = start_with(template.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: cd outputs && rm -r web run.sh && echo mine > notes.md").await;
    let mine = ". ./documents ./notes.md mine";
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");

    // Asleep and without its directories, it is what its version says.
    let path = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&path, &json!({})).await.expect(StatusCode::NO_CONTENT);
    let workspaces = server.directory().join("workspaces");
    for workspace in fs::read_dir(&workspaces).expect("workspaces") {
        fs::remove_dir_all(workspace.expect("an entry").path()).expect("removed");
    }
    let told = flat(outputs(&client, session).await);
    assert!(told.contains(mine), "{told}");

    let fork = async |version: u32| {
        let path = format!("/api/sessions/{session}/fork");
        let made = client.post(&path, &json!({"version": version})).await.expect(StatusCode::CREATED);
        made["sessionId"].as_str().expect("an id").parse::<SessionId>().expect("an id")
    };
    // Version 1 is the template alone, and the run's is the next.
    let told = flat(outputs(&client, fork(2).await).await);
    assert!(told.contains(mine), "{told}");
    for version in [0, 1] {
        let told = flat(outputs(&client, fork(version).await).await);
        assert!(told.contains("./run.sh ./web") && told.contains("# As the template has it"), "{told}");
    }

    let path = format!("/api/sessions/{session}/restore");
    client.post(&path, &json!({"version": 0})).await.expect(StatusCode::OK);
    let told = flat(outputs(&client, session).await);
    assert!(told.contains("./run.sh ./web") && told.contains("# As the template has it"), "{told}");
}

#[tokio::test]
async fn a_template_that_cannot_be_read_is_said_before_the_server_starts() {
    let server = TestServer::start().await;
    let mut command = server.command(&["up", "--listen", "127.0.0.1:0"]);
    let home = tempfile::tempdir().expect("a directory");
    let output = command
        .env("WARREN_HOME", home.path().join("new"))
        .env("WARREN_STORAGE_OUTPUTS_TEMPLATE_PATH", home.path().join("absent"))
        .output()
        .await
        .expect("the program runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && complaint.contains("of the template"), "{complaint}");
    assert!(complaint.contains("storage.outputs_template_path"), "{complaint}");
}

/// Looks again, as the page that waits does. A dev server on a busy machine takes its time.
async fn until_served(server: &TestServer, host: &str, cookie: &str) -> String {
    let looking = async {
        loop {
            let page = browse(server, host, "/", Some(cookie)).await;
            if page.status == StatusCode::OK {
                return page.body.as_str().expect("a page").to_owned();
            }
            assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{page:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(240), looking).await.expect("it is served in time")
}

const PAGE: &str = "run: printf 'export default function Page() { return <h1>Sales of {1000 + 26}</h1>; }' \
    > outputs/web/src/app/page.tsx && test $(wc -l < /proc/net/route) = 1 && echo no network";

#[tokio::test]
async fn the_templates_app_is_served_and_again_after_idling_and_losing_its_directories_without_a_network() {
    let setup = Setup::new().template().await.config("[sandbox]\nidle_timeout_seconds = 20");
    let server = setup.start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let first = client.run(session, PAGE).await;
    assert!(said(&first).contains("no network"), "{}", said(&first));
    assert_eq!(artifact_paths(&client, session).await, [json!("outputs/web")]);
    let listed = client.get(&format!("/api/sessions/{session}/artifacts")).await.expect(StatusCode::OK);
    let id = listed["artifacts"][0]["id"].as_str().expect("an id").to_owned();
    let (host, cookie) = enter(&server, session, &id).await;
    let page = until_served(&server, &host, &cookie).await;
    assert!(page.contains("Sales of") && page.contains("1026"), "{page}");

    // Nobody looks any more: it falls asleep, and its directories may be anywhere but here.
    let seen = client.log(session).await.last().expect("events").seq;
    let mut events = client.events(session, seen).await;
    events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
    let workspaces = server.directory().join("workspaces");
    for workspace in fs::read_dir(&workspaces).expect("workspaces") {
        fs::remove_dir_all(workspace.expect("an entry").path()).expect("removed");
    }
    let page = until_served(&server, &host, &cookie).await;
    assert!(page.contains("Sales of") && page.contains("1026"), "{page}");
}

#[tokio::test]
async fn the_templates_script_draws_a_chart_that_is_an_artifact() {
    let server = Setup::new().template().await.start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let drawn = client.run(session, "run: cd outputs/charts && python3 example.py && echo drawn").await;
    assert!(said(&drawn).contains("drawn"), "{}", said(&drawn));
    let listed = client.get(&format!("/api/sessions/{session}/artifacts")).await.expect(StatusCode::OK);
    let charts = listed["artifacts"].as_array().expect("a list");
    let found: Vec<_> = charts.iter().map(|it| (&it["kind"], &it["path"])).collect();
    assert_eq!(found, [(&json!("image"), &json!("outputs/charts/example.png"))]);
    let office = "run: cd outputs && python3 -c \"import pptx, docx, openpyxl; p = pptx.Presentation(); \
        p.slides.add_slide(p.slide_layouts[0]); p.save('presentations/a.pptx')\" && touch /opt/python/x || echo sealed";
    let made = client.run(session, office).await;
    assert!(said(&made).contains("sealed"), "{}", said(&made));
    let found = artifact_paths(&client, session).await;
    assert_eq!(found, [json!("outputs/charts/example.png"), json!("outputs/presentations/a.pptx")]);
}
