//! `warren files convert`: where the PDF goes.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::print;
use crate::report::Advised;

/// Writes the PDF of `document`: to `output`, or to a new file beside nothing else that is called so.
pub(super) fn save(document: &str, output: Option<&Path>, pdf: &[u8], converter: &str) -> Result<()> {
    let path = match output {
        Some(path) if path == Path::new("-") => return Ok(print(pdf)?),
        Some(path) => {
            fs::write(path, pdf).with_context(|| format!("failed to write `{}`", path.display()))?;
            path.to_owned()
        }
        None => {
            let path = usual(document);
            let new = fs::File::create_new(&path);
            new.and_then(|mut file| file.write_all(pdf)).map_err(|error| {
                let message = format!("failed to write `{}`: {error}", path.display());
                Advised::new(message, "name another file with `--output FILE`")
            })?;
            path
        }
    };
    eprintln!("{} (converted by {converter})", path.display());
    Ok(())
}

/// The document's own name, as a PDF in this directory.
fn usual(document: &str) -> PathBuf {
    let name = document.rsplit('/').next().unwrap_or(document);
    PathBuf::from(format!("{}.pdf", name.rsplit_once('.').map_or(name, |(stem, _)| stem)))
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn pdf_has_the_name_of_its_document_in_the_current_directory() {
        let names = ["outputs/report.docx", "/user-input/a.b.pptx", "plain", "../../x.odt"];
        let pdfs = names.map(|name| usual(name).display().to_string());
        assert_eq!(pdfs, ["report.pdf", "a.b.pdf", "plain.pdf", "x.pdf"]);
    }
}
