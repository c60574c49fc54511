// How files of a person come into a session: as new ones, in place of one of the same name, or beside it.
import { received, WarrenError, type WarrenClient } from "@warren/react";

export const FOLDER = "/user-input";

/** What becomes of a file whose name is there already. */
export type Choice = "replace" | "both";

/** Nothing was uploaded, because a file of this name is there: a person decides which of the two stays. */
export class Taken extends Error {
  constructor() {
    super("A file with this name already exists.");
  }
}

export type How = "new" | "again" | Choice;

/** Uploads files: as new ones all or none of them, else one after the other. */
export async function placeAll(client: WarrenClient, sessionId: string, files: readonly File[], how: How): Promise<void> {
  if (how === "new") {
    await client.upload(sessionId, files).catch((error: unknown) => Promise.reject(isTaken(error) ? new Taken() : error));
    return;
  }
  for (const file of files) await placeAgain(client, sessionId, file).catch((error: unknown) => placeChosen(client, sessionId, file, how, error));
}

async function placeChosen(client: WarrenClient, sessionId: string, file: File, how: How, error: unknown): Promise<string> {
  if (!(error instanceof Taken) || how === "again") throw error;
  return how === "replace" ? placeOver(client, sessionId, file) : placeNew(client, sessionId, await renamed(client, sessionId, file, []));
}

/** Uploads a file that must be new, and gives its path. */
export async function placeNew(client: WarrenClient, sessionId: string, file: File): Promise<string> {
  try {
    const { files } = await client.upload(sessionId, [file]);
    return files[0]?.path ?? file.name;
  } catch (error) {
    throw isTaken(error) ? new Taken() : error;
  }
}

/** Puts a file in the place of the one of its name. The old one stays until all of the new one has come. */
export async function placeOver(client: WarrenClient, sessionId: string, file: File): Promise<string> {
  const response = await client.writeFile(sessionId, `${FOLDER}/${file.name}`, file);
  const { path } = (await received(response.json())) as { path: string };
  return path;
}

/**
 * Uploads a file of which nobody knows whether it arrived before, and gives its path. The server keeps all of a file or
 * nothing: one of this name with these bytes is the one that arrived.
 */
export async function placeAgain(client: WarrenClient, sessionId: string, file: File): Promise<string> {
  try {
    return await placeNew(client, sessionId, file);
  } catch (error) {
    if (!(error instanceof Taken)) throw error;
    const { entries } = await client.files(sessionId, FOLDER);
    const there = entries.find((entry) => entry.name === file.name && entry.sizeBytes === file.size);
    if (there && (await isSame(client, sessionId, there.path, file))) return there.path;
    throw error;
  }
}

/** Which of these files have a name that is there already. */
export async function takenNames(client: WarrenClient, sessionId: string, files: readonly File[]): Promise<string[]> {
  // Without the list it is said that there are some.
  const entries = await client.files(sessionId, FOLDER).then((listing) => listing.entries, () => []);
  const names = new Set(entries.map((entry) => entry.name));
  return files.map((file) => file.name).filter((name) => names.has(name));
}

/** The file under a name that is free in the session, and among `names`. */
export async function renamed(client: WarrenClient, sessionId: string, file: File, names: readonly string[]): Promise<File> {
  const { entries } = await client.files(sessionId, FOLDER);
  return withName(file, freeName(file.name, new Set([...entries.map((entry) => entry.name), ...names])));
}

export const withName = (file: File, name: string): File => new File([file], name, { type: file.type, lastModified: file.lastModified });

/** `a.csv` becomes `a (2).csv`, and that one `a (3).csv`. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const [, stem = name, ending = ""] = /^(.+?)(?: \(\d+\))?((?:\.tar)?\.[^.\s]+)?$/s.exec(name) ?? [];
  let number = 2;
  while (taken.has(`${stem} (${number})${ending}`)) number += 1;
  return `${stem} (${number})${ending}`;
}

const isTaken = (error: unknown): boolean => error instanceof WarrenError && error.code === "CONFLICT";

async function isSame(client: WarrenClient, sessionId: string, path: string, file: File): Promise<boolean> {
  const response = await client.readFile(sessionId, path);
  const [there, here] = [new Uint8Array(await received(response.arrayBuffer())), new Uint8Array(await file.arrayBuffer())];
  return there.length === here.length && there.every((byte, at) => byte === here[at]);
}
