// Names and paths of files, as people give them. Pure.

export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A path in a folder; the workspace itself is the empty one. */
export const within = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

const encoder = new TextEncoder();

/** What is wrong with a name, or nothing. With `deep` it may lead through folders, as `src/main.ts`. */
export function faultOf(text: string, { deep = false, taken }: { deep?: boolean; taken: ReadonlySet<string> }): string | null {
  const name = text.trim();
  if (name === "") return "Give it a name.";
  if (!deep && name.includes("/")) return "A name cannot contain “/”. Use Move to put it in another folder.";
  if (name.startsWith("/") || name.endsWith("/")) return "Leave out “/” at the start and at the end.";
  for (const part of name.split("/")) {
    if (part === "" || part === "." || part === "..") return part === "" ? "Too many slashes." : `“${part}” is not a name.`;
    if (encoder.encode(part).length > 255) return "A name can have at most 255 bytes.";
  }
  if (/[\0-\x1f\x7f]/.test(name)) return "A name cannot contain control characters.";
  if (taken.has(name)) return `“${name}” already exists here.`;
  return null;
}

/** Where something goes that is moved into a folder; nothing if it is there already, or would be inside itself. */
export function targetOf(from: string, folder: string): string | null {
  const isInside = folder === from || folder.startsWith(`${from}/`);
  return isInside || folderOf(from) === folder || volumeOf(from) !== volumeOf(folder) ? null : within(folder, nameOf(from));
}

/** The tree a path belongs to: nothing is moved from one to another. */
export const volumeOf = (path: string): string => (path.startsWith("/") ? `/${path.split("/")[1] ?? ""}` : "");
