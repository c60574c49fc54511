//! Running programs and moving files.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use warren_guest_api::{ErrorCode, ExecRequest, Exit, FilePath, Root, WriteRequest};

use super::{Ground, said, shell, start};

/// Input, output and exit code pass through unharmed.
pub async fn a_program_gets_its_input_and_gives_its_output(ground: &dyn Ground) {
    let sandbox = start(ground, "program").await;
    let argv = ["/bin/sh", "-c", "cat; echo complaint >&2; exit 7"].map(str::to_owned).to_vec();
    let request = ExecRequest { argv, env: sandbox.env.clone(), stdin: true, ..ExecRequest::default() };
    let mut exec = sandbox.guest.exec(request).await.expect("the program starts");
    let input: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut stdin = exec.stdin.take().expect("it has an input");
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let send = async {
        stdin.write_all(&input).await.expect("the input is taken");
        drop(stdin);
    };
    let (_, out, err) =
        tokio::join!(send, exec.stdout.read_to_end(&mut stdout), exec.stderr.read_to_end(&mut stderr));
    out.and(err).expect("the output is read");
    assert!(stdout == input, "{} bytes came back of {}", stdout.len(), input.len());
    assert_eq!(stderr, b"complaint\n");
    assert_eq!(exec.wait().await.expect("the end is told"), Exit::Code(7));
}

/// A program that cannot be started is an error of the call, not of the sandbox.
pub async fn a_program_that_is_not_there_is_an_error(ground: &dyn Ground) {
    let sandbox = start(ground, "absent").await;
    let request = ExecRequest { argv: vec!["/usr/bin/no-such-program".into()], ..ExecRequest::default() };
    let error = sandbox.guest.exec(request).await.expect_err("there is no such program");
    assert_eq!(error.code(), Some(ErrorCode::NotFound));
    sandbox.guest.ping().await.expect("the guest is well");
}

/// What is written through the file interface is what programs read, and the other way round.
pub async fn files_of_the_host_and_of_programs_are_the_same(ground: &dyn Ground) {
    let sandbox = start(ground, "files").await;
    let request =
        WriteRequest { path: FilePath::new(Root::Workspace, "a/b"), how: Default::default(), mode: None };
    sandbox.guest.write(request, &b"from outside\n"[..]).await.expect("the file is written");
    assert_eq!(shell(&sandbox, "cat a/b && echo from inside > c").await, said("from outside\n"));
    let read =
        sandbox.guest.read_all(FilePath::new(Root::Workspace, "c"), 100).await.expect("the file is read");
    assert_eq!(read, b"from inside\n");
}

/// Read-only mounts can be read and not changed.
pub async fn read_only_mounts_stay_as_they_are(ground: &dyn Ground) {
    let sandbox = start(ground, "read-only").await;
    assert_eq!(shell(&sandbox, "cat /knowledge/fact").await, said("true"));
    for line in [
        "echo x > /knowledge/fact",
        "rm /knowledge/fact",
        "touch /knowledge/new",
        "touch /usr/new",
        "touch /new",
    ] {
        let tried = shell(&sandbox, line).await;
        assert_ne!(tried.exit, Exit::Code(0), "`{line}` worked: {tried:?}");
    }
    assert_eq!(shell(&sandbox, "cat /knowledge/fact; ls /knowledge").await, said("truefact\n"));
}

/// There is a loopback interface, and no other.
pub async fn there_is_no_network(ground: &dyn Ground) {
    let sandbox = start(ground, "network").await;
    let interfaces = shell(&sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").await;
    assert_eq!(interfaces, said("lo\n"));
}

/// Processes of one sandbox do not exist in another.
pub async fn two_sandboxes_do_not_see_each_other(ground: &dyn Ground) {
    let (one, other) = (start(ground, "one").await, start(ground, "other").await);
    assert_eq!(shell(&one, "sleep 7654321 > /dev/null 2>&1 &").await, said(""));
    // The brackets keep the search from finding itself.
    let find = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -x '765432[1]' || echo none";
    assert_eq!(shell(&one, find).await, said("7654321\n"), "a sandbox sees its own processes");
    assert_eq!(shell(&other, find).await, said("none\n"));
}
