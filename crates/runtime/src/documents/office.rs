//! LibreOffice on this machine: where it is, which version, and what a sandbox needs to see of it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Directories in which distributions and LibreOffice's own packages install it.
const USUAL: [&str; 4] =
    ["/usr/lib/libreoffice", "/usr/lib64/libreoffice", "/opt/libreoffice", "/usr/local/lib/libreoffice"];
/// Where an installation that is not beneath `/usr` appears in a sandbox.
const INSIDE: &str = "/opt/libreoffice";
/// What an installation beneath `/usr` has elsewhere: its settings, and which fonts there are.
const SHARED: [&str; 2] = ["/etc/libreoffice", "/etc/fonts"];

/// Which LibreOffice converts documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OfficeChoice {
    /// The one that is installed, if one is.
    #[default]
    Auto,
    /// None.
    Off,
    /// The one at this path: its `soffice`, or the directory that holds `program/soffice`.
    At(PathBuf),
}

/// An installed LibreOffice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibreOffice {
    /// Its directory, which holds `program/soffice`.
    pub root: PathBuf,
    /// Its version, as `7.4.7.2`; empty if it does not say.
    pub version: String,
}

impl OfficeChoice {
    /// The LibreOffice that was chosen, if it is there. Looks again each time: it may be installed while the server runs.
    #[must_use]
    pub fn find(&self) -> Option<LibreOffice> {
        match self {
            OfficeChoice::Off => None,
            OfficeChoice::At(path) => LibreOffice::at(path),
            OfficeChoice::Auto => {
                let usual = USUAL.iter().find_map(|root| LibreOffice::at(Path::new(root)));
                usual.or_else(|| LibreOffice::at(Path::new("/usr/bin/soffice"))).or_else(newest_in_opt)
            }
        }
    }

    /// What to do where [`OfficeChoice::find`] finds none.
    #[must_use]
    pub fn hint(&self) -> String {
        const INSTALL: &str = "install it (`apt install --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui \
                               libreoffice-impress-nogui`)";
        match self {
            OfficeChoice::Auto => format!("{INSTALL}, or name it in `documents.libreoffice`"),
            OfficeChoice::Off => "set `documents.libreoffice` to `auto`".to_owned(),
            OfficeChoice::At(path) => {
                format!(
                    "there is no `program/soffice` at `{}`: correct `documents.libreoffice`, or {INSTALL}",
                    path.display()
                )
            }
        }
    }
}

impl LibreOffice {
    fn at(path: &Path) -> Option<Self> {
        let real = path.canonicalize().ok()?;
        let root = if real.is_file() { real.parent()?.parent()?.to_owned() } else { real };
        root.join("program/soffice").is_file().then(|| Self { version: version(&root), root })
    }

    /// How people call it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("LibreOffice {}", self.version).trim_end().to_owned()
    }

    /// Its program, as a sandbox sees it.
    pub(super) fn program(&self) -> String {
        let root = if self.is_in_base() { self.root.as_path() } else { Path::new(INSIDE) };
        root.join("program/soffice").display().to_string()
    }

    /// What a sandbox needs besides `/usr`, which every sandbox has.
    pub(super) fn mounts(&self) -> BTreeMap<String, PathBuf> {
        let shared = SHARED.iter().filter(|path| Path::new(path).is_dir());
        let mut mounts: BTreeMap<_, _> =
            shared.map(|path| ((*path).to_owned(), PathBuf::from(path))).collect();
        if !self.is_in_base() {
            mounts.insert(INSIDE.to_owned(), self.root.clone());
        }
        mounts
    }

    fn is_in_base(&self) -> bool {
        self.root.starts_with("/usr")
    }
}

/// LibreOffice's own packages install into `/opt/libreoffice24.8` and the like.
fn newest_in_opt() -> Option<LibreOffice> {
    let entries = fs::read_dir("/opt").ok()?;
    let mut roots: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libreoffice")))
        .collect();
    roots.sort();
    roots.iter().rev().find_map(|root| LibreOffice::at(root))
}

/// The version that the installation's settings name.
fn version(root: &Path) -> String {
    let settings = fs::read_to_string(root.join("share/registry/main.xcd")).unwrap_or_default();
    // The schema has the same name, with an empty value; what was built comes behind it.
    let at = settings.rfind("<prop oor:name=\"ooSetupVersionAboutBox\">");
    let value = at.and_then(|at| settings[at..].split_once("<value>")?.1.split_once("</value>"));
    let plain = |text: &&str| text.len() < 32 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    value.map(|(text, _)| text).filter(plain).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{LibreOffice, OfficeChoice};

    #[test]
    fn libreoffice_is_found_by_its_directory_or_its_program() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a path").join("office");
        fs::create_dir_all(root.join("program")).expect("made");
        assert_eq!(OfficeChoice::At(root.clone()).find(), None, "no program is there yet");
        fs::write(root.join("program/soffice"), "#!/bin/sh\n").expect("written");
        let found = |version: &str| Some(LibreOffice { root: root.clone(), version: version.to_owned() });
        assert_eq!(OfficeChoice::At(root.clone()).find(), found(""));
        fs::create_dir_all(root.join("share/registry")).expect("made");
        let settings = "<prop oor:name=\"ooSetupVersionAboutBox\" oor:type=\"xs:string\"><value/></prop>\
             <prop oor:name=\"ooSetupVersionAboutBox\">\n <value>7.4.7.2</value></prop><prop><value>x</value></prop>";
        fs::write(root.join("share/registry/main.xcd"), settings).expect("written");
        assert_eq!(OfficeChoice::At(root.join("program/soffice")).find(), found("7.4.7.2"));
        assert_eq!(OfficeChoice::Off.find(), None);
        let office = found("7.4.7.2").expect("it is there");
        assert_eq!(office.program(), "/opt/libreoffice/program/soffice");
        assert_eq!(office.mounts().get("/opt/libreoffice"), Some(&root));
    }

    #[test]
    fn installation_beneath_usr_is_used_where_it_is() {
        let office = LibreOffice { root: "/usr/lib/libreoffice".into(), version: "7.4".into() };
        assert_eq!(office.program(), "/usr/lib/libreoffice/program/soffice");
        assert!(!office.mounts().contains_key("/opt/libreoffice"));
    }
}
