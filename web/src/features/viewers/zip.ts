// Reads zip files with what a browser has: office documents are zips of XML.

/** A part that unpacks to more than this is refused: a small file can claim to be a huge one. */
const MOST_BYTES = 100_000_000;

export class Zip {
  private constructor(private readonly bytes: Uint8Array<ArrayBuffer>, private readonly places: Map<string, Entry>) {}

  static open(bytes: Uint8Array<ArrayBuffer>): Zip {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let end = bytes.length - 22;
    while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
    if (end < 0) throw new Error("It is not a document of this kind: it has no table of contents.");
    const places = new Map<string, Entry>();
    let at = view.getUint32(end + 16, true);
    for (let n = view.getUint16(end + 10, true); n > 0 && view.getUint32(at, true) === 0x02014b50; n -= 1) {
      const [name, extra, note] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true), view.getUint16(at + 32, true)];
      const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name));
      places.set(path, { method: view.getUint16(at + 10, true), packed: view.getUint32(at + 20, true), at: view.getUint32(at + 42, true) });
      at += 46 + name + extra + note;
    }
    return new Zip(bytes, places);
  }

  names(): string[] {
    return [...this.places.keys()];
  }

  async read(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const entry = this.places.get(path);
    if (!entry) return null;
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    const from = entry.at + 30 + view.getUint16(entry.at + 26, true) + view.getUint16(entry.at + 28, true);
    const packed = this.bytes.slice(from, from + entry.packed);
    if (entry.method === 0) return packed;
    if (entry.method !== 8) throw new Error("It is packed in a way this page cannot read.");
    return unpacked(packed);
  }

  async xml(path: string): Promise<Document | null> {
    const bytes = await this.read(path);
    if (!bytes) return null;
    // What a declaration says about bytes is of no use for a text.
    const text = new TextDecoder().decode(bytes).replace(/^\s*<\?xml[^>]*\?>/, "");
    const document = new DOMParser().parseFromString(text, "application/xml");
    if (document.querySelector("parsererror")) throw new Error(`${path} inside it cannot be read.`);
    return document;
  }

  /** What a part refers to: id → path. */
  async relations(path: string): Promise<Map<string, string>> {
    const folder = path.split("/").slice(0, -1).join("/");
    const name = path.split("/").at(-1);
    const document = await this.xml(`${folder}/_rels/${name}.rels`);
    const found = [...(document?.getElementsByTagName("Relationship") ?? [])];
    return new Map(found.map((one) => [one.getAttribute("Id") ?? "", resolve(folder, one.getAttribute("Target") ?? "")]));
  }
}

type Entry = { method: number; packed: number; at: number };

async function unpacked(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new Error("A part of it is too long to show.");
    }
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function resolve(folder: string, target: string): string {
  if (target.startsWith("/")) return target.slice(1);
  const parts = folder.split("/").filter(Boolean);
  for (const part of target.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** How an element refers to another part: its `r:id`, whatever the prefix. */
export const relationId = (node: Element | undefined): string => (node && [...node.attributes].find((attribute) => /:id$/.test(attribute.name))?.value) ?? "";

/** Elements of a name, whatever its prefix. */
export const all = (node: Element | Document, name: string): Element[] => [...node.getElementsByTagNameNS("*", name)];
