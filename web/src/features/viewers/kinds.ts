// Which viewer shows what. Pure.
import type { Artifact, ArtifactKind } from "@warren/react";
import type { IconName } from "~/ui/IconSprite";

export type View = "text" | "markdown" | "image" | "csv" | "pdf" | "docx" | "sheet" | "slides" | "notebook" | "office" | "none";

const BY_EXTENSION: Record<string, View> = {
  md: "markdown", markdown: "markdown", png: "image", jpg: "image", jpeg: "image", gif: "image", webp: "image", avif: "image",
  bmp: "image", ico: "image", svg: "image", csv: "csv", tsv: "csv", pdf: "pdf", docx: "docx", xlsx: "sheet", xlsm: "sheet", pptx: "slides", ipynb: "notebook",
  odt: "office", odp: "office", ods: "office", rtf: "office", doc: "office", xls: "office", ppt: "office", docm: "office", pptm: "office",
};
const BINARY = new Set("zip gz tgz tar bz2 xz zst 7z rar exe so dll dylib bin wasm class jar woff woff2 ttf otf mp3 mp4 mov avi webm ogg wav sqlite db".split(" "));

export const KINDS: Record<ArtifactKind, { icon: IconName; name: string; view: View }> = {
  web_app: { icon: "app", name: "Web app", view: "none" },
  html: { icon: "app", name: "Page", view: "text" },
  pptx: { icon: "slides", name: "Slides", view: "slides" },
  docx: { icon: "doc", name: "Document", view: "docx" },
  excel: { icon: "sheet", name: "Sheet", view: "sheet" },
  csv: { icon: "sheet", name: "Table", view: "csv" },
  markdown: { icon: "doc", name: "Text", view: "markdown" },
  image: { icon: "eye", name: "Image", view: "image" },
  pdf: { icon: "doc", name: "PDF", view: "pdf" },
  code: { icon: "file", name: "Code", view: "text" },
};

/** The icon and the name of an artifact's kind. */
export const kindOf = (artifact: Artifact): { icon: IconName; name: string } => (viewOf(artifact.path) === "notebook" ? { icon: "doc", name: "Notebook" } : (KINDS[artifact.kind] ?? KINDS.code));

const extension = (path: string): string => (/\.([^./]+)$/.exec(path)?.[1] ?? "").toLowerCase();

/** The viewer of a file, by its name. */
export function viewOf(path: string): View {
  const ending = extension(path);
  return Object.hasOwn(BY_EXTENSION, ending) ? (BY_EXTENSION[ending] as View) : BINARY.has(ending) ? "none" : "text";
}

/** The server can convert it to PDF. */
export const isOffice = (view: View): boolean => ["docx", "sheet", "slides", "office"].includes(view);

/** Can be shown as its text too. */
export const hasSource = (path: string): boolean => ["markdown", "csv", "notebook"].includes(viewOf(path)) || extension(path) === "svg" || extension(path) === "html";

export const iconOf = (path: string): IconName =>
  ({ csv: "sheet", sheet: "sheet", slides: "slides", markdown: "doc", docx: "doc", pdf: "doc", image: "eye", text: "file", notebook: "doc", office: "doc", none: "file" } as const)[viewOf(path)];

/** The type of an image by its name, never by what the file claims: an unknown one is not shown as an image. */
export function imageType(path: string): string | null {
  const types: Record<string, string> = {
    png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", avif: "image/avif", bmp: "image/bmp", ico: "image/x-icon", svg: "image/svg+xml",
  };
  return types[extension(path)] ?? null;
}
