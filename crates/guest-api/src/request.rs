//! The header of every stream.

use serde::{Deserialize, Serialize};

use crate::{
    ExecRequest, FileLook, FilePath, ListRequest, MoveRequest, ReadRequest, WatchRequest, WriteRequest,
};

/// What the host wants of the guest: the header of a stream the host opens.
///
/// The guest answers each with a [`crate::Frame::Reply`] (its type is said at each variant) or a
/// [`crate::Frame::Error`]; unless said otherwise both sides then end the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Who are you? Replied with [`crate::Hello`]. The first request of a link.
    Hello,
    /// Are you alive? Replied with `null`, by the same thread that does everything else.
    Ping,
    /// Runs a program. Replied with [`crate::Started`]; then, until [`crate::Frame::Exit`],
    /// up: `Stdin`, `StdinEnd`, `Signal`, `Credit`; down: `Output`, `OutputEnd`, `StdinCredit`.
    /// If the host drops the stream, the process group is killed.
    Exec(ExecRequest),
    /// Reads a file or a part of it. Replied with its [`crate::FileStat`]; then `Data` frames and one `End`.
    Read(ReadRequest),
    /// Writes a file. The host sends `Data` frames and one `End`; the reply is the written file's [`crate::FileStat`].
    Write(WriteRequest),
    /// Lists a directory. Replies of `Vec<`[`crate::DirEntry`]`>`, many, then one of [`crate::ListEnd`] in an `End` frame.
    List(ListRequest),
    /// What is there? Replied with [`crate::FileStat`]. Symbolic links are not followed.
    Stat {
        /// Of what.
        path: FilePath,
    },
    /// Removes a file, a symbolic link, or a directory. Replied with `null`.
    Remove {
        /// What to remove; never the root itself.
        path: FilePath,
        /// Also what is in the directory.
        recursive: bool,
        /// Fails unless what is there looks so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected: Option<FileLook>,
    },
    /// Moves a file, a symbolic link, or a directory with all that is in it. Replied with its [`crate::FileStat`].
    Move(MoveRequest),
    /// Makes a directory and the missing ones above it; one that is there is fine. Replied with `null`.
    Mkdir {
        /// Which.
        path: FilePath,
    },
    /// Watches trees. Replied with `null`; then one reply of [`crate::WatchEvent`] after the other, until the host ends the stream.
    Watch(WatchRequest),
    /// Listens on a loopback port inside. Replied with [`Listening`]; each connection then comes as a stream of its own
    /// with [`Announcement::Accepted`]. Lasts until the host ends the stream.
    Listen {
        /// What the announcements will say.
        name: String,
        /// Zero takes a free one.
        port: u16,
    },
    /// Connects to a loopback port inside. Replied with `null`; then the stream is the connection, without frames.
    Connect {
        /// Where.
        port: u16,
    },
    /// Reads all roots as a tree. Replied with `null`; then the stream carries `warren_tree::wire`, without frames.
    ScanTree,
    /// Writes a tree into the roots. Replied with `null`; then the stream carries `warren_tree::wire`, without frames.
    WriteTree,
    /// Watches which loopback ports programs inside listen on. Replied with `null`; then one reply of
    /// `Vec<`[`crate::OpenPort`]`>`, all of them, at once and whenever they change, until the host ends the stream.
    Ports {
        /// Ports that are not told of: the host's own.
        ignore: Vec<u16>,
    },
    /// Ends the guest and with it everything in the sandbox. Replied with `null` just before.
    Shutdown,
}

/// Why the guest opened a stream: the header of a stream the guest opens. No reply: the stream is the connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "announcement", rename_all = "snake_case", deny_unknown_fields)]
pub enum Announcement {
    /// A program inside connected to a port the host had asked to listen on.
    Accepted {
        /// The name of [`Request::Listen`].
        name: String,
    },
}

/// Reply to [`Request::Listen`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listening {
    /// The port, chosen by the kernel if the request said zero.
    pub port: u16,
}

#[cfg(test)]
mod tests;
