// Slides of a .pptx file: each with what stands on it, and with what its layout and its master put beneath it.
import { all, relationId, Zip } from "../zip";
import { colourOf, readTheme, type Theme } from "./colour";
import { Graphics } from "./graphics";
import { cssGradient, gradientOf } from "./paint";
import { embedded, shapesOf, type Shape, type Source } from "./shapes";
import { child } from "./text";

export type Slide = { shapes: Shape[]; ground: string | null; /** A picture beneath everything. */ groundPicture: string | null; title: string; isHidden: boolean; /** What the speaker says, as paragraphs. */ notes: string };
export type Deck = { ratio: number; widthPt: number; slides: Slide[]; picture: (path: string) => Promise<Uint8Array<ArrayBuffer> | null> };

const EMU_PER_PT = 12_700;
/** More slides than anybody looks through here. */
const MOST_SLIDES = 500;

export async function readSlides(bytes: Uint8Array<ArrayBuffer>): Promise<Deck> {
  const zip = Zip.open(bytes);
  const show = await zip.xml("ppt/presentation.xml");
  if (!show) throw new Error("It has no presentation inside.");
  const size = all(show, "sldSz")[0];
  const [cx, cy] = [length(size, "cx", 12_192_000), length(size, "cy", 6_858_000)];
  const relations = await zip.relations("ppt/presentation.xml");
  const reader = new Reader(zip, all(show, "defaultTextStyle")[0], cx, cy);
  const slides: Slide[] = [];
  for (const entry of all(show, "sldId").slice(0, MOST_SLIDES)) {
    const path = relations.get(relationId(entry));
    if (path) slides.push(await reader.slide(path));
  }
  return { ratio: cx / cy, widthPt: cx / EMU_PER_PT, slides, picture: (path) => zip.read(path) };
}

const length = (node: Element | undefined, name: string, usual: number): number => Math.max(1, Number(node?.getAttribute(name) ?? usual) || usual);

/** A slide, a layout or a master: its document and what it refers to. */
type Part = { document: Document; relations: ReadonlyMap<string, string> };

class Reader {
  readonly #parts = new Map<string, Promise<Part | null>>();
  readonly #graphics: Graphics;

  constructor(private readonly zip: Zip, private readonly usual: Element | undefined, private readonly cx: number, private readonly cy: number) {
    this.#graphics = new Graphics(zip);
  }

  async slide(path: string): Promise<Slide> {
    const slide = await this.#part(path);
    if (!slide) return { shapes: [], ground: null, groundPicture: null, title: "", isHidden: false, notes: "" };
    const layout = await this.#above(slide, "slideLayouts/");
    const master = layout && (await this.#above(layout, "slideMasters/"));
    const themePath = master && target(master, "theme/");
    const theme = readTheme(themePath ? await this.zip.xml(themePath) : null, master?.document ?? null);
    const parts = [slide, layout, master].filter((part) => part !== null);
    const source = { ...this.#source(parts, theme), graphics: await this.#graphics.of(slide.document, slide.relations, theme) };
    // What is beneath: ornaments of the master and the layout, never the empty places that they offer.
    const under = layout && !showsMaster(layout) ? [layout] : parts.slice(1);
    const beneath = [...under].reverse().flatMap((part) => drawn({ ...source, relations: part.relations, graphics: new Map() }, part, (node) => all(node, "ph").length === 0));
    const own = drawn(source, slide);
    const heading = own.find((shape) => shape.kind === "text" && shape.isTitle) ?? own.find((shape) => shape.kind === "text");
    return {
      shapes: [...(showsMaster(slide) ? beneath : []), ...own],
      ground: groundOf(parts, theme),
      groundPicture: groundPictureOf(parts),
      title: heading?.kind === "text" ? heading.paragraphs.map((one) => one.runs.map((run) => run.text).join("")).join(" ").trim().slice(0, 200) : "",
      isHidden: slide.document.documentElement.getAttribute("show") === "0",
      notes: await this.#notes(slide),
    };
  }

  /** Notes that cannot be read are left out; the slide can be. */
  async #notes(slide: Part): Promise<string> {
    const path = target(slide, "notesSlides/");
    const document = path ? await this.zip.xml(path).catch(() => null) : null;
    const body = document && all(document, "sp").find((one) => all(one, "ph")[0]?.getAttribute("type") === "body");
    if (!body) return "";
    return all(body, "p").map((paragraph) => all(paragraph, "t").map((text) => text.textContent ?? "").join("")).join("\n").trim();
  }

  #source(parts: readonly Part[], theme: Theme): Source {
    const [slide, layout, master] = parts;
    const places = (node: Element) => [layout, master].flatMap((part) => (part && placeIn(part.document, node)) ?? []);
    const masterStyles = master && all(master.document, "txStyles")[0];
    const styles = (node: Element) => {
      const type = all(node, "ph")[0]?.getAttribute("type");
      const isPlace = all(node, "ph").length > 0;
      const name = !isPlace ? "otherStyle" : /title/i.test(type ?? "") ? "titleStyle" : /dt|ftr|sldNum/.test(type ?? "") ? "otherStyle" : "bodyStyle";
      return [masterStyles && child(masterStyles, name), this.usual].filter((one) => one !== undefined);
    };
    return { theme, places, styles, relations: slide?.relations ?? new Map(), graphics: new Map(), cx: this.cx, cy: this.cy };
  }

  async #above(part: Part, folder: string): Promise<Part | null> {
    const path = target(part, folder);
    return path ? this.#part(path) : null;
  }

  #part(path: string): Promise<Part | null> {
    const known = this.#parts.get(path);
    if (known) return known;
    const read = async () => {
      const document = await this.zip.xml(path);
      return document && { document, relations: await this.zip.relations(path) };
    };
    const part = read();
    this.#parts.set(path, part);
    return part;
  }
}

const target = (part: Part, folder: string): string | undefined => [...part.relations.values()].find((path) => path.includes(folder));

function drawn(source: Source, part: Part, isDrawn?: (node: Element) => boolean): Shape[] {
  const tree = all(part.document, "spTree")[0] ?? part.document.documentElement;
  return shapesOf(tree, source, isDrawn);
}

const showsMaster = (slide: Part): boolean => slide.document.documentElement.getAttribute("showMasterSp") !== "0";

/** The same place in a layout or master: by its number, else by its kind. */
function placeIn(document: Document, node: Element): Element | undefined {
  const wanted = all(node, "ph")[0];
  if (!wanted) return undefined;
  const kind = (place: Element) => ({ ctrTitle: "title", subTitle: "body", obj: "body" })[place.getAttribute("type") ?? "obj"] ?? place.getAttribute("type") ?? "body";
  const found = all(document, "sp").flatMap((one) => {
    const place = all(one, "ph")[0];
    return place ? [{ one, place }] : [];
  });
  const index = wanted.getAttribute("idx");
  const byIndex = index !== null && found.find(({ place }) => place.getAttribute("idx") === index);
  return (byIndex || found.find(({ place }) => kind(place) === kind(wanted)))?.one;
}

function groundOf(parts: readonly Part[], theme: Theme): string | null {
  for (const part of parts) {
    const ground = all(part.document, "bg")[0];
    const gradient = ground && gradientOf(all(ground, "gradFill")[0], theme);
    if (gradient) return cssGradient(gradient);
    const paint = ground && (all(ground, "solidFill")[0] ?? all(ground, "gs")[0] ?? all(ground, "bgRef")[0]);
    const colour = paint && colourOf(paint, theme);
    if (colour) return colour;
  }
  return theme.get("bg1") ?? null;
}

/** The nearest background decides, whatever it is. */
function groundPictureOf(parts: readonly Part[]): string | null {
  const part = parts.find((one) => all(one.document, "bg").length > 0);
  const fill = part && all(all(part.document, "bg")[0]!, "blipFill")[0];
  return (fill && embedded(fill, part.relations)) ?? null;
}
