//! `warren __codegen`: documents that are made from code, for `cargo xtask codegen`.

use anyhow::Result;

use crate::{
    cli::{Codegen, Document},
    report::Outcome,
    terminal::Terminal,
};

/// Runs the verb.
pub(crate) fn run(args: &Codegen, terminal: &mut Terminal) -> Result<Outcome> {
    match args.document {
        Document::Openapi => {
            terminal.line(&serde_json::to_string_pretty(&warren_wire::openapi(env!("CARGO_PKG_VERSION")))?)?
        }
        Document::Config => terminal.write(&warren_config::docs())?,
    }
    Ok(Outcome::Done)
}
