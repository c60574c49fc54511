//! `cargo xtask test`: installs and starts what the tests need, runs everything, cleans up, sums up.
//!
//! Three processes share the work, because each must survive what ends another:
//! the [supervisor](self::supervisor) inherits every process the tests abandon, and at the end says which;
//! the [guard](self::guard) owns PostgreSQL, the S3 server and the temporary files, and removes them however we ended;
//! the one between them runs the steps, from quick to slow. A failed step stops none after it: one run shows all.

mod bucket;
mod guard;
mod leftovers;
mod postgres;
mod steps;
mod summary;
mod supervisor;

use std::path::Path;

use anyhow::{Result, bail};
use clap::builder::FalseyValueParser;

pub(crate) use self::guard::{Args as GuardArgs, run as guard};
use self::{
    guard::{Guard, Services},
    steps::Environment,
    summary::Summary,
};
use crate::{cargo, codegen, packages, tidy, web::Web, workspace, workspace::Workspace};

/// Arguments of the verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the tests whose name contains this, and none of the other checks.
    filter: Option<String>,
    /// Install and start nothing: tests that need a service skip, and say so.
    #[arg(long)]
    quick: bool,
    /// A skip is a failure.
    #[arg(long, env = "CI", hide_env_values = true, value_parser = FalseyValueParser::new())]
    ci: bool,
    /// We are the process that runs the steps.
    #[arg(long, hide = true)]
    supervised: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &Args) -> Result<()> {
    if !args.supervised {
        return supervisor::run();
    }
    supervisor::end_with_supervisor()?;
    if args.quick && args.ci {
        bail!("`--quick` skips tests, and in CI a skip is a failure");
    }
    if !args.quick {
        packages::ensure(&[
            packages::bubblewrap(),
            ("postgresql", postgres::binaries().is_some()),
            ("chromium", cargo::is_there("chromium", "--version")),
            // Shifts the clocks of servers in the test of a cluster.
            ("libfaketime", Path::new(&faketime()).exists()),
            // Converts documents in the tests of the conversion.
            packages::libreoffice("libreoffice-writer-nogui", "libswlo.so"),
            packages::libreoffice("libreoffice-calc-nogui", "libsclo.so"),
            packages::libreoffice("libreoffice-impress-nogui", "libsdlo.so"),
        ])?;
    }
    let root = workspace::root()?;
    let mut summary = Summary::default();
    if let Some(guard) = summary.attempt("services", || Guard::start(&services(&root, args)?)) {
        checks(&root, args, &guard, &mut summary)?;
        summary.step("clean-up", || guard.finish());
    }
    summary.print()
}

/// A quick run does without.
fn services(root: &Path, args: &Args) -> Result<Services> {
    if args.quick {
        return Ok(Services::default());
    }
    let target = Workspace::load_members(root)?.target_directory;
    Ok(Services { postgres: true, s3: Some(bucket::install(root, &target)?) })
}

fn faketime() -> String {
    format!("/usr/lib/{}-linux-gnu/faketime/libfaketime.so.1", std::env::consts::ARCH)
}

/// Checks and builds the page.
fn page(environment: &Environment, summary: &mut Summary) -> Option<Web> {
    let web = summary.attempt("page: packages", || {
        let web = Web::prepare(&environment.root, &environment.target)?;
        web.as_ref().map_or(Ok(()), Web::install)?;
        Ok(web)
    })??;
    summary.step("page: generated types", || web.script("codegen:check", &[]));
    summary.step("page: types", || web.script("check", &[]));
    summary.step("page: tests", || web.script("test", &[]));
    summary.step("page: build", || web.build());
    Some(web)
}

fn checks(root: &Path, args: &Args, guard: &Guard, summary: &mut Summary) -> Result<()> {
    let environment = Environment {
        root: root.to_path_buf(),
        target: Workspace::load_members(root)?.target_directory,
        temporary: guard.temporary(),
        postgres_url: guard.postgres_url().map(str::to_owned),
        s3_url: guard.s3_url().map(str::to_owned),
        ci: args.ci,
    };
    if let Some(filter) = &args.filter {
        summary.step("tests", || environment.tests(Some(filter)));
        return Ok(());
    }
    summary.step("tidy", tidy::run);
    summary.step("generated files", || codegen::check(root));
    summary.step("format", || environment.format());
    // The page is a part of the program, so it is built first. A quick run fetches nothing and does without.
    let web = if args.quick { None } else { page(&environment, summary) };
    summary.step("lints", || environment.lints());
    summary.step("tests", || environment.tests(None));
    if let Some(web) = web.filter(Web::has_stories) {
        summary.step("page: stories", || environment.stories(&web));
    }
    summary.step("documentation tests", || environment.documentation_tests());
    for example in tidy::examples(root)? {
        let name = example.file_name().unwrap_or_default().to_string_lossy();
        summary.step(&format!("example {name}"), || environment.example(&example));
    }
    Ok(())
}
