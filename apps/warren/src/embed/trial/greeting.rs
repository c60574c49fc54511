//! Asks a program whether it speaks ACP, as every client does first.

use std::{sync::Mutex, time::Duration};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use warren_guest_api::{ExecRequest, Leftovers};
use warren_programs::{Installed, NpmRecipe};
use warren_sandbox::Sandbox;

use super::{MAX_OUTPUT, Trial};

/// Programs are slow to start on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);
/// For what a program that has ended said last.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// After that many lines that are no answer, it is no agent.
const MAX_LINES: usize = 200;
/// The version of the protocol that the adapter speaks.
const VERSION: u64 = 1;

pub(super) async fn greet(sandbox: &Sandbox, recipe: &NpmRecipe, installed: &Installed) -> Trial {
    let failed = |output: String, problem: String| Trial::failed(output, problem, None);
    match ask(sandbox, recipe, installed).await {
        Ok(Heard { answer: Some(answer), .. }) => match understood(&answer) {
            Ok(output) => Trial { runs: true, output, problem: None, hint: None },
            Err(problem) => failed(answer.to_string(), problem),
        },
        Ok(Heard { answer: None, said }) => failed(said, "it did not answer `initialize`".to_owned()),
        Err(error) => failed(String::new(), format!("{error:#}")),
    }
}

/// What a program said.
struct Heard {
    answer: Option<Value>,
    /// The rest of it.
    said: String,
}

async fn ask(sandbox: &Sandbox, recipe: &NpmRecipe, installed: &Installed) -> Result<Heard> {
    let mut exec = sandbox.guest.exec(request(sandbox, recipe, installed)).await?;
    let mut stdin = exec.stdin.take().context("it has no input")?;
    let (stdout, stderr, _) = exec.split();
    let complained = Mutex::new(Vec::new());
    let heard = async {
        tokio::select! {
            heard = talk(&mut stdin, stdout, &complained) => heard,
            () = listen(stderr, &complained) => Heard { answer: None, said: String::new() },
        }
    };
    let heard = tokio::time::timeout(TIMEOUT, heard).await;
    heard.with_context(|| format!("it did not answer `initialize` in {} s", TIMEOUT.as_secs()))
}

fn request(sandbox: &Sandbox, recipe: &NpmRecipe, installed: &Installed) -> ExecRequest {
    let mut argv = installed.argv(&format!("/opt/agents/{}", installed.name));
    argv.extend(recipe.args.iter().cloned());
    let mut env = sandbox.env.clone();
    env.extend(recipe.env.clone());
    // What it needs is the profile's to say; the question is only whether it starts to talk.
    env.extend(recipe.needs.iter().map(|name| (name.clone(), "placeholder".to_owned())));
    ExecRequest {
        argv,
        env,
        cwd: Some("/workspace".to_owned()),
        stdin: true,
        leftovers: Leftovers::Kill,
        ..ExecRequest::default()
    }
}

/// Says hello, and waits for the answer or for the end of the program.
async fn talk(
    stdin: &mut (impl AsyncWrite + Unpin),
    stdout: impl AsyncRead + Unpin,
    complained: &Mutex<Vec<u8>>,
) -> Heard {
    let files = json!({"readTextFile": false, "writeTextFile": false});
    let params = json!({"protocolVersion": VERSION, "clientCapabilities": {"fs": files}});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    // A program that ended already does not take it; what it said tells why.
    let _ = stdin.write_all(format!("{initialize}\n").as_bytes()).await;
    let _ = stdin.flush().await;
    let mut lines = BufReader::new(stdout.take(16 * MAX_OUTPUT)).lines();
    let mut said = Vec::new();
    while said.len() < MAX_LINES
        && let Ok(Some(line)) = lines.next_line().await
    {
        let answer = serde_json::from_str::<Value>(&line).ok().filter(|it| it["id"] == 0);
        if let Some(answer) = answer.filter(|it| it["method"].is_null()) {
            return Heard { answer: Some(answer), said: String::new() };
        }
        said.push(line);
    }
    // It ends; what it complained of is still on its way.
    tokio::time::sleep(LAST_WORDS).await;
    let complained = complained.lock().map(|it| String::from_utf8_lossy(&it).into_owned());
    said.push(complained.unwrap_or_default());
    Heard { answer: None, said: said.join("\n").trim().to_owned() }
}

/// Reads on and on: a program that nobody listens to waits, and never answers.
async fn listen(mut stderr: impl AsyncRead + Unpin, complained: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut piece).await {
        if let Ok(mut complained) = complained.lock()
            && (complained.len() as u64) < MAX_OUTPUT
        {
            complained.extend_from_slice(&piece[..n]);
        }
    }
    std::future::pending().await
}

/// The agent's name and version, if it speaks the version of the protocol that we do.
fn understood(answer: &Value) -> Result<String, String> {
    if let Some(error) = answer.get("error") {
        let message = error["message"].as_str().unwrap_or("without a message");
        return Err(format!("it answered `initialize` with an error: {message}"));
    }
    let result = &answer["result"];
    match result["protocolVersion"].as_u64() {
        Some(VERSION) => {
            let info = &result["agentInfo"];
            let words = ["name", "version"].map(|key| info[key].as_str().unwrap_or_default());
            let named = words.join(" ").trim().to_owned();
            Ok(if named.is_empty() { format!("ACP {VERSION}") } else { format!("ACP {VERSION}, {named}") })
        }
        Some(other) => Err(format!("it speaks version {other} of ACP, and Warren speaks {VERSION}")),
        None => Err("its answer to `initialize` names no version of ACP".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::understood;

    #[test]
    fn answer_of_an_acp_agent_names_the_version_of_the_protocol() {
        let known =
            json!({"id": 0, "result": {"protocolVersion": 1, "agentInfo": {"name": "it", "version": "2"}}});
        assert_eq!(understood(&known), Ok("ACP 1, it 2".to_owned()));
        assert_eq!(understood(&json!({"id": 0, "result": {"protocolVersion": 1}})), Ok("ACP 1".to_owned()));
        for (answer, problem) in [
            (json!({"result": {"protocolVersion": 7}}), "it speaks version 7 of ACP, and Warren speaks 1"),
            (json!({"result": {"capabilities": {}}}), "its answer to `initialize` names no version of ACP"),
            (json!({"error": {"message": "no"}}), "it answered `initialize` with an error: no"),
        ] {
            assert_eq!(understood(&answer), Err(problem.to_owned()));
        }
    }
}
