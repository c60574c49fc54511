// In which order artifacts stand, and so which one is shown first. Pure.
import type { Artifact, ArtifactKind } from "@warren/react";

/** What is made to be looked at comes first, what it was made of last. */
const RANKS: readonly ArtifactKind[] = ["web_app", "html", "pptx", "docx", "pdf", "excel", "image", "markdown", "csv", "code"];

const rankOf = ({ kind }: Artifact): number => (RANKS.includes(kind) ? RANKS.indexOf(kind) : RANKS.length);

/** The order of the shelf. By kind and path alone, so that it is the same live, after a reload and in a fork, where all were made at once. */
export const inOrder = (artifacts: readonly Artifact[]): Artifact[] =>
  [...artifacts].sort((a, b) => rankOf(a) - rankOf(b) || a.path.localeCompare(b.path, "en", { numeric: true }));
