import { WarrenError, type WarrenClient } from "@warren/react";

const FOLDER = "/user-input";

/**
 * Uploads a file of which nobody knows whether it arrived before, and gives its path. The server keeps all of a file or
 * nothing: one of this name and length is the one that arrived.
 */
export async function sendAgain(client: WarrenClient, sessionId: string, file: File): Promise<string> {
  try {
    const { files } = await client.upload(sessionId, [file]);
    return files[0]?.path ?? file.name;
  } catch (error) {
    if (!(error instanceof WarrenError) || error.code !== "CONFLICT") throw error;
    const { entries } = await client.files(sessionId, FOLDER);
    const there = entries.find((entry) => entry.name === file.name && entry.sizeBytes === file.size);
    if (!there) throw error;
    return there.path;
  }
}
