//! Sandboxes.

use warren_wire::{Forced, SandboxList};

use super::sessions::force;
use crate::{
    choke::Call,
    convert,
    respond::{self, Answer},
};

pub(crate) async fn get(call: Call) -> Answer {
    let report = call.runtime().sandboxes().sandbox_get(call.session()?).await?;
    respond::ok(&convert::sandbox(report))
}

pub(crate) async fn start(call: Call) -> Answer {
    let report = call.runtime().sandboxes().sandbox_start(call.session()?).await?;
    respond::ok(&convert::sandbox(report))
}

pub(crate) async fn stop(call: Call) -> Answer {
    let forced: Forced = call.json_or_default()?;
    call.runtime().sandboxes().sandbox_stop(call.session()?, force(forced)).await?;
    respond::nothing()
}

/// Those of the caller's partition: the node may serve others too.
pub(crate) async fn list(call: Call) -> Answer {
    let partition = &call.identity()?.partition;
    let mut sandboxes = Vec::new();
    for report in call.runtime().sandboxes().sandbox_list().await {
        // A session that is gone by now has no sandbox to show either.
        let Ok(summary) = call.runtime().sessions().session_get(report.session_id).await else { continue };
        if summary.record.partition == *partition {
            sandboxes.push(convert::sandbox(report));
        }
    }
    respond::ok(&SandboxList { sandboxes })
}
