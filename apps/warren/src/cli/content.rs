//! Commands about files, knowledge and artifacts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SESSION;

/// `warren files …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Files {
    /// List a directory
    #[command(alias = "ls")]
    List {
        #[arg(help = SESSION)]
        session: String,
        /// Path in the workspace, or below /user-input, /knowledge or /instructions
        #[arg(default_value = "")]
        path: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a file
    #[command(alias = "cat")]
    Get {
        #[arg(help = SESSION)]
        session: String,
        /// Path of the file
        path: String,
    },
    /// Write standard input to a file
    Put {
        #[arg(help = SESSION)]
        session: String,
        /// Path of the file
        path: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Convert a document to PDF, by LibreOffice on the server
    Convert {
        #[arg(help = SESSION)]
        session: String,
        /// Path of the document
        path: String,
        /// Format to convert to
        #[arg(long, value_parser = ["pdf"], default_value = "pdf")]
        to: String,
        /// Version to read the document from. Default: the current file
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        /// Local file to write, `-` for standard output. Default: the document's name with `.pdf`, if no such file exists
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Delete a file, or a directory with its content
    #[command(visible_alias = "delete")]
    Rm {
        #[arg(help = SESSION)]
        session: String,
        /// Path of the file or directory
        path: String,
    },
    /// Move or rename a file, or a directory with its content. Nothing is replaced
    #[command(visible_alias = "move")]
    Mv {
        #[arg(help = SESSION)]
        session: String,
        /// Path of the file or directory
        from: String,
        /// New path, with the name
        to: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a directory and the missing ones above it
    Mkdir {
        #[arg(help = SESSION)]
        session: String,
        /// Path of the directory
        path: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
}

/// `warren knowledge …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Knowledge {
    /// List the files
    #[command(alias = "ls")]
    List {
        #[command(flatten)]
        of: OfProject,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add files, all or none. Files with the same name are replaced
    Add {
        #[command(flatten)]
        of: OfProject,
        /// Local files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Target directory in /knowledge
        #[arg(long, value_name = "DIRECTORY", default_value = "")]
        to: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a file, or a directory with its content
    #[command(visible_alias = "delete")]
    Rm {
        #[command(flatten)]
        of: OfProject,
        /// Path below /knowledge
        path: String,
    },
}

/// Project of the knowledge.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct OfProject {
    /// ID of the project. `default` is the project of the token, else the default project
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) project: String,
}

/// `warren artifacts …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Artifacts {
    /// List artifacts
    #[command(alias = "ls")]
    List {
        #[arg(help = SESSION)]
        session: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the content of an artifact
    #[command(alias = "cat")]
    Get {
        #[arg(help = SESSION)]
        session: String,
        /// ID or name of the artifact
        artifact: String,
    },
    /// Print a one-time link that opens an artifact in a browser
    Open {
        #[arg(help = SESSION)]
        session: String,
        /// ID or name of the artifact
        artifact: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
}
