//! `warren profiles`: list, show, create, edit and delete.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json, value::RawValue};
use warren_config::Environment;
use warren_domain::AgentProfile;
use warren_wire::ProfileList;

use super::files::query;
use crate::{
    cli,
    client::{CallError, Client},
    confirm::confirm,
    connect::with_server,
    render::{clean, one_line},
    report::{Advised, Outcome},
    setting::Setting,
    table::Table,
    terminal::Terminal,
};

/// Runs the command.
pub(crate) async fn run(setting: &Setting, args: cli::Profiles, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(setting, client, args, terminal).await).await
}

async fn act(setting: &Setting, client: &Client, args: cli::Profiles, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Profiles::List { of, json } => list(client, &of, json, terminal).await,
        cli::Profiles::Show { id, of } => {
            let profile: Value = client.get(&place(&id, &of)).await?;
            Ok(terminal.line(&serde_json::to_string_pretty(&profile)?)?)
        }
        create @ cli::Profiles::Create { .. } => make(client, create, terminal).await,
        cli::Profiles::Edit { id, of } => edit(setting, client, &id, &place(&id, &of), terminal).await,
        cli::Profiles::Rm { id, of, yes } => {
            let question = format!("Delete the profile `{id}`? Its sessions continue without a profile.");
            if !confirm(&question, yes).await? {
                eprintln!("Nothing was deleted.");
                return Ok(());
            }
            client.delete(&place(&id, &of)).await?;
            Ok(terminal.line(&format!("Deleted the profile {id}"))?)
        }
    }
}

fn place(id: &str, of: &cli::InProject) -> String {
    let project =
        of.project.as_deref().map(|project| format!("?projectId={}", query(project))).unwrap_or_default();
    format!("/api/profiles/{}{project}", query(id).replace('/', "%2F"))
}

async fn list(client: &Client, of: &cli::InProject, json: bool, terminal: &mut Terminal) -> Result<()> {
    let project =
        of.project.as_deref().map(|project| format!("?projectId={}", query(project))).unwrap_or_default();
    let answer: Box<RawValue> = client.get(&format!("/api/profiles{project}")).await?;
    if json {
        return Ok(terminal.line(answer.get())?);
    }
    let list: ProfileList = serde_json::from_str(answer.get())?;
    let mut table = Table::new(["ID", "NAME", "SETS", "DESCRIPTION"]);
    for profile in &list.profiles {
        table.row([
            profile.id.to_string(),
            clean(profile.name.as_deref().unwrap_or_default()),
            sets(profile)?,
            one_line(profile.description.as_deref().unwrap_or_default()),
        ]);
    }
    Ok(terminal.write(&table.to_text(terminal.paint()))?)
}

/// The fields that a profile sets, apart from its names.
fn sets(profile: &AgentProfile) -> Result<String> {
    let Value::Object(fields) = serde_json::to_value(profile)? else { return Ok(String::new()) };
    let named = ["id", "projectId", "name", "description"];
    let set: Vec<String> =
        fields.into_iter().map(|(key, _)| key).filter(|key| !named.contains(&key.as_str())).collect();
    Ok(if set.is_empty() { "agent defaults".to_owned() } else { set.join(", ") })
}

async fn make(client: &Client, create: cli::Profiles, terminal: &mut Terminal) -> Result<()> {
    let cli::Profiles::Create { id, of, file, system_prompt, model, command, env, allow, replace } = create
    else {
        return Ok(());
    };
    let mut fields = match &file {
        Some(path) => {
            object(&read(path)?).with_context(|| format!("`{}` is not a profile", path.display()))?
        }
        None => Map::new(),
    };
    let texts = [("systemPrompt", system_prompt), ("model", model)];
    fields.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), json!(text?)))));
    if let Some(command) = command {
        fields.insert("command".to_owned(), json!(command.split_whitespace().collect::<Vec<_>>()));
    }
    if !env.is_empty() {
        fields.insert("environmentVariables".to_owned(), Value::Object(variables(&env)?));
    }
    if !allow.is_empty() {
        fields.insert("egressAllow".to_owned(), json!(allow));
    }
    let place = place(&id, &of);
    if !replace && exists(client, &place, of.project.as_deref()).await? {
        let advice = format!("change it with `warren profiles edit {id}`, or pass `--replace`");
        bail!(Advised::new(format!("there is a profile `{id}` already"), advice));
    }
    let _: Value = client.put(&place, &fields).await?;
    Ok(terminal.line(&format!("Saved the profile {id}"))?)
}

/// Whether the profile itself is there, and not one of the same name that all projects can use.
async fn exists(client: &Client, place: &str, project: Option<&str>) -> Result<bool> {
    match client.get::<AgentProfile>(place).await {
        Ok(found) => Ok(project.is_none() || found.project_id.is_some()),
        Err(CallError::Refused(problem)) if problem.status == 404 => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn variables(env: &[String]) -> Result<Map<String, Value>> {
    let pair = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, value) = pair
            .ok_or_else(|| Advised::new(format!("`{text}` is not a variable"), "write it as NAME=VALUE"))?;
        Ok((name.to_owned(), json!(value)))
    };
    env.iter().map(pair).collect()
}

fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("failed to read standard input")?;
    } else {
        text = fs::read_to_string(path).with_context(|| format!("failed to read `{}`", path.display()))?;
    }
    Ok(text)
}

fn object(text: &str) -> Result<Map<String, Value>> {
    let value: Value = serde_json::from_str(text).context("it is not valid JSON")?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => bail!("it is not a JSON object"),
    }
}

/// Opens the profile in the user's editor and saves it. A text that is refused stays in its file.
async fn edit(
    setting: &Setting,
    client: &Client,
    id: &str,
    place: &str,
    terminal: &mut Terminal,
) -> Result<()> {
    let before: Value = client.get(place).await?;
    let text = serde_json::to_string_pretty(&before)? + "\n";
    let mut file = tempfile::Builder::new().prefix(&format!("profile-{id}-")).suffix(".json").tempfile()?;
    file.write_all(text.as_bytes()).context("failed to write a temporary file")?;
    let (_, path) = file.keep().context("failed to keep a temporary file")?;
    run_editor(&setting.environment, &path)?;
    let edited = read(&path)?;
    let saved = save(client, place, &text, &edited).await;
    match saved {
        Ok(is_changed) => {
            // It is saved, or nothing was changed: nobody needs the file.
            let _ = fs::remove_file(&path);
            Ok(terminal.line(&if is_changed {
                format!("Saved the profile {id}")
            } else {
                "Nothing was changed".to_owned()
            })?)
        }
        Err(error) => {
            Err(error.context(format!("the profile was not saved; your text is in `{}`", path.display())))
        }
    }
}

async fn save(client: &Client, place: &str, before: &str, after: &str) -> Result<bool> {
    if before == after {
        return Ok(false);
    }
    let _: Value = client.put(place, &object(after)?).await?;
    Ok(true)
}

fn run_editor(environment: &Environment, path: &Path) -> Result<()> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| environment.get(name).filter(|value| !value.trim().is_empty()));
    let editor = editor.unwrap_or("vi");
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(path).status();
    let advice = "set EDITOR to your editor, such as `nano` or `code --wait`";
    let status = status
        .map_err(|error| Advised::new(format!("failed to start the editor `{program}`: {error}"), advice))?;
    if !status.success() {
        bail!(Advised::new(format!("the editor `{program}` failed; nothing was saved"), advice));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warren_domain::AgentProfile;

    use super::{object, place, sets, variables};
    use crate::cli::InProject;

    #[test]
    fn list_names_the_fields_that_a_profile_sets() {
        let profile = |fields| serde_json::from_value::<AgentProfile>(fields).expect("a profile");
        assert_eq!(sets(&profile(json!({"id": "a", "name": "A"}))).expect("text"), "agent defaults");
        let some = profile(json!({"id": "a", "model": "m", "egressAllow": ["a.test"]}));
        assert_eq!(sets(&some).expect("text"), "egressAllow, model");
    }

    #[test]
    fn ids_and_projects_are_encoded() {
        assert_eq!(place("a/b c", &InProject::default()), "/api/profiles/a%2Fb%20c");
        let of = InProject { project: Some("p&q".to_owned()) };
        assert_eq!(place("x", &of), "/api/profiles/x?projectId=p%26q");
    }

    #[test]
    fn variables_have_a_name_and_files_are_objects() {
        let all = variables(&["A=1".to_owned(), "B=x=y".to_owned(), "C=".to_owned()]).expect("variables");
        assert_eq!(serde_json::Value::Object(all), json!({"A": "1", "B": "x=y", "C": ""}));
        assert!(variables(&["A".to_owned()]).is_err() && variables(&["=1".to_owned()]).is_err());
        assert!(object("[]").is_err() && object("{").is_err() && object("{}").is_ok());
    }
}
