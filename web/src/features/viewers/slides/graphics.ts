// Charts and diagrams of a slide: parts of their own, which its frames refer to.
import { readChart, type Chart } from "../charts/read";
import { all, type Zip } from "../zip";
import type { Theme } from "./colour";

export type Graphic =
  | { kind: "chart"; chart: Chart }
  /** The drawing that the program which made it keeps beside it, and its texts for when there is none. */
  | { kind: "diagram"; tree: Element | null; relations: ReadonlyMap<string, string>; texts: readonly string[] };

/** More parts than these are named and not read. */
const MOST_GRAPHICS = 100;
const MOST_TEXTS = 100;

/** What the frame refers to: a chart, or the data of a diagram. */
export function graphicId(frame: Element): string | null {
  const reference = all(frame, "chart")[0] ?? all(frame, "relIds")[0];
  const name = reference?.localName === "relIds" ? "dm" : "id";
  return (reference && [...reference.attributes].find((attribute) => attribute.localName === name && attribute.prefix)?.value) ?? null;
}

export class Graphics {
  #left = MOST_GRAPHICS;

  constructor(private readonly zip: Zip) {}

  /** All that frames of a part refer to, by how they call it. One that cannot be read is left out; the rest of the slide can be. */
  async of(document: Document, relations: ReadonlyMap<string, string>, theme: Theme): Promise<ReadonlyMap<string, Graphic>> {
    const found = new Map<string, Graphic>();
    for (const frame of all(document, "graphicFrame")) {
      const id = graphicId(frame);
      const path = id === null ? undefined : relations.get(id);
      if (!path || this.#left <= 0) continue;
      this.#left -= 1;
      const graphic = await this.#read(path, relations, theme).catch(() => null);
      if (graphic) found.set(id!, graphic);
    }
    return found;
  }

  async #read(path: string, relations: ReadonlyMap<string, string>, theme: Theme): Promise<Graphic | null> {
    const document = await this.zip.xml(path);
    if (!document) return null;
    if (document.documentElement.localName !== "dataModel") {
      const chart = readChart(document, theme);
      return chart && { kind: "chart", chart };
    }
    const drawn = relations.get(all(document, "dataModelExt")[0]?.getAttribute("relId") ?? "");
    const drawing = drawn ? await this.zip.xml(drawn) : null;
    return {
      kind: "diagram",
      tree: (drawing && all(drawing, "spTree")[0]) ?? null,
      relations: drawn ? await this.zip.relations(drawn) : new Map(),
      texts: all(document, "pt").slice(0, MOST_TEXTS).map((point) => all(point, "t").filter((text) => text.children.length === 0).map((text) => text.textContent ?? "").join("").trim()).filter(Boolean),
    };
  }
}
