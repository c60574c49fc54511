//! What projects know.

use std::io;

use axum::http::StatusCode;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use multer::{Field, Multipart};
use tokio_util::io::StreamReader;
use warren_domain::ErrorCode;
use warren_runtime::api::{NewFile, NewFiles, SessionError};
use warren_wire::{KnowledgeListing, Uploaded};

use super::files::{form, item};
use crate::{
    choke::Call,
    respond::{self, Answer},
};

pub(crate) async fn list(call: Call) -> Answer {
    let found = call.runtime().knowledge().knowledge_list(&call.project()?).await?;
    respond::ok(&KnowledgeListing {
        files: found.files.into_iter().map(item).collect(),
        size_bytes: found.size_bytes,
        max_bytes: found.max_bytes,
        truncated: found.is_truncated,
    })
}

pub(crate) async fn add(call: Call) -> Answer {
    let project = call.project()?;
    let directory = call.query().text("path").unwrap_or_default();
    let files = files_of(form(&call)?);
    let written = call.runtime().knowledge().knowledge_add(&project, directory, files).await?;
    respond::json(StatusCode::CREATED, &Uploaded { files: written.into_iter().map(item).collect() })
}

pub(crate) async fn remove(call: Call) -> Answer {
    let path = call.query().text("path").unwrap_or_default();
    call.runtime().knowledge().knowledge_remove(&call.project()?, path).await?;
    respond::nothing()
}

/// The files of a form, as they come.
fn files_of(parts: Multipart<'static>) -> NewFiles {
    let files = stream::try_unfold(parts, |mut parts| async move {
        let part = parts.next_field().await.map_err(|error| not_a_form(&error))?;
        match part {
            Some(part) => Ok(Some((new_file(part)?, parts))),
            None => Ok::<_, SessionError>(None),
        }
    });
    files.boxed()
}

fn new_file(part: Field<'static>) -> Result<NewFile, SessionError> {
    let name = part.file_name().map(str::to_owned);
    let name = name.ok_or_else(|| refused("a part of the form has no file name".to_owned()))?;
    let pieces = part.map_err(|error| match too_large(&error) {
        Some(what) => io::Error::new(io::ErrorKind::FileTooLarge, what),
        None => io::Error::other(format!("the form broke off: {error}")),
    });
    Ok(NewFile { name, content: Box::new(StreamReader::new(Box::pin(pieces))) })
}

fn not_a_form(error: &multer::Error) -> SessionError {
    match too_large(error) {
        Some(message) => SessionError::Invalid { code: ErrorCode::TooLarge, message, hint: None },
        None => refused(format!("the body is not a form of files: {error}")),
    }
}

/// What the body says of itself when it is cut off because of its length.
fn too_large(error: &multer::Error) -> Option<String> {
    let multer::Error::StreamReadFailed(cause) = error else { return None };
    let cause = cause.downcast_ref::<io::Error>()?;
    (cause.kind() == io::ErrorKind::FileTooLarge).then(|| cause.to_string())
}

fn refused(message: String) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::BadRequest,
        message,
        hint: Some("send each file as a part with a file name".to_owned()),
    }
}
