// Files chosen for a session that does not exist yet: two of one name cannot both go as they are. Pure.
import type { Upload } from "../composer/useDraft";
import { freeName, withName, type Choice } from "../files/placing";

export type Attached = { file: File; upload: Upload };

let lastId = 0;

export function withFile(all: readonly Attached[], file: File): readonly Attached[] {
  const state = all.some((one) => one.file.name === file.name) ? "taken" : "done";
  return [...all, { file, upload: { id: --lastId, name: file.name, sizeBytes: file.size, state } }];
}

/** When one of two is taken out, the other asks no more. */
export function without(all: readonly Attached[], id: number): readonly Attached[] {
  return all.filter((one) => one.upload.id !== id).reduce<readonly Attached[]>((rest, one) => {
    const state = rest.some((other) => other.file.name === one.file.name) ? "taken" : "done";
    return [...rest, state === one.upload.state ? one : { ...one, upload: { ...one.upload, state } }];
  }, []);
}

/** What a person chose for the later of two: it takes the place of the other, or another name. */
export function withChoice(all: readonly Attached[], id: number, choice: Choice): readonly Attached[] {
  const later = all.find((one) => one.upload.id === id);
  if (!later) return all;
  const rest = choice === "replace" ? all.filter((one) => one === later || one.file.name !== later.file.name) : all;
  const name = choice === "both" ? freeName(later.file.name, new Set(all.map((one) => one.file.name))) : later.file.name;
  return rest.map((one) => (one === later ? { file: withName(one.file, name), upload: { ...one.upload, name, state: "done" } } : one));
}
