//! Completion in the shell. The script that `warren completions` prints asks this program for candidates: commands and options
//! are those of the command line, names of sessions, versions, profiles and agents come from the running server.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::Write,
    time::Duration,
};

use anyhow::{Context as _, Result};
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::{
    Shell,
    engine::{ArgValueCompleter, CompletionCandidate},
    env::{CompleteEnv, Shells},
};
use warren_config::Environment;
use warren_wire::{AgentList, ProfileList, SessionPage, VersionPage};

use crate::{
    cli::{Cli, Global},
    client::Client,
    connect::Connection,
    lookup::{find, list_path},
    render::one_line,
    setting::Setting,
};

/// Set by the script: the shell that asks.
const VARIABLE: &str = "WARREN_COMPLETE";

/// Somebody waits with a finger on the key.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Candidates that are worth reading.
const N_CANDIDATES: u32 = 100;

/// Answers a shell that asks for candidates, and ends the process; does nothing for anybody else.
pub(crate) fn answer() {
    // Removed, so that programs started by the completion do not complete too.
    let is_bash = Environment::of_process().get(VARIABLE) == Some("bash");
    let quoting = if is_bash { Quoting::Backslashes } else { Quoting::ByShell };
    CompleteEnv::with_factory(|| with_names(Cli::command(), quoting)).var(VARIABLE).complete();
}

/// Writes the script that a shell reads once.
pub(crate) fn write_script(shell: Shell, out: &mut dyn Write) -> Result<()> {
    let shells = Shells::builtins();
    let name = shell.to_string();
    let shell = shells.completer(&name).with_context(|| format!("`{name}` has no completion"))?;
    let program = env::args().next().unwrap_or_else(|| "warren".to_owned());
    // A path may be relative, and the shell will be elsewhere.
    let program = match program.contains('/').then(|| std::path::absolute(&program)) {
        Some(Ok(path)) => path.display().to_string(),
        Some(Err(_)) | None => program,
    };
    Ok(shell.write_registration(VARIABLE, "warren", "warren", &program, out)?)
}

/// Who makes one word of a name with spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    /// We do, for bash.
    Backslashes,
    /// The script of the shell.
    ByShell,
}

/// Names that only the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Sessions,
    /// Of the session that stands before.
    Versions,
    Profiles,
    Agents,
}

impl Names {
    /// What an argument takes, by its name: an argument that is added later is completed too.
    fn of(arg: &Arg, parent: &str) -> Option<Self> {
        let shown = arg.get_value_names().and_then(|names| names.first()).map(|name| name.to_lowercase());
        match shown.as_deref().unwrap_or(arg.get_id().as_str()) {
            "session" => Some(Self::Sessions),
            "version" | "versions" => Some(Self::Versions),
            "to" if parent == "diff" => Some(Self::Versions),
            "profile" => Some(Self::Profiles),
            "agent" => Some(Self::Agents),
            "id" if parent == "profiles" => Some(Self::Profiles),
            "name" if parent == "agents" => Some(Self::Agents),
            _ => None,
        }
    }
}

/// The command line with completion of names.
fn with_names(command: Command, quoting: Quoting) -> Command {
    let above = command.get_name().to_owned();
    with_names_below(command, &above, quoting)
}

fn with_names_below(command: Command, parent: &str, quoting: Quoting) -> Command {
    let own = command.get_name().to_owned();
    // Arguments of `profiles show` are those of profiles.
    let noun = if matches!(parent, "profiles" | "agents") { parent.to_owned() } else { own.clone() };
    let command = command.mut_args(|arg| match Names::of(&arg, &noun) {
        Some(names) => {
            arg.add(ArgValueCompleter::new(move |current: &OsStr| candidates(names, current, quoting)))
        }
        None => arg,
    });
    command.mut_subcommands(|sub| with_names_below(sub, &own, quoting))
}

/// What the running server has. Without one there are no names: starting one for a key press would take too long.
fn candidates(names: Names, current: &OsStr, quoting: Quoting) -> Vec<CompletionCandidate> {
    let words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // An error message would land in the middle of the line being typed.
    ask(names, &words, &current.to_string_lossy(), quoting).unwrap_or_default()
}

fn ask(names: Names, words: &[String], current: &str, quoting: Quoting) -> Result<Vec<CompletionCandidate>> {
    // It may be installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let setting = Setting::new(global(words), Environment::of_process())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(async {
        tokio::time::timeout(TIMEOUT, async {
            let Some(connection) = Connection::to_running(&setting).await? else { return Ok(Vec::new()) };
            names.read(&connection.client, words).await
        })
        .await
    });
    let is_bash = quoting == Quoting::Backslashes;
    let typed = if is_bash { unescaped(current) } else { current.to_owned() };
    let begins = |(name, _): &(String, String)| name.to_lowercase().starts_with(&typed.to_lowercase());
    let shown = |(name, help): (String, String)| {
        // The other shells do it themselves.
        let value = if is_bash { escaped(&name) } else { name };
        CompletionCandidate::new(OsString::from(value)).help((!help.is_empty()).then(|| help.into()))
    };
    Ok(found??.into_iter().filter(begins).map(shown).collect())
}

impl Names {
    /// Names, each with what tells it from the others.
    async fn read(self, client: &Client, words: &[String]) -> Result<Vec<(String, String)>> {
        Ok(match self {
            Self::Sessions => {
                let page: SessionPage = client.get(&list_path(N_CANDIDATES, None, None)).await?;
                let of = |session: warren_wire::SessionListItem| {
                    let id = session.session_id.to_string();
                    match session.name.map(|name| one_line(name.trim())).filter(|name| !name.is_empty()) {
                        Some(name) => vec![(name.clone(), id.clone()), (id, name)],
                        None => vec![(id, session.agent_type.to_string())],
                    }
                };
                page.sessions.into_iter().flat_map(of).collect()
            }
            Self::Versions => {
                let Some(named) = positionals(words).nth(1) else { return Ok(Vec::new()) };
                let session = find(client, &unescaped(named)).await?;
                let path = format!("/api/sessions/{session}/versions?limit={N_CANDIDATES}");
                let page: VersionPage = client.get(&path).await?;
                let help =
                    |label: Option<String>, cause: String| label.map_or(cause, |label| one_line(&label));
                let of = |it: warren_wire::VersionItem| {
                    (format!("v{}", it.version), help(it.label, it.cause.to_string()))
                };
                page.versions.into_iter().map(of).collect()
            }
            Self::Profiles => {
                let list: ProfileList = client.get("/api/profiles").await?;
                list.profiles.into_iter().map(|it| (it.id.to_string(), String::new())).collect()
            }
            Self::Agents => {
                let list: AgentList = client.get("/api/agents").await?;
                list.agents.into_iter().map(|it| (it.name, String::new())).collect()
            }
        })
    }
}

/// The words of the command line that is being typed, after the program: the shell passes them after `--`.
fn typed(words: &[String]) -> &[String] {
    let start = words.iter().position(|word| word == "--").map_or(0, |at| at + 2);
    words.get(start..).unwrap_or_default()
}

/// Flags that say which server is asked.
fn global(words: &[String]) -> Global {
    let words = typed(words);
    let value = |flag: &str| {
        words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(flag) {
            Some("") => words.get(at + 1).cloned(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        })
    };
    Global {
        dir: value("--dir").map(Into::into),
        config: value("--config").map(Into::into),
        server: value("--server"),
        log: None,
    }
}

/// Words that are neither flags nor values of global flags: a command, then its arguments.
fn positionals(words: &[String]) -> impl Iterator<Item = &String> {
    let is_global = |word: &str| matches!(word, "--dir" | "--config" | "--server" | "--log");
    let words = typed(words);
    let is_value = move |at: usize| at > 0 && is_global(&words[at - 1]);
    words
        .iter()
        .enumerate()
        .filter(move |(at, word)| !word.starts_with('-') && !is_value(*at))
        .map(|(_, word)| word)
}

/// A name as one word for bash.
fn escaped(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@,%".contains(c);
    name.chars().flat_map(|c| (!is_plain(c)).then_some('\\').into_iter().chain([c])).collect()
}

/// A word of bash as the name it stands for.
fn unescaped(word: &str) -> String {
    let mut name = String::new();
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => name.extend(chars.next()),
            '\'' | '"' => {}
            c => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::CommandFactory as _;
    use clap_complete::Shell;

    use super::{Names, Quoting, escaped, global, positionals, unescaped, with_names, write_script};
    use crate::cli::Cli;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn every_shell_gets_a_script_and_every_command_is_completed() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            write_script(shell, &mut script).expect("a script");
            let script = String::from_utf8(script).expect("text");
            assert!(script.contains("WARREN_COMPLETE"), "{script}");
        }
        let mut command = with_names(Cli::command(), Quoting::ByShell);
        let line = ["warren", ""].map(Into::into).to_vec();
        let found = clap_complete::engine::complete(&mut command, line, 1, None).expect("candidates");
        let found: Vec<String> =
            found.iter().map(|it| it.get_value().to_string_lossy().into_owned()).collect();
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(found.contains(&command.get_name().to_owned()), "{}: {found:?}", command.get_name());
        }
    }

    #[test]
    fn arguments_that_take_names_are_known_by_their_own() {
        let cli = Cli::command();
        let names = |path: &[&str], arg: &str| {
            let command = path.iter().fold(&cli, |at, name| at.find_subcommand(name).expect("a command"));
            let arg = command.get_arguments().find(|it| it.get_id() == arg).expect("an argument");
            Names::of(arg, path[0])
        };
        assert_eq!(names(&["run"], "session"), Some(Names::Sessions));
        assert_eq!(names(&["sessions", "show"], "id"), Some(Names::Sessions));
        assert_eq!(names(&["sessions", "rm"], "ids"), Some(Names::Sessions));
        assert_eq!(names(&["files", "get"], "session"), Some(Names::Sessions));
        assert_eq!(names(&["restore"], "version"), Some(Names::Versions));
        assert_eq!(names(&["diff"], "to"), Some(Names::Versions));
        assert_eq!(names(&["run"], "profile"), Some(Names::Profiles));
        assert_eq!(names(&["profiles", "show"], "id"), Some(Names::Profiles));
        assert_eq!(names(&["fork"], "agent"), Some(Names::Agents));
        assert_eq!(names(&["agents", "remove"], "names"), Some(Names::Agents));
        assert_eq!(names(&["files", "mv"], "to"), None);
        assert_eq!(names(&["run"], "name"), None);
    }

    #[test]
    fn flags_before_the_command_say_which_server_is_asked() {
        let line = words("-- warren --dir /d --server=http://a:1 diff poetry v");
        assert_eq!(global(&line).dir, Some(PathBuf::from("/d")));
        assert_eq!(global(&line).server.as_deref(), Some("http://a:1"));
        assert_eq!(positionals(&line).collect::<Vec<_>>(), ["diff", "poetry", "v"]);
    }

    #[test]
    fn name_with_spaces_is_one_word_and_back() {
        for name in ["Sales of May", "it's $5", "plain", "Grüße"] {
            assert_eq!(unescaped(&escaped(name)), name);
        }
        assert_eq!(escaped("Sales of May"), r"Sales\ of\ May");
    }
}
