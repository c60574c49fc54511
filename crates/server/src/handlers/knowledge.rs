//! Knowledge of projects.

use axum::http::StatusCode;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tokio_util::io::StreamReader;
use warren_runtime::api::{NewFile, NewFiles, SessionError};
use warren_wire::{KnowledgeListing, Uploaded};

use super::files::item;
use crate::{
    choke::Call,
    form::{FilePart, Form, broken, code_of},
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
    let files = files_of(Form::of(&call)?);
    let written = call.runtime().knowledge().knowledge_add(&project, directory, files).await?;
    respond::json(StatusCode::CREATED, &Uploaded { files: written.into_iter().map(item).collect() })
}

pub(crate) async fn remove(call: Call) -> Answer {
    let path = call.query().text("path").unwrap_or_default();
    call.runtime().knowledge().knowledge_remove(&call.project()?, path).await?;
    respond::nothing()
}

/// The files of a form, as they come.
fn files_of(form: Form) -> NewFiles {
    let files = stream::try_unfold(form, |mut form| async move {
        let file = form.next_file().await.map_err(|error| not_a_form(&error))?;
        Ok::<_, SessionError>(file.map(|file| (new_file(file), form)))
    });
    files.boxed()
}

fn new_file(FilePart { name, content }: FilePart) -> NewFile {
    let pieces = content.map_err(|error| broken(&error));
    NewFile { name, content: Box::new(StreamReader::new(Box::pin(pieces))) }
}

fn not_a_form(error: &multer::Error) -> SessionError {
    let error = broken(error);
    SessionError::Invalid {
        code: code_of(&error),
        message: error.to_string(),
        hint: Some("send each file as a part with a file name".to_owned()),
    }
}
