//! `warren agents install npm:PACKAGE`: any agent of the npm registry that speaks ACP.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use warren_programs::{Installed, NpmRecipe, NpmWanted, Programs};

use super::{bars::Bars, worse};
use crate::{
    cli,
    embed::{Trial, Trials},
    invocation::quoted,
    render::{clean, size},
    report::{Advised, Outcome},
    setting::Setting,
    terminal::Terminal,
};

/// What the name of a package begins with.
const PREFIX: &str = "npm:";

/// Whether a package is to be installed: one is named, or an option is for packages alone.
pub(super) fn is_meant(names: &[String], recipe: &cli::NpmRecipe) -> bool {
    names.iter().any(|name| name.starts_with(PREFIX)) || *recipe != cli::NpmRecipe::default()
}

/// Installs a package and asks its program whether it speaks ACP. One that does not is removed, and what had its name before
/// comes back.
pub(super) async fn install(
    setting: &Setting,
    programs: &Programs,
    names: &[String],
    recipe: cli::NpmRecipe,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    let wanted = wanted(names, recipe)?;
    if warren_agents::adapter(&wanted.id).is_some() {
        bail!(Advised::new(
            format!("`{}` is the name of another agent", wanted.id),
            "choose another name with `--id NAME`"
        ));
    }
    let before = programs.npm_find(&wanted.id).map(|(recipe, _)| recipe);
    let bars = Bars::new(&wanted.id, is_json);
    let installed = programs.npm_install(&wanted, &bars.report()).await;
    bars.finish();
    let (recipe, installed) = installed?;
    terminal.status(Some(format!("Checking that {} speaks ACP…", recipe.id)));
    let place = Trials::open()?;
    let trial = place.greet(&recipe, &installed).await;
    place.close().await;
    terminal.status(None);
    if trial.runs {
        return show(setting, &recipe, &installed, &trial, is_json, terminal);
    }
    match before {
        // What worked until now goes on.
        Some(before) => {
            drop(programs.npm_install(&before.into(), &Bars::new(&recipe.id, true).report()).await?)
        }
        None => programs.remove(&recipe.id).await?,
    }
    let said = trial.output.lines().map(|line| format!("\n  {}", clean(line))).collect::<String>();
    let message = format!(
        "`{}@{}` does not speak ACP: {}{said}",
        recipe.package,
        recipe.version,
        trial.problem.unwrap_or_default()
    );
    let name = names.first().map(String::as_str).unwrap_or_default();
    let advice = format!(
        "if it needs arguments for that, write them last: `warren agents install {} -- --acp`",
        quoted(name)
    );
    bail!(Advised::new(message, trial.hint.unwrap_or(advice)))
}

/// Shows agents of the registry that are installed, after they were tried.
pub(super) async fn try_all(programs: &Programs) -> Result<Vec<(NpmRecipe, Installed, Trial)>> {
    let all = programs.npm_list();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let place = Trials::open()?;
    let mut tried = Vec::new();
    for (recipe, installed) in all {
        let trial = place.greet(&recipe, &installed).await;
        tried.push((recipe, installed, trial));
    }
    place.close().await;
    Ok(tried)
}

/// Says what became of one.
pub(super) fn show(
    setting: &Setting,
    recipe: &NpmRecipe,
    installed: &Installed,
    trial: &Trial,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    if is_json {
        terminal.line(&as_json(recipe, installed, trial).to_string())?;
    } else {
        terminal.write(&super::as_text(installed, trial, terminal, &setting.invocation))?;
        let n = installed.packages.len();
        let of =
            if n == 1 { String::new() } else { format!(", {n} packages, {}", size(installed.size_bytes)) };
        terminal.line(&format!("  {}@{}{of}", recipe.package, recipe.version))?;
    }
    Ok(worse(Outcome::Done, if trial.runs { Outcome::Done } else { Outcome::Failed }))
}

pub(super) fn as_json(recipe: &NpmRecipe, installed: &Installed, trial: &Trial) -> Value {
    json!({
        "name": recipe.id,
        "package": recipe.package,
        "pinnedVersion": recipe.version,
        "installed": installed,
        "isCurrent": true,
        "recipe": recipe,
        "trial": trial,
    })
}

/// What the command line asks for.
fn wanted(names: &[String], recipe: cli::NpmRecipe) -> Result<NpmWanted> {
    let advice = "write `warren agents install npm:PACKAGE@VERSION --id NAME -- ARGS`";
    let [name] = names else { bail!(Advised::new("one package is installed at a time", advice)) };
    let Some(package) = name.strip_prefix(PREFIX) else {
        bail!(Advised::new(format!("`{name}` is not a package: options of packages do not fit"), advice));
    };
    // The first character may be that of a scope.
    let (package, version) = match package.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => (&package[..at], &package[at + 1..]),
        None => (package, "latest"),
    };
    if package.is_empty() || version.is_empty() {
        bail!(Advised::new(format!("`{name}` is not a package"), advice));
    }
    let id = recipe.id.unwrap_or_else(|| package.rsplit('/').next().unwrap_or_default().to_lowercase());
    let (mut env, mut needs) = (std::collections::BTreeMap::new(), Vec::new());
    for variable in recipe.env {
        match variable.split_once('=') {
            Some((name, value)) => drop(env.insert(name.to_owned(), value.to_owned())),
            None => needs.push(variable),
        }
    }
    Ok(NpmWanted {
        id,
        package: package.to_owned(),
        version: version.to_owned(),
        bin: recipe.bin,
        args: recipe.args,
        env,
        needs,
        hosts: recipe.allow,
    })
}

#[cfg(test)]
mod tests {
    use warren_programs::NpmWanted;

    use super::wanted;
    use crate::cli::NpmRecipe;

    fn parse(name: &str, recipe: NpmRecipe) -> Option<NpmWanted> {
        wanted(&[name.to_owned()], recipe).ok()
    }

    #[test]
    fn package_has_perhaps_a_scope_and_a_version() {
        for (name, id, package, version) in [
            ("npm:agent", "agent", "agent", "latest"),
            ("npm:agent@1.2.3", "agent", "agent", "1.2.3"),
            ("npm:@scope/My-Agent", "my-agent", "@scope/My-Agent", "latest"),
            ("npm:@scope/agent@^1.2", "agent", "@scope/agent", "^1.2"),
        ] {
            let found = parse(name, NpmRecipe::default()).expect(name);
            assert_eq!((&*found.id, &*found.package, &*found.version), (id, package, version));
        }
        for name in ["npm:", "npm:agent@", "agent"] {
            assert_eq!(parse(name, NpmRecipe::default()), None, "{name}");
        }
    }

    #[test]
    fn variables_with_a_value_are_set_and_others_are_needed() {
        let env = ["MODE=fast=yes", "API_TOKEN"].map(str::to_owned).to_vec();
        let found = parse("npm:agent", NpmRecipe { env, ..NpmRecipe::default() }).expect("a package");
        assert_eq!(found.env, [("MODE".to_owned(), "fast=yes".to_owned())].into());
        assert_eq!(found.needs, ["API_TOKEN"]);
    }
}
