//! Files and images that go with a message.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use warren_domain::{Content, ContentPart, SessionId};
use warren_wire::Uploaded;

use crate::{
    cli::Attachments,
    client::{Client, Form},
    report::Advised,
};

/// What goes with a message, read from this machine before a session is created for it.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    files: Vec<(String, Vec<u8>)>,
    images: Vec<ContentPart>,
}

impl Attached {
    pub(crate) fn read(named: &Attachments) -> Result<Self> {
        let files = named.files.iter().map(|path| read_named(path)).collect::<Result<Vec<_>>>()?;
        if let Some((name, _)) =
            files.iter().enumerate().find_map(|(n, file)| files[..n].iter().find(|it| it.0 == file.0))
        {
            let advice = "rename one of them: uploads are kept by their name";
            bail!(Advised::new(format!("two files are called `{name}`"), advice));
        }
        let images = named.images.iter().map(|path| image(path)).collect::<Result<Vec<_>>>()?;
        Ok(Self { files, images })
    }

    /// Uploads the files and returns the content of the message.
    pub(crate) async fn send(&self, client: &Client, session: SessionId, text: &str) -> Result<Content> {
        if self.files.is_empty() && self.images.is_empty() {
            return Ok(Content::from(text));
        }
        let mut parts = self.images.clone();
        if !self.files.is_empty() {
            let path = format!("/api/sessions/{session}/fs/upload");
            let uploaded: Uploaded = client.post_form(&path, Form::of(&self.files)).await?;
            parts.extend(uploaded.files.into_iter().map(|file| ContentPart::File { file: file.path }));
        }
        parts.push(ContentPart::Text { text: text.to_owned() });
        Ok(Content::Parts(parts))
    }
}

/// A file of this machine, with its name.
pub(crate) fn read_named(path: &Path) -> Result<(String, Vec<u8>)> {
    let shown = path.display();
    if path.is_dir() {
        bail!(Advised::new(
            format!("`{shown}` is a directory"),
            "name files; `*` names all files of a directory"
        ));
    }
    let content = fs::read(path).with_context(|| format!("failed to read `{shown}`"))?;
    // A form cannot carry other names.
    let is_legal = |name: &&str| !name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'));
    let name = path.file_name().and_then(|name| name.to_str()).filter(is_legal);
    let advice = "rename it: quotes, backslashes and control characters are not allowed";
    let name =
        name.ok_or_else(|| Advised::new(format!("the name of `{shown}` cannot be uploaded"), advice))?;
    Ok((name.to_owned(), content))
}

fn image(path: &Path) -> Result<ContentPart> {
    let shown = path.display();
    let content = fs::read(path).with_context(|| format!("failed to read `{shown}`"))?;
    let advice = "convert it, or pass it with `--file`";
    let media_type = media_type(&content)
        .ok_or_else(|| Advised::new(format!("`{shown}` is not a PNG, JPEG, GIF or WebP image"), advice))?;
    Ok(ContentPart::Image { image: BASE64_STANDARD.encode(&content), media_type: media_type.to_owned() })
}

/// The kind of an image by its first bytes: names lie.
fn media_type(content: &[u8]) -> Option<&'static str> {
    match content {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Attached, media_type};
    use crate::cli::Attachments;

    #[test]
    fn kind_of_an_image_is_told_by_its_content() {
        assert_eq!(media_type(b"\x89PNG\r\n\x1a\n..."), Some("image/png"));
        assert_eq!(media_type(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(media_type(b"GIF89a"), Some("image/gif"));
        assert_eq!(media_type(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(
            [media_type(b"RIFF\0\0\0\0WAVE"), media_type(b""), media_type(b"<svg/>")],
            [None, None, None]
        );
    }

    #[test]
    fn files_that_cannot_be_uploaded_are_refused_before_anything_is_sent() {
        let root = tempfile::tempdir().expect("a directory");
        let [one, two] = ["a", "b"].map(|name| root.path().join(name).join("data.csv"));
        for path in [&one, &two] {
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "x").expect("written");
        }
        let refused = |files: Vec<std::path::PathBuf>, images: Vec<std::path::PathBuf>| {
            Attached::read(&Attachments { files, images }).expect_err("refused").to_string()
        };
        assert!(refused(vec![one.clone(), two], vec![]).contains("two files are called `data.csv`"));
        assert!(refused(vec![root.path().to_owned()], vec![]).contains("is a directory"));
        assert!(refused(vec![], vec![one.clone()]).contains("is not a PNG"));
        assert!(refused(vec![root.path().join("none")], vec![]).contains("failed to read"));
        assert_eq!(
            Attached::read(&Attachments { files: vec![one], images: vec![] }).expect("read").files.len(),
            1
        );
    }
}
