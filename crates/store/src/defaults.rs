//! What is there from the first start.

use serde_json::Value;
use uuid::Uuid;
use warren_domain::{Partition, ProjectId, WorkspaceId};
use warren_env::Env;

use crate::{ProjectRecord, ReadError, Store, WorkspaceRecord};

/// The space that the ids of defaults are made in. Never changed: it would make them strangers to what is kept.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f2b_5b0c_9a53_4e0e_8c1d_57a7_7e4e_0001);

/// Makes the `default` project and its workspace, or returns them as they are. Their ids are the same on every server.
///
/// # Errors
/// When the store fails.
pub async fn ensure_defaults(
    store: &Store,
    env: &Env,
    first_uid: u32,
) -> Result<(ProjectRecord, WorkspaceRecord), ReadError> {
    let wanted = ProjectRecord {
        project_id: ProjectId(Uuid::new_v5(&NAMESPACE, b"project")),
        partition: Partition::default_partition(),
        name: "default".to_owned(),
        options: Value::Object(serde_json::Map::default()),
        created_at: env.now(),
    };
    let project = store.projects.put_project(&wanted).await?;
    let wanted = WorkspaceRecord {
        workspace_id: WorkspaceId(Uuid::new_v5(&NAMESPACE, b"workspace")),
        partition: project.partition.clone(),
        project_id: project.project_id,
        uid: first_uid,
        created_at: env.now(),
    };
    let workspace = store.projects.make_workspace(&wanted, first_uid).await?;
    Ok((project, workspace))
}
