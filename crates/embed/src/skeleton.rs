//! The template that comes with the program: what is in `outputs/` where no other was named.

use warren_runtime::{Template, TemplateFile};

/// Its files, by path in `outputs/`.
const FILES: &[(&str, &str)] = &[
    ("charts/README.md", include_str!("../template/charts/README.md")),
    ("charts/example.py", include_str!("../template/charts/example.py")),
    ("charts/requirements.txt", include_str!("../template/charts/requirements.txt")),
    ("documents/README.md", include_str!("../template/documents/README.md")),
    ("manifest.json", include_str!("../template/manifest.json")),
    ("presentations/README.md", include_str!("../template/presentations/README.md")),
    ("web/README.md", include_str!("../template/web/README.md")),
    ("web/next.config.mjs", include_str!("../template/web/next.config.mjs")),
    ("web/package.json", include_str!("../template/web/package.json")),
    ("web/src/app/globals.css", include_str!("../template/web/src/app/globals.css")),
    ("web/src/app/layout.tsx", include_str!("../template/web/src/app/layout.tsx")),
    ("web/src/app/page.tsx", include_str!("../template/web/src/app/page.tsx")),
    ("web/tsconfig.json", include_str!("../template/web/tsconfig.json")),
];

/// The template. Its files need nothing; its app and its script start once their packages are there.
pub(crate) fn skeleton() -> Template {
    let file = |content: &str| TemplateFile { content: content.as_bytes().to_vec(), mode: 0o644 };
    Template {
        files: FILES.iter().map(|(path, content)| ((*path).to_owned(), file(content))).collect(),
        ..Template::default()
    }
}
