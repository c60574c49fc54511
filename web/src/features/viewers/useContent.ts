// The bytes of something, read when `key` changes. What was read before stays until the new is there.
import { received, useResource } from "@warren/react";

/** More than this is offered as a download. */
export const MOST_BYTES = 40_000_000;

export class TooLong extends Error {
  constructor(readonly sizeBytes: number) {
    super("It is too long to show here.");
  }
}

export type Content = { bytes: Uint8Array<ArrayBuffer>; etag: string | null; /** The program that made it, if it was converted. */ converter: string | null };

export function useContent(key: string, load: () => Promise<Response>, stamp: unknown = null) {
  return useResource<Content>(key, async () => {
    const response = await load();
    const size = Number(response.headers.get("Content-Length") ?? 0);
    if (size > MOST_BYTES) {
      await response.body?.cancel();
      throw new TooLong(size);
    }
    return { bytes: new Uint8Array(await received(response.arrayBuffer())), etag: response.headers.get("ETag"), converter: response.headers.get("X-Warren-Converter") };
  }, stamp);
}

/** Bytes as text, or `null` if they are not text. */
export function asText(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, 8_000).includes(0)) return null;
  return new TextDecoder().decode(bytes);
}
