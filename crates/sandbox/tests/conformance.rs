//! Every backend keeps the contract.

mod ground;

/// bubblewrap on this machine.
mod local {
    use crate::ground::LocalGround;

    warren_sandbox::conformance_tests!(LocalGround::new);
}

/// The same, with files that are in its sandboxes alone.
mod apart {
    use crate::ground::ApartGround;

    warren_sandbox::conformance_tests!(ApartGround::new);
}

/// What an earlier server left is removed; what sandboxes of this one have is not.
#[tokio::test]
async fn files_that_an_earlier_server_left_are_swept() {
    use warren_guest_api::{FilePath, Root, WriteRequest};
    use warren_sandbox::conformance::{Ground as _, start};

    let ground = ground::ApartGround::new().await;
    let files = ground.files();
    for old in ["0/workspace", "7/workspace"] {
        std::fs::create_dir_all(files.join(old)).expect("a directory");
        std::fs::write(files.join(old).join("old"), "left").expect("a file");
    }
    let sandbox = start(&ground, "new").await;
    let path = FilePath::new(Root::Workspace, "file");
    let request = WriteRequest { path: path.clone(), how: Default::default(), mode: None };
    sandbox.guest.write(request, &b"kept"[..]).await.expect("the file is written");
    ground.backend().sweep().await.expect("it is swept");
    assert!(!files.join("0").exists() && !files.join("7").exists(), "what was left is gone");
    assert_eq!(sandbox.guest.read_all(path, 100).await.expect("the file is read"), b"kept");
    sandbox.terminate().await.expect("it ends");
    assert_eq!(std::fs::read_dir(files).expect("a directory").count(), 0, "nothing outlives its sandbox");
}
