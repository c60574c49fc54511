use clap::{CommandFactory as _, Parser as _};

use super::{Agents, Attachments, Chat, Cli, Global, NewSession, NpmRecipe, Run, Sessions, Up, Verb};

fn parse(line: &str) -> Result<Cli, clap::error::ErrorKind> {
    Cli::try_parse_from(line.split(' ')).map_err(|error| error.kind())
}

#[track_caller]
fn check(line: &str, verb: Verb) {
    assert_eq!(parse(line), Ok(Cli { global: Global::default(), verb }), "{line}");
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn commands_are_read_as_they_are_typed() {
    check("warren up", Verb::Up(Up { listen: None, json: false }));
    check(
        "warren up --listen 127.0.0.1:0 --json",
        Verb::Up(Up { listen: Some(([127, 0, 0, 1], 0).into()), json: true }),
    );
    let with = NewSession { session: Some("last".to_owned()), ..NewSession::default() };
    let run = Run {
        prompt: "hello".to_owned(),
        with: with.clone(),
        attached: Attachments::default(),
        steer: false,
        json: true,
    };
    check("warren run hello --session last --json", Verb::Run(run));
    check("warren chat --session last", Verb::Chat(Chat { with: with.clone() }));
    check("warren chat -s last", Verb::Chat(Chat { with }));
    let list = Sessions::List { limit: 5, q: None, json: false };
    check("warren sessions ls -n 5", Verb::Sessions(list));
    let events = Sessions::Events { id: "x".to_owned(), after: 7, follow: true, json: false };
    check("warren sessions events x --after 7 --follow", Verb::Sessions(events));
    let install = |name: &str, npm| {
        Verb::Agents(Agents::Install {
            names: vec![name.to_owned()],
            all: false,
            path: None,
            npm,
            json: false,
        })
    };
    check("warren agents install codex", install("codex", NpmRecipe::default()));
    let id = Some("mine".to_owned());
    let args = ["--acp", "-v"].map(str::to_owned).to_vec();
    let npm = NpmRecipe { id, args, ..NpmRecipe::default() };
    check("warren agents install npm:@a/b@1 --id mine -- --acp -v", install("npm:@a/b@1", npm));
}

#[test]
fn global_flags_may_stand_before_and_after_the_command() {
    let global = Global { dir: Some("d".into()), ..Global::default() };
    for line in ["warren --dir d doctor", "warren doctor --dir d"] {
        assert_eq!(parse(line).map(|cli| cli.global), Ok(global.clone()), "{line}");
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    use clap::error::ErrorKind::{
        ArgumentConflict, DisplayHelpOnMissingArgumentOrSubcommand, InvalidSubcommand,
        MissingRequiredArgument, UnknownArgument, ValueValidation,
    };
    let cases = [
        ("warren", DisplayHelpOnMissingArgumentOrSubcommand),
        ("warren fly", InvalidSubcommand),
        ("warren run", MissingRequiredArgument),
        ("warren run x --agent a --session s", ArgumentConflict),
        ("warren up --listen here", ValueValidation),
        ("warren sessions rm", MissingRequiredArgument),
        ("warren doctor --colour", UnknownArgument),
        ("warren agents install", MissingRequiredArgument),
        ("warren agents install codex --all", ArgumentConflict),
    ];
    for (line, kind) in cases {
        assert_eq!(parse(line), Err(kind), "{line}");
    }
}
