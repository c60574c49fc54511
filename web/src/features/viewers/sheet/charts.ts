// Charts of a sheet: where they stand, and their values from the cells where the file keeps none.
import { readChart } from "../charts/read";
import type { Theme } from "../slides/colour";
import { child } from "../slides/text";
import { all, relationId, type Zip } from "../zip";
import { imageType } from "../kinds";
import { embedded } from "../slides/shapes";
import { namedRef } from "./compute";
import { HEIGHT, WIDTH, type Book, type Placed, type Sheet, type Value } from "./model";
import { shownOf } from "./shown";

const EMU_PER_PX = 9_525;
const MAX_CHARTS = 50;
const MAX_POINTS = 2_000;

export async function readCharts(zip: Zip, path: string, document: Document, sheet: Sheet, book: Source, theme: Theme): Promise<Placed[]> {
  const relations = await zip.relations(path);
  const placed: Placed[] = [];
  for (const reference of all(document, "drawing")) {
    const drawingPath = relations.get(relationId(reference));
    const drawing = drawingPath ? await zip.xml(drawingPath) : null;
    if (!drawing || !drawingPath) continue;
    const charts = await zip.relations(drawingPath);
    for (const anchor of [...drawing.documentElement.children].slice(0, MAX_CHARTS)) {
      const image = await imageOf(zip, anchor, charts);
      if (image) placed.push({ chart: null, picture: image, ...boxOf(anchor, sheet) });
      const chartPath = charts.get(relationId(all(anchor, "chart")[0]));
      // A chart that cannot be read is left out; the cells can be shown.
      const part = chartPath ? await zip.xml(chartPath).catch(() => null) : null;
      if (!part) continue;
      fillIn(part, book);
      placed.push({ chart: readChart(part, theme), picture: null, ...boxOf(anchor, sheet) });
    }
  }
  return placed;
}

/** The image of an anchor. One of a kind that browsers do not know is left out. */
async function imageOf(zip: Zip, anchor: Element, targets: ReadonlyMap<string, string>): Promise<Placed["picture"]> {
  const picture = all(anchor, "pic")[0];
  const path = picture && embedded(picture, targets);
  const bytes = path && imageType(path) ? await zip.read(path).catch(() => null) : null;
  return path && bytes ? { path, bytes, alt: all(picture!, "cNvPr")[0]?.getAttribute("descr") ?? "" } : null;
}

type Source = Pick<Book, "sheets" | "looks" | "is1904">;

/** Puts values of the cells beside references that have none. */
function fillIn(document: Document, book: Source) {
  for (const formula of all(document, "f")) {
    const holder = formula.parentElement;
    if (!holder || all(holder, "pt").length > 0) continue;
    // Categories are texts, also where a program calls them numbers: a date is read as its cell shows it.
    const isNumeric = holder.localName === "numRef" && holder.parentElement?.localName !== "cat";
    const values = valuesOf(formula.textContent ?? "", book, !isNumeric);
    if (values.length === 0) continue;
    const cache = document.createElementNS(holder.namespaceURI, isNumeric ? "numCache" : "strCache");
    values.forEach((value, at) => {
      if (value === null || (isNumeric && typeof value !== "number")) return;
      const point = document.createElementNS(holder.namespaceURI, "pt");
      const text = document.createElementNS(holder.namespaceURI, "v");
      point.setAttribute("idx", String(at));
      text.textContent = String(value);
      point.append(text);
      cache.append(point);
    });
    child(holder, cache.localName)?.remove();
    holder.append(cache);
  }
}

function valuesOf(reference: string, { sheets, looks, is1904 }: Source, isText: boolean): Value[] {
  const found = namedRef(reference.trim(), "");
  const sheet = found && sheets.find((one) => one.name === found.sheet);
  if (!found || !sheet) return [];
  const { from, to } = "from" in found ? found : { from: found, to: found };
  const values: Value[] = [];
  for (let row = from.row; row <= to.row; row += 1) {
    for (let col = from.col; col <= to.col && values.length < MAX_POINTS; col += 1) {
      const cell = sheet.rows.get(row - 1)?.get(col - 1);
      const look = cell && looks[cell.style];
      values.push(isText && cell && look && cell.value !== null ? shownOf(cell, look, is1904).text : (cell?.value ?? null));
    }
  }
  return values;
}

/** Where an anchor stands, in pixels from the first cell. */
function boxOf(anchor: Element, sheet: Sheet): Pick<Placed, "x" | "y" | "w" | "h"> {
  const number = (node: Element | undefined, name: string) => Number((node && child(node, name)?.textContent) ?? 0) || 0;
  const upTo = (sizes: ReadonlyMap<number, number>, usual: number, n: number) => {
    let sum = Math.min(n, 10_000) * usual;
    for (const [at, size] of sizes) if (at < n) sum += size - usual;
    return sum;
  };
  const corner = (node: Element | undefined) => ({
    x: upTo(sheet.widths, WIDTH, number(node, "col")) + number(node, "colOff") / EMU_PER_PX,
    y: upTo(sheet.heights, HEIGHT, number(node, "row")) + number(node, "rowOff") / EMU_PER_PX,
  });
  const from = corner(child(anchor, "from"));
  const to = child(anchor, "to");
  if (to) {
    const end = corner(to);
    return { ...from, w: Math.max(80, end.x - from.x), h: Math.max(60, end.y - from.y) };
  }
  const size = child(anchor, "ext");
  const length = (name: string, usual: number) => Math.max(60, Number(size?.getAttribute(name) ?? usual * EMU_PER_PX) / EMU_PER_PX);
  return { ...from, w: length("cx", 480), h: length("cy", 288) };
}
