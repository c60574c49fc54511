//! Profiles: what agents are given, kept per partition.

mod secrets;

use std::path::{Component, Path};

use warren_domain::{AgentProfile, ProfileId, WorkspaceTemplateFile};

pub use secrets::KEPT;

use crate::{Gateway, Identity, RequestError};

impl Gateway {
    /// All profiles the identity may use, by id, with [`KEPT`] for what is secret in them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn profile_list(&self, identity: &Identity) -> Result<Vec<AgentProfile>, RequestError> {
        let profiles = self.records.profiles.profiles(&identity.partition).await;
        Ok(profiles.map_err(RequestError::Backend)?.into_iter().map(secrets::hidden).collect())
    }

    /// One profile, with [`KEPT`] for what is secret in it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn profile_get(
        &self,
        identity: &Identity,
        id: &ProfileId,
    ) -> Result<AgentProfile, RequestError> {
        let missing =
            || RequestError::NotFound { kind: "profile", id: id.as_str().escape_debug().to_string() };
        // No profile has such a name, and not every database can be asked for it.
        if id.as_str().contains('\0') {
            return Err(missing());
        }
        let found =
            self.records.profiles.profile(&identity.partition, id).await.map_err(RequestError::Backend)?;
        found.map(secrets::hidden).ok_or_else(missing)
    }

    /// Makes or replaces one; what is [`KEPT`] in it stays as it is stored. The caller has been authorised as an
    /// administrator.
    ///
    /// # Errors
    /// When its name or one of its files' paths cannot be used, or nothing is stored for what is to be kept.
    pub async fn profile_put(
        &self,
        identity: &Identity,
        profile: AgentProfile,
    ) -> Result<AgentProfile, RequestError> {
        check(&profile)?;
        let profiles = &self.records.profiles;
        let stored =
            profiles.profile(&identity.partition, &profile.id).await.map_err(RequestError::Backend)?;
        let profile = secrets::restored(profile, stored.as_ref())?;
        profiles.put_profile(&identity.partition, &profile).await.map_err(RequestError::Backend)?;
        Ok(secrets::hidden(profile))
    }

    /// Removes one. Sessions that were made with it keep what they have.
    ///
    /// # Errors
    /// When there is none of that name, or it is the default one.
    pub async fn profile_delete(&self, identity: &Identity, id: &ProfileId) -> Result<(), RequestError> {
        if id.as_str() == "default" {
            return Err(RequestError::Invalid {
                message: "the profile `default` cannot be removed".to_owned(),
                hint: "replace it instead",
            });
        }
        let removed = self
            .records
            .profiles
            .remove_profile(&identity.partition, id)
            .await
            .map_err(RequestError::Backend)?;
        removed.then_some(()).ok_or_else(|| RequestError::NotFound { kind: "profile", id: id.to_string() })
    }
}

fn check(profile: &AgentProfile) -> Result<(), RequestError> {
    let id = profile.id.as_str();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if id.is_empty() || id.len() > 64 || !id.bytes().all(is_word) || id.starts_with('.') {
        return Err(RequestError::Invalid {
            message: format!("`{id}` cannot be the id of a profile"),
            hint: "use 1 to 64 letters, digits, `.`, `_` and `-`, not beginning with `.`",
        });
    }
    let mut files = profile
        .default_workspace_files
        .iter()
        .chain(profile.skills.iter().flat_map(|skill| &skill.supporting_files));
    files.try_for_each(check_path)
}

/// Such paths are joined to a directory later; whoever does it checks again, but here someone can still be told.
fn check_path(file: &WorkspaceTemplateFile) -> Result<(), RequestError> {
    let path = Path::new(&file.path);
    let stays_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if file.path.is_empty() || file.path.contains('\0') || !stays_inside {
        return Err(RequestError::Invalid {
            message: format!("`{}` is not a path inside the workspace", file.path.escape_debug()),
            hint: "use a relative path without `.` and `..`",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use warren_domain::{AgentProfile, ProfileId, WorkspaceTemplateFile};
    use warren_env::Env;

    use crate::{Gateway, Identity, RequestError, memory::memory};

    async fn started() -> (Gateway, Identity) {
        let gateway = Gateway::new(memory(), Env::system());
        let owner = gateway.bootstrap(None, None).await.expect("bootstrap").secret;
        let identity = gateway.authenticate(owner.expose()).await.expect("the owner");
        (gateway, identity)
    }

    #[tokio::test]
    async fn a_profile_is_kept_replaced_and_removed_within_its_partition() {
        let (gateway, here) = started().await;
        let there = Identity { partition: "there".into(), ..here.clone() };
        let id = ProfileId::from("writer");
        let one = AgentProfile::empty(id.clone());
        let two = AgentProfile { model: Some("m".to_owned()), ..one.clone() };
        gateway.profile_put(&here, one).await.expect("made");
        gateway.profile_put(&here, two.clone()).await.expect("replaced");
        assert_eq!(gateway.profile_get(&here, &id).await.expect("there"), two);
        assert!(matches!(gateway.profile_get(&there, &id).await, Err(RequestError::NotFound { .. })));
        assert!(matches!(gateway.profile_delete(&there, &id).await, Err(RequestError::NotFound { .. })));
        gateway.profile_delete(&here, &id).await.expect("removed");
        assert!(matches!(gateway.profile_delete(&here, &id).await, Err(RequestError::NotFound { .. })));
    }

    #[tokio::test]
    async fn names_and_paths_that_lead_elsewhere_are_refused() {
        let (gateway, here) = started().await;
        for id in ["", "..", "a/b", ".hidden", "naïve", &"x".repeat(65)] {
            let refused = gateway.profile_put(&here, AgentProfile::empty(ProfileId::from(id))).await;
            assert!(matches!(refused, Err(RequestError::Invalid { .. })), "{id}");
        }
        for path in ["", "/etc/passwd", "../x", "a/../../x", "./a", "a\0b"] {
            let file = WorkspaceTemplateFile { path: path.to_owned(), content: String::new() };
            let profile = AgentProfile {
                default_workspace_files: vec![file],
                ..AgentProfile::empty(ProfileId::from("p"))
            };
            let refused = gateway.profile_put(&here, profile).await;
            assert!(matches!(refused, Err(RequestError::Invalid { .. })), "{path}");
        }
    }

    #[tokio::test]
    async fn the_default_profile_is_there_and_stays() {
        let (gateway, here) = started().await;
        let ids: Vec<_> =
            gateway.profile_list(&here).await.expect("profiles").into_iter().map(|p| p.id).collect();
        assert_eq!(ids, [ProfileId::from("default")]);
        assert!(gateway.profile_delete(&here, &ids[0]).await.is_err());
    }
}
