//! Profiles: what agents are given. Each belongs to a project or to its whole partition.
//!
//! Names are unique per owner, so that nobody can learn from a name that is taken what another project has. A name is looked
//! up among the project's profiles first, then among the partition's: [`Gateway::profile_resolve`] does it for every session
//! that is made, and the session is bound to what was found.

mod check;
mod secrets;

use warren_domain::{AgentProfile, ProfileId, ProfileOwner, ProfileRef, ProjectId};

pub use secrets::KEPT;

use crate::{Action, Denied, Gateway, Identity, RequestError, Target, authorize};

/// The profile of sessions that name none.
const DEFAULT: &str = "default";

impl Gateway {
    /// The profiles that sessions of a project can use, by id: its own, and those of the partition that it has none of the
    /// same name for. Without a project all of the partition, for administrators. [`KEPT`] stands for what is secret.
    ///
    /// # Errors
    /// When they cannot be read, or the identity may not see the project.
    pub async fn profile_list(
        &self,
        identity: &Identity,
        project: Option<ProjectId>,
    ) -> Result<Vec<AgentProfile>, RequestError> {
        let (records, partition) = (&self.records.profiles, &identity.partition);
        let profiles = match self.profile_place(identity, Action::Read, project).await? {
            None => records.profiles(partition).await.map_err(RequestError::Backend)?,
            Some(project) => {
                let all = records.profiles_in(partition, project).await.map_err(RequestError::Backend)?;
                without_shadowed(all)
            }
        };
        Ok(profiles.into_iter().map(secrets::hidden).collect())
    }

    /// One profile as sessions of a project find it, or without a project one of the partition. [`KEPT`] stands for what is
    /// secret in it.
    ///
    /// # Errors
    /// When there is none of that name for this identity.
    pub async fn profile_get(
        &self,
        identity: &Identity,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<AgentProfile, RequestError> {
        let project = self.profile_place(identity, Action::Read, project).await?;
        let (_, profile) = self.profile_find(identity, project, id).await?.ok_or_else(|| missing(id))?;
        Ok(secrets::hidden(profile))
    }

    /// The profile that a new session of `project` is bound to: the named one, else `default`. The caller has been authorised
    /// for the project.
    ///
    /// # Errors
    /// When neither the project nor the partition has one of that name.
    pub async fn profile_resolve(
        &self,
        identity: &Identity,
        project: ProjectId,
        asked: Option<ProfileId>,
    ) -> Result<ProfileRef, RequestError> {
        let id = asked.unwrap_or_else(|| ProfileId::from(DEFAULT));
        let found = self.profile_find(identity, Some(project), &id).await?;
        let (owner, _) = found.ok_or_else(|| missing(&id))?;
        Ok(ProfileRef { owner, id })
    }

    /// Makes or replaces one; what is [`KEPT`] in it stays as it is stored. Without a `projectId` it belongs to the token's
    /// project, or to the partition if an administrator writes it.
    ///
    /// # Errors
    /// When the identity may not write there, a field cannot be used, or nothing is stored for what is to be kept. A project's
    /// token may take egress rules and provider tools away and never add them: what sandboxes reach and what costs extra is
    /// for administrators to say.
    pub async fn profile_put(
        &self,
        identity: &Identity,
        profile: AgentProfile,
    ) -> Result<AgentProfile, RequestError> {
        let project_id = self.profile_place(identity, Action::Write, profile.project_id).await?;
        let profile = AgentProfile { project_id, ..profile };
        check::check(&profile)?;
        let records = &self.records.profiles;
        // Of the same owner only: what is stored for the partition must not be copied into a project.
        let stored = records.profile(&identity.partition, project_id, &profile.id).await;
        let stored = stored.map_err(RequestError::Backend)?;
        if identity.scope.project().is_some() {
            check_grants(&profile, stored.as_ref())?;
        }
        let profile = secrets::restored(profile, stored.as_ref())?;
        records.put_profile(&identity.partition, &profile).await.map_err(RequestError::Backend)?;
        Ok(secrets::hidden(profile))
    }

    /// Removes one of the project's, or without a project one of the partition's. Sessions that were made with it start
    /// without a profile from then on.
    ///
    /// # Errors
    /// When there is none of that name, or it is the partition's default one.
    pub async fn profile_delete(
        &self,
        identity: &Identity,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<(), RequestError> {
        let project = self.profile_place(identity, Action::Write, project).await?;
        if project.is_none() && id.as_str() == DEFAULT {
            return Err(RequestError::Invalid {
                message: "the profile `default` cannot be removed".to_owned(),
                hint: "replace it instead",
            });
        }
        if !is_storable(id) {
            return Err(missing(id));
        }
        let records = &self.records.profiles;
        let removed = records.remove_profile(&identity.partition, project, id).await;
        if removed.map_err(RequestError::Backend)? {
            return Ok(());
        }
        // It is seen, so it would be odd to say that it is not there.
        let is_admin = identity.scope.project().is_none();
        match self.profile_find(identity, project, id).await? {
            Some((ProfileOwner::Partition, _)) if !is_admin => Err(Denied::NotAdmin.into()),
            _ => Err(missing(id)),
        }
    }

    /// Whose profiles are meant: those of the project asked for, else of the token's own, else (`None`) the partition's.
    async fn profile_place(
        &self,
        identity: &Identity,
        action: Action,
        asked: Option<ProjectId>,
    ) -> Result<Option<ProjectId>, RequestError> {
        match asked.or(identity.scope.project()) {
            Some(_) => Ok(Some(self.project_find(identity, action, asked).await?.project_id)),
            None => {
                authorize(identity, action, Target::Visible)?;
                Ok(None)
            }
        }
    }

    /// The one lookup of names: the project's first, then the partition's.
    async fn profile_find(
        &self,
        identity: &Identity,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<Option<(ProfileOwner, AgentProfile)>, RequestError> {
        if !is_storable(id) {
            return Ok(None);
        }
        let (records, partition) = (&self.records.profiles, &identity.partition);
        if project.is_some() {
            let own = records.profile(partition, project, id).await.map_err(RequestError::Backend)?;
            if let Some(own) = own {
                return Ok(Some((ProfileOwner::Project, own)));
            }
        }
        let wide = records.profile(partition, None, id).await.map_err(RequestError::Backend)?;
        Ok(wide.map(|wide| (ProfileOwner::Partition, wide)))
    }
}

/// Refuses a profile that grants more than the stored one.
fn check_grants(profile: &AgentProfile, stored: Option<&AgentProfile>) -> Result<(), Denied> {
    let allowed = stored.map_or(&[][..], |stored| &stored.egress_allow);
    if profile.egress_allow.iter().any(|rule| !allowed.contains(rule)) {
        return Err(Denied::WiderEgress);
    }
    if profile.provider_tools && !stored.is_some_and(|stored| stored.provider_tools) {
        return Err(Denied::ProviderTools);
    }
    Ok(())
}

/// No profile has another name, and not every database can be asked for one.
fn is_storable(id: &ProfileId) -> bool {
    !id.as_str().contains('\0')
}

fn missing(id: &ProfileId) -> RequestError {
    RequestError::NotFound { kind: "profile", id: id.as_str().escape_debug().to_string() }
}

/// Of profiles with the same id, which are side by side, the project's.
fn without_shadowed(all: Vec<AgentProfile>) -> Vec<AgentProfile> {
    let mut seen: Vec<AgentProfile> = Vec::with_capacity(all.len());
    for profile in all {
        match seen.last_mut().filter(|last| last.id == profile.id) {
            Some(last) => *last = profile,
            None => seen.push(profile),
        }
    }
    seen
}

#[cfg(test)]
mod tests;
