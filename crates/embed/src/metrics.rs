//! The figures of `/metrics`.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use metrics_exporter_prometheus::PrometheusBuilder;
use warren_env::{TaskKind, Tasks};
use warren_server::RenderMetrics;

/// How often what was measured is folded into what is shown; between two times it takes memory.
const UPKEEP: Duration = Duration::from_secs(5);

/// Takes up all figures of this process from now on.
pub(crate) fn record(tasks: &Tasks) -> Result<RenderMetrics> {
    let figures =
        PrometheusBuilder::new().install_recorder().context("failed to install the metrics recorder")?;
    let kept = figures.clone();
    tasks.spawn(TaskKind::Housekeeping, async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            kept.run_upkeep();
        }
    });
    Ok(Arc::new(move || figures.render()))
}
