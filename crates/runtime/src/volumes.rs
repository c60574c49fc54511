//! The trees a session has, as clients name places in them.

mod path;
mod still;

pub(crate) use path::{Volume, VolumePath};
pub(crate) use still::{Still, beneath};
