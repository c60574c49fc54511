//! The decision: may this identity do that? One pure function, and nothing else decides.

use warren_domain::{ErrorCode, Partition, ProjectId, Timestamp, TokenId};

use crate::{
    plans::Plan,
    scope::{Rights, Scope},
};

/// Who is asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The token that was shown.
    pub token_id: TokenId,
    /// Its name for people; what it did is recorded under it.
    pub name: String,
    /// Nothing outside of it exists for this identity.
    pub partition: Partition,
    /// What it may do in there.
    pub scope: Scope,
    /// Whose the token is: what is sent with any of its tokens is counted together.
    pub owner: String,
    /// How much the owner may send, if that was said.
    pub plan: Option<Plan>,
    /// When the token stops working. What is made from it ends then too, if not before.
    pub expires_at: Option<Timestamp>,
}

impl Identity {
    /// The user it stands for. A token that nobody said the owner of is a service's, and stands for itself.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        (self.owner != self.token_id.to_string()).then_some(self.owner.as_str())
    }
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Look at something.
    Read,
    /// Change something.
    Write,
    /// Look at what only administrators see.
    AdminRead,
    /// Change what only administrators may.
    AdminWrite,
    /// Change what all partitions share, as the programs of agents. Only operators may: administrators of the default
    /// partition, which is where the server's owner is.
    Operate,
}

/// What it is to be done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// The server.
    Server,
    /// Whatever the identity may see; whoever answers narrows the answer to that.
    Visible,
    /// A project, or a session or a workspace of it.
    Project {
        /// Where the project is.
        partition: &'a Partition,
        /// Which one.
        project: ProjectId,
    },
}

/// Why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// For this identity there is no such thing; whether there is one for others is not said.
    #[error("there is no such thing")]
    NotFound,
    /// It may look but not touch.
    #[error("the token is read-only")]
    ReadOnly,
    /// Only administrators may.
    #[error("only an administrator's token may do this")]
    NotAdmin,
    /// A project's token cannot let sandboxes reach more.
    #[error("only an administrator's token may add to `egressAllow`")]
    WiderEgress,
    /// A project's token cannot grant what costs extra.
    #[error("only an administrator's token may set `providerTools`")]
    ProviderTools,
    /// Only operators may.
    #[error("only an operator's token may change what all partitions share")]
    NotOperator,
}

impl Denied {
    /// The code a client sees.
    #[must_use]
    pub fn code(self) -> ErrorCode {
        match self {
            Denied::NotFound => ErrorCode::NotFound,
            Denied::ReadOnly
            | Denied::NotAdmin
            | Denied::WiderEgress
            | Denied::ProviderTools
            | Denied::NotOperator => ErrorCode::Forbidden,
        }
    }

    /// What the client can do about it.
    #[must_use]
    pub fn hint(self) -> Option<&'static str> {
        match self {
            Denied::NotOperator => Some(
                "use the token that the server printed at its first start, or another administrator's of its partition",
            ),
            Denied::WiderEgress => {
                Some("leave the new rules out, or ask an administrator to save the profile with them")
            }
            Denied::ProviderTools => {
                Some("leave `providerTools` out, or ask an administrator to save the profile with it")
            }
            Denied::NotFound | Denied::ReadOnly | Denied::NotAdmin => None,
        }
    }
}

/// Decides.
///
/// What the identity cannot see is asked first, so that the answer never tells whether it exists.
///
/// # Errors
/// When the identity may not.
pub fn authorize(identity: &Identity, action: Action, target: Target<'_>) -> Result<(), Denied> {
    sees(identity, target)?;
    let needs_admin = matches!(action, Action::AdminRead | Action::AdminWrite | Action::Operate);
    if needs_admin && identity.scope.project().is_some() {
        return Err(Denied::NotAdmin);
    }
    if action == Action::Operate && identity.partition != Partition::default_partition() {
        return Err(Denied::NotOperator);
    }
    match (action, identity.scope.rights()) {
        (Action::Read | Action::AdminRead, _) | (_, Rights::ReadWrite) => Ok(()),
        (Action::Write | Action::AdminWrite | Action::Operate, Rights::ReadOnly) => Err(Denied::ReadOnly),
    }
}

fn sees(identity: &Identity, target: Target<'_>) -> Result<(), Denied> {
    match (target, identity.scope) {
        (Target::Visible, _) | (Target::Server, Scope::Admin(_)) => Ok(()),
        (Target::Server, Scope::Project(..)) => Err(Denied::NotAdmin),
        (Target::Project { partition, .. }, _) if *partition != identity.partition => Err(Denied::NotFound),
        (Target::Project { .. }, Scope::Admin(_)) => Ok(()),
        (Target::Project { project, .. }, Scope::Project(own, _)) if project == own => Ok(()),
        (Target::Project { .. }, Scope::Project(..)) => Err(Denied::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Action::{self, AdminRead, AdminWrite, Operate, Read, Write},
        Denied::{self, NotAdmin, NotFound, NotOperator, ReadOnly},
        Identity, Target, authorize,
    };
    use warren_domain::{Partition, ProjectId, TokenId};

    const OWN: ProjectId = ProjectId(uuid::Uuid::from_u128(1));
    const OTHER: ProjectId = ProjectId(uuid::Uuid::from_u128(2));

    fn identity(partition: &str, scope: &str) -> Identity {
        Identity {
            token_id: TokenId(uuid::Uuid::nil()),
            name: scope.to_owned(),
            partition: Partition::from(partition),
            scope: scope.replace("OWN", &OWN.to_string()).parse().expect(scope),
            owner: "test".to_owned(),
            plan: None,
            expires_at: None,
        }
    }

    /// Every scope, every target, every action: there is no case that is not in this table.
    #[test]
    fn the_whole_table_of_decisions() {
        let actions = [Read, Write, AdminRead, AdminWrite, Operate];
        type Row = [Result<(), Denied>; 5];
        const YES: Row = [Ok(()); 5];
        const LOOK: Row = [Ok(()), Err(ReadOnly), Ok(()), Err(ReadOnly), Err(ReadOnly)];
        const NOTHING: Row = [Err(NotFound); 5];
        const NOT_ADMIN: Row = [Err(NotAdmin); 5];
        const WORK: Row = [Ok(()), Ok(()), Err(NotAdmin), Err(NotAdmin), Err(NotAdmin)];
        const WATCH: Row = [Ok(()), Err(ReadOnly), Err(NotAdmin), Err(NotAdmin), Err(NotAdmin)];
        // An administrator, but not of the partition that the server's owner is in.
        const TENANT: Row = [Ok(()), Ok(()), Ok(()), Ok(()), Err(NotOperator)];
        const TENANT_LOOK: Row = [Ok(()), Err(ReadOnly), Ok(()), Err(ReadOnly), Err(NotOperator)];
        let table = [
            ("default", "admin", [YES, YES, YES, YES, NOTHING]),
            ("default", "admin:ro", [LOOK, LOOK, LOOK, LOOK, NOTHING]),
            ("default", "project:OWN", [NOT_ADMIN, WORK, WORK, NOTHING, NOTHING]),
            ("default", "project:OWN:ro", [NOT_ADMIN, WATCH, WATCH, NOTHING, NOTHING]),
            ("here", "admin", [TENANT, TENANT, TENANT, TENANT, NOTHING]),
            ("here", "admin:ro", [TENANT_LOOK, TENANT_LOOK, TENANT_LOOK, TENANT_LOOK, NOTHING]),
            ("here", "project:OWN", [NOT_ADMIN, WORK, WORK, NOTHING, NOTHING]),
            ("here", "project:OWN:ro", [NOT_ADMIN, WATCH, WATCH, NOTHING, NOTHING]),
        ];
        for (partition, scope, rows) in table {
            let (here, there) = (Partition::from(partition), Partition::from("there"));
            let targets = [
                Target::Server,
                Target::Visible,
                Target::Project { partition: &here, project: OWN },
                Target::Project { partition: &here, project: OTHER },
                Target::Project { partition: &there, project: OWN },
            ];
            let identity = identity(partition, scope);
            let found =
                targets.map(|target| actions.map(|action: Action| authorize(&identity, action, target)));
            assert_eq!(found, rows, "{scope} of {partition}");
        }
    }
}
