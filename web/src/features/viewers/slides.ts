// Slides of a .pptx file: where each text and picture stands. Enough to read them; not every effect.
import { all, Zip } from "./zip";

export type Run = { text: string; bold: boolean; italic: boolean; size: number | null; colour: string | null };
export type Paragraph = { runs: Run[]; level: number; bullet: boolean; align: "left" | "center" | "right" };
/** Places and sizes are parts of the slide, 0 to 1. */
export type Shape = { x: number; y: number; w: number; h: number; isTitle: boolean } & ({ kind: "text"; paragraphs: Paragraph[]; fill: string | null } | { kind: "picture"; path: string });
export type Slide = { shapes: Shape[] };
export type Deck = { ratio: number; widthPt: number; slides: Slide[]; picture: (path: string) => Promise<Uint8Array<ArrayBuffer> | null> };

const EMU_PER_PT = 12_700;

export async function readSlides(bytes: Uint8Array<ArrayBuffer>): Promise<Deck> {
  const zip = Zip.open(bytes);
  const show = await zip.xml("ppt/presentation.xml");
  if (!show) throw new Error("It has no presentation inside.");
  const size = all(show, "sldSz")[0];
  const [cx, cy] = [Number(size?.getAttribute("cx") ?? 12_192_000), Number(size?.getAttribute("cy") ?? 6_858_000)];
  const relations = await zip.relations("ppt/presentation.xml");
  const slides: Slide[] = [];
  for (const entry of all(show, "sldId")) {
    const id = [...entry.attributes].find((attribute) => attribute.localName === "id" && attribute.prefix)?.value ?? "";
    const path = relations.get(id);
    if (path) slides.push(await readSlide(zip, path, cx, cy));
  }
  return { ratio: cx / cy, widthPt: cx / EMU_PER_PT, slides, picture: (path) => zip.read(path) };
}

async function readSlide(zip: Zip, path: string, cx: number, cy: number): Promise<Slide> {
  const document = await zip.xml(path);
  if (!document) return { shapes: [] };
  const relations = await zip.relations(path);
  const layout = [...relations.values()].find((target) => target.includes("slideLayouts/"));
  const places = layout ? placeholders(await zip.xml(layout)) : new Map<string, Element>();
  const shapes: Shape[] = [];
  for (const node of [...all(document, "sp"), ...all(document, "pic")]) {
    const own = all(node, "xfrm")[0];
    const frame = own ?? places.get(placeOf(node) ?? "");
    const [off, ext] = [frame && all(frame, "off")[0], frame && all(frame, "ext")[0]];
    if (!off || !ext) continue;
    const at = (element: Element, name: string, whole: number) => Number(element.getAttribute(name) ?? 0) / whole;
    const place = { x: at(off, "x", cx), y: at(off, "y", cy), w: at(ext, "cx", cx), h: at(ext, "cy", cy), isTitle: /title/i.test(placeOf(node) ?? "") };
    if (node.localName === "pic") {
      const blip = all(node, "blip")[0];
      const id = blip && [...blip.attributes].find((attribute) => attribute.localName === "embed")?.value;
      const target = id && relations.get(id);
      if (target) shapes.push({ ...place, kind: "picture", path: target });
    } else {
      const paragraphs = all(node, "p").map(paragraph).filter((one) => one.runs.length > 0);
      const fill = solid(all(node, "spPr")[0]);
      if (paragraphs.length > 0 || fill) shapes.push({ ...place, kind: "text", paragraphs, fill });
    }
  }
  return { shapes };
}

/** A placeholder's name: its type and number. */
function placeOf(node: Element): string | null {
  const place = all(node, "ph")[0];
  return place ? `${place.getAttribute("type") ?? "body"}:${place.getAttribute("idx") ?? ""}` : null;
}

function placeholders(layout: Document | null): Map<string, Element> {
  const found = layout ? all(layout, "sp") : [];
  return new Map(found.flatMap((node) => {
    const [name, frame] = [placeOf(node), all(node, "xfrm")[0]];
    return name && frame ? [[name, frame] as const] : [];
  }));
}

function paragraph(node: Element): Paragraph {
  const look = all(node, "pPr")[0];
  const runs = all(node, "r").map((run): Run => {
    const style = all(run, "rPr")[0];
    const size = Number(style?.getAttribute("sz") ?? 0);
    return {
      text: all(run, "t").map((text) => text.textContent ?? "").join(""),
      bold: style?.getAttribute("b") === "1",
      italic: style?.getAttribute("i") === "1",
      size: size > 0 ? size / 100 : null,
      colour: solid(style),
    };
  });
  const align = ({ ctr: "center", r: "right" } as const)[look?.getAttribute("algn") ?? ""] ?? "left";
  const bullet = look !== undefined && (all(look, "buChar").length > 0 || all(look, "buAutoNum").length > 0);
  return { runs: runs.filter((run) => run.text !== ""), level: Number(look?.getAttribute("lvl") ?? 0), bullet, align };
}

function solid(node: Element | undefined): string | null {
  const fill = node && [...node.children].find((child) => child.localName === "solidFill");
  const colour = fill && all(fill, "srgbClr")[0]?.getAttribute("val");
  return colour && /^[0-9a-f]{6}$/i.test(colour) ? `#${colour}` : null;
}
