//! The formats that can be converted, and what a file of each begins with.

use warren_domain::ErrorCode;

use super::ConvertError;

/// A format that LibreOffice reads, and how it is told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The file name's ending.
    pub(super) extension: &'static str,
    /// LibreOffice's name of the filter that reads it. Named, so that LibreOffice does not guess: a text or a web page that
    /// is called `.docx` would otherwise be read as what it is.
    pub(super) read_by: &'static str,
    /// The filter that writes the PDF.
    pub(super) written_by: &'static str,
    container: Container,
}

/// What a format is wrapped in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Zip,
    Ole,
    Rtf,
}

/// What files of each begin with.
const MAGIC: [(&[u8], Container); 3] = [
    (b"PK\x03\x04", Container::Zip),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Container::Ole),
    (b"{\\rtf", Container::Rtf),
];

const WRITER: &str = "writer_pdf_Export";
const CALC: &str = "calc_pdf_Export";
const IMPRESS: &str = "impress_pdf_Export";

const fn kind(
    extension: &'static str,
    read_by: &'static str,
    written_by: &'static str,
    container: Container,
) -> Kind {
    Kind { extension, read_by, written_by, container }
}

const RTF: Kind = kind("rtf", "Rich Text Format", WRITER, Container::Rtf);

/// Every format that can be converted.
const KINDS: [Kind; 13] = [
    kind("docx", "MS Word 2007 XML", WRITER, Container::Zip),
    kind("docm", "MS Word 2007 XML VBA", WRITER, Container::Zip),
    kind("pptx", "Impress MS PowerPoint 2007 XML", IMPRESS, Container::Zip),
    kind("pptm", "Impress MS PowerPoint 2007 XML VBA", IMPRESS, Container::Zip),
    kind("xlsx", "Calc MS Excel 2007 XML", CALC, Container::Zip),
    kind("xlsm", "Calc MS Excel 2007 VBA XML", CALC, Container::Zip),
    kind("odt", "writer8", WRITER, Container::Zip),
    kind("odp", "impress8", IMPRESS, Container::Zip),
    kind("ods", "calc8", CALC, Container::Zip),
    RTF,
    kind("doc", "MS Word 97", WRITER, Container::Ole),
    kind("xls", "MS Excel 97", CALC, Container::Ole),
    kind("ppt", "MS PowerPoint 97", IMPRESS, Container::Ole),
];

impl Kind {
    /// The format that a file's name says.
    pub(crate) fn of(path: &str) -> Result<Self, ConvertError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        KINDS.into_iter().find(|kind| kind.extension == extension).ok_or_else(|| {
            let known: Vec<_> = KINDS.iter().map(|kind| format!("`.{}`", kind.extension)).collect();
            ConvertError {
                code: ErrorCode::BadRequest,
                message: format!("`{}` is no document that can be converted", name.escape_debug()),
                hint: Some(format!("files that end in {} can be", known.join(", "))),
            }
        })
    }

    /// The format by the file's first bytes as well. A file that is not what its name says is not given to LibreOffice.
    pub(crate) fn checked(self, name: &str, first: &[u8]) -> Result<Self, ConvertError> {
        let found = Container::of(first);
        match (self.container, found) {
            (expected, Some(found)) if expected == found => Ok(self),
            // Word itself saves rich text under this name.
            (Container::Ole, Some(Container::Rtf)) if self.extension == "doc" => Ok(RTF),
            (Container::Zip, Some(Container::Ole)) => Err(unreadable(
                format!(
                    "`{}` is protected by a password, or of an older format than its name says",
                    name.escape_debug()
                ),
                "save it without a password, or with the right ending",
            )),
            _ => Err(unreadable(
                format!(
                    "`{}` is not what its name says: it does not begin like a `.{}` file",
                    name.escape_debug(),
                    self.extension
                ),
                "read the file as it is instead, or make it again",
            )),
        }
    }
}

fn unreadable(message: String, hint: &str) -> ConvertError {
    ConvertError { code: ErrorCode::ConversionFailed, message, hint: Some(hint.to_owned()) }
}

impl Container {
    fn of(first: &[u8]) -> Option<Self> {
        MAGIC.into_iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, container)| container)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    const ZIP: &[u8] = b"PK\x03\x04....";
    const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....";
    const RTF: &[u8] = b"{\\rtf1 x}";

    #[test]
    fn format_is_known_by_name_and_first_bytes_together() {
        let read_by = |path: &str, first: &[u8]| {
            Kind::of(path).and_then(|kind| kind.checked(path, first)).map(|kind| kind.read_by)
        };
        assert_eq!(read_by("a/Report.DOCX", ZIP), Ok("MS Word 2007 XML"));
        assert_eq!(read_by("old.doc", OLE), Ok("MS Word 97"));
        assert_eq!(read_by("rich.doc", RTF), Ok("Rich Text Format"));
        assert_eq!(read_by("x.rtf", RTF), Ok("Rich Text Format"));
        let message = |path, first| read_by(path, first).map_err(|error| error.message);
        assert_eq!(
            message("locked.xlsx", OLE),
            Err("`locked.xlsx` is protected by a password, or of an older format than its name says"
                .to_owned())
        );
        let wrong = |name: &str, kind: &str| {
            Err(format!("`{name}` is not what its name says: it does not begin like a `.{kind}` file"))
        };
        assert_eq!(message("page.docx", b"<html>"), wrong("page.docx", "docx"));
        assert_eq!(message("empty.odt", b""), wrong("empty.odt", "odt"));
        assert_eq!(message("x.xls", RTF), wrong("x.xls", "xls"));
        assert_eq!(message("run.sh", ZIP), Err("`run.sh` is no document that can be converted".to_owned()));
    }
}
