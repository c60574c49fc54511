use std::collections::BTreeMap;

use super::{
    Artifact, ArtifactChange, ArtifactKind, Artifacts, MAX_ARTIFACTS, Manifest, OutputFile, Outputs, Package,
    PortOwner, apply_artifact_event, artifact_events, find,
};
use crate::{ArtifactId, BlobHash, EventBody, Seq, SessionId, Version};

const SESSION: SessionId = SessionId(uuid::Uuid::nil());

fn outputs(files: &[(&str, &str)]) -> Outputs {
    let file = |(path, content): &(&str, &str)| {
        let hash = BlobHash(blake3::hash(content.as_bytes()).to_hex().to_string());
        ((*path).to_owned(), OutputFile { size_bytes: content.len() as u64, hash: Some(hash) })
    };
    Outputs { files: files.iter().map(file).collect(), ..Outputs::default() }
}

fn with_package(mut outputs: Outputs, directory: &str) -> Outputs {
    let package = Package { name: Some("shop".to_owned()), command: "npm run dev".to_owned() };
    outputs.packages.insert(directory.to_owned(), package);
    outputs
}

fn check(outputs: &Outputs, expect: &[(&str, ArtifactKind)]) {
    let found: Vec<_> = find(SESSION, outputs).into_iter().map(|it| (it.path, it.kind)).collect();
    let expect: Vec<_> = expect.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect();
    assert_eq!(found, expect);
}

#[test]
fn files_in_outputs_are_artifacts_by_their_names() {
    let all = outputs(&[
        ("outputs/a.pptx", "1"),
        ("outputs/b.DOCX", "1"),
        ("outputs/c.xlsx", "1"),
        ("outputs/d.md", "1"),
        ("outputs/deep/e.png", "1"),
        ("outputs/f.pdf", "1"),
        ("outputs/g.csv", "1"),
        ("outputs/site/index.html", "1"),
        ("outputs/tool.py", "1"),
        ("outputs/unknown.xyz", "1"),
        ("outputs/.hidden/x.md", "1"),
        ("outputs/package.json", "1"),
        ("README.md", "1"),
    ]);
    check(
        &all,
        &[
            ("outputs/a.pptx", ArtifactKind::Pptx),
            ("outputs/b.DOCX", ArtifactKind::Docx),
            ("outputs/c.xlsx", ArtifactKind::Excel),
            ("outputs/d.md", ArtifactKind::Markdown),
            ("outputs/deep/e.png", ArtifactKind::Image),
            ("outputs/f.pdf", ArtifactKind::Pdf),
            ("outputs/g.csv", ArtifactKind::Csv),
            ("outputs/site/index.html", ArtifactKind::Html),
            ("outputs/tool.py", ArtifactKind::Code),
        ],
    );
}

#[test]
fn an_app_is_one_artifact_and_its_files_are_part_of_it() {
    let all =
        outputs(&[("outputs/web/package.json", "{}"), ("outputs/web/page.tsx", "x"), ("outputs/n.md", "n")]);
    let all = with_package(with_package(all, "outputs/web"), "outputs/web/packages/ui");
    check(&all, &[("outputs/n.md", ArtifactKind::Markdown), ("outputs/web", ArtifactKind::WebApp)]);
    let app = find(SESSION, &all).remove(1);
    assert_eq!((app.name.as_str(), app.command.as_deref(), app.size_bytes), ("shop", Some("npm run dev"), 3));
    let mut changed = all.clone();
    changed.files.get_mut("outputs/web/page.tsx").expect("it is there").hash = None;
    assert_eq!(
        find(SESSION, &changed).remove(1).hash,
        None,
        "an app that was not wholly looked at has no hash"
    );
    assert!(app.hash.is_some());
}

#[test]
fn what_listens_is_an_app_of_its_directory_or_of_its_port() {
    let mut all = with_package(outputs(&[("outputs/web/package.json", "{}")]), "outputs/web");
    let at = |directory: Option<&str>| PortOwner { directory: directory.map(str::to_owned) };
    all.ports = BTreeMap::from([
        (3000, at(Some("outputs/web"))),
        (3001, at(Some("outputs/web/server"))),
        (5173, at(Some("demo"))),
        (8080, at(None)),
        (9000, at(Some(""))),
    ]);
    let ports: Vec<_> = find(SESSION, &all).into_iter().map(|it| (it.path, it.port)).collect();
    let expect = [
        ("demo", Some(5173)),
        ("outputs/web", Some(3000)),
        ("port:8080", Some(8080)),
        ("port:9000", Some(9000)),
    ];
    assert_eq!(ports, expect.map(|(path, port)| (path.to_owned(), port)));
}

#[test]
fn a_manifest_names_things_and_hides_nothing() {
    let text = br#"{"artifacts": [
        {"type": "web_app", "name": "Dashboard", "path": "dash/", "command": "python3 app.py", "port": 8050},
        {"type": "chart", "name": "Sales", "path": "/outputs/sales.bin"},
        {"type": "docx", "path": "../../etc/passwd"},
        {"type": "image", "path": "gone.png"},
        {"path": 7}, "nonsense"
    ], "more": true}"#;
    let mut all = outputs(&[
        ("outputs/dash/app.py", "x"),
        ("outputs/manifest.json", "{}"),
        ("outputs/notes.md", "n"),
        ("outputs/sales.bin", "b"),
    ]);
    all.manifest = Some(Manifest::parse(text).expect("a manifest"));
    check(
        &all,
        &[
            ("outputs/dash", ArtifactKind::WebApp),
            ("outputs/notes.md", ArtifactKind::Markdown),
            ("outputs/sales.bin", ArtifactKind::Image),
        ],
    );
    let app = find(SESSION, &all).remove(0);
    assert_eq!(
        (app.name.as_str(), app.command.as_deref(), app.port),
        ("Dashboard", Some("python3 app.py"), Some(8050))
    );
    for wrong in [&b"7"[..], b"{\"artifacts\": {}}", b"", b"\xff"] {
        assert!(Manifest::parse(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn what_is_still_as_the_template_has_it_is_nobodys_work() {
    let files =
        [("outputs/web/package.json", "{}"), ("outputs/web/page.tsx", "t"), ("outputs/README.md", "r")];
    let mut all = with_package(outputs(&files), "outputs/web");
    all.template =
        all.files.iter().filter_map(|(path, file)| Some((path.clone(), file.hash.clone()?))).collect();
    check(&all, &[]);
    let own = OutputFile { size_bytes: 9, hash: Some(BlobHash("0".repeat(64))) };
    all.files.insert("outputs/web/page.tsx".to_owned(), own);
    check(&all, &[("outputs/web", ArtifactKind::WebApp)]);
}

#[test]
fn there_are_never_more_than_a_bounded_number() {
    let files = (0..MAX_ARTIFACTS + 50)
        .map(|n| (format!("outputs/{n:05}.md"), OutputFile { size_bytes: 1, hash: None }));
    let all = Outputs { files: files.collect(), ..Outputs::default() };
    assert_eq!(find(SESSION, &all).len(), MAX_ARTIFACTS);
}

fn apply(known: &mut Artifacts, bodies: &[EventBody]) {
    bodies.iter().for_each(|body| apply_artifact_event(known, body));
}

#[test]
fn the_events_of_any_two_states_lead_from_one_to_the_other() {
    let states = [
        outputs(&[]),
        outputs(&[("outputs/a.md", "1"), ("outputs/b.md", "1")]),
        outputs(&[("outputs/a.md", "2"), ("outputs/c.csv", "1")]),
        with_package(outputs(&[("outputs/a.md", "2"), ("outputs/web/package.json", "{}")]), "outputs/web"),
    ];
    let plain = |artifact: &Artifact| Artifact {
        created_seq: None,
        updated_seq: None,
        created_version: None,
        updated_version: None,
        ..artifact.clone()
    };
    for (from, to) in states.iter().flat_map(|from| states.iter().map(move |to| (from, to))) {
        let mut known = Artifacts::new();
        let first = artifact_events(&known, find(SESSION, from), Seq(0), Version(1));
        apply(&mut known, &first);
        let then = artifact_events(&known, find(SESSION, to), Seq(50), Version(4));
        apply(&mut known, &then);
        let mut now: Vec<_> = known.values().map(plain).collect();
        now.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(now, find(SESSION, to));
        assert!(artifact_events(&known, find(SESSION, to), Seq(99), Version(10)).is_empty());
    }
}

#[test]
fn an_event_says_its_own_number_and_the_version_to_come() {
    let mut known = Artifacts::new();
    let files = outputs(&[("outputs/a.md", "1"), ("outputs/b.md", "1")]);
    let made = artifact_events(&known, find(SESSION, &files), Seq(7), Version(3));
    let [_, EventBody::ArtifactCreated { artifact }] = &made[..] else { panic!("two are new: {made:?}") };
    assert_eq!((artifact.created_seq, artifact.created_version), (Some(Seq(9)), Some(Version(3))));
    apply(&mut known, &made);

    let files = outputs(&[("outputs/b.md", "22")]);
    let then = artifact_events(&known, find(SESSION, &files), Seq(20), Version(6));
    let [EventBody::ArtifactDeleted { artifact: gone }, EventBody::ArtifactUpdated { artifact, changes }] =
        &then[..]
    else {
        panic!("one is gone, one is another: {then:?}")
    };
    assert_eq!(gone.id, ArtifactId::of(SESSION, "outputs/a.md"));
    assert_eq!(changes, &[ArtifactChange::Content]);
    assert_eq!((artifact.created_seq, artifact.updated_seq), (Some(Seq(9)), Some(Seq(22))));
    assert_eq!((artifact.created_version, artifact.updated_version), (Some(Version(3)), Some(Version(6))));
}
