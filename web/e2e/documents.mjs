// Documents of every kind that the page shows, made here: small, and valid for the programs that make such files too.
import { crc32, deflateRawSync } from "node:zlib";

/** A zip of stored or packed texts, as office documents are. */
export function zip(files) {
  const parts = [];
  const table = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, plain] = [Buffer.from(name), Buffer.from(text)];
    const packed = deflateRawSync(plain);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0); head.writeUInt16LE(8, 8); head.writeUInt32LE(crc32(plain), 14); head.writeUInt32LE(packed.length, 18); head.writeUInt32LE(plain.length, 22); head.writeUInt16LE(path.length, 26);
    const row = Buffer.alloc(46);
    row.writeUInt32LE(0x02014b50, 0); row.writeUInt16LE(8, 10); row.writeUInt32LE(crc32(plain), 16); row.writeUInt32LE(packed.length, 20); row.writeUInt32LE(plain.length, 24); row.writeUInt16LE(path.length, 28); row.writeUInt32LE(at, 42);
    table.push(row, path);
    parts.push(head, path, packed);
    at += 30 + path.length + packed.length;
  }
  const rows = Buffer.concat(table);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0); end.writeUInt16LE(table.length / 2, 8); end.writeUInt16LE(table.length / 2, 10); end.writeUInt32LE(rows.length, 12); end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, rows, end]);
}

/** A picture of one point. */
export const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main";
const SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main";
const SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

/** What a part refers to: `[type, target]` each, named r1, r2, … */
const refers = (...all) => `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.map(([type, target], n) => `<Relationship Id="r${n + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`).join("")}</Relationships>`;

const types = (parts) => `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="svg" ContentType="image/svg+xml"/>${Object.entries(parts).map(([path, type]) => `<Override PartName="/${path}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`).join("")}</Types>`;

export function docx(...paragraphs) {
  const body = paragraphs.map((text) => `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>${escape(text)}</w:t></w:r></w:p>`).join("");
  return zip({
    "[Content_Types].xml": types({ "word/document.xml": "wordprocessingml.document.main" }),
    "_rels/.rels": refers(["officeDocument", "word/document.xml"]),
    "word/document.xml": `${head}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  });
}

/** A workbook: rows of texts and numbers by the name of their sheet. */
export function xlsx(sheets) {
  const names = Object.keys(sheets);
  const column = (at) => String.fromCharCode(65 + at);
  const cell = (value, row, at) => (typeof value === "number" ? `<c r="${column(at)}${row}"><v>${value}</v></c>` : `<c r="${column(at)}${row}" t="inlineStr"><is><t>${escape(value)}</t></is></c>`);
  const sheet = (rows) => `${head}<worksheet xmlns="${SHEETS}"><sheetData>${rows.map((row, at) => `<row r="${at + 1}">${row.map((value, n) => cell(value, at + 1, n)).join("")}</row>`).join("")}</sheetData></worksheet>`;
  return zip({
    "[Content_Types].xml": types({ "xl/workbook.xml": "spreadsheetml.sheet.main", ...Object.fromEntries(names.map((_, n) => [`xl/worksheets/sheet${n + 1}.xml`, "spreadsheetml.worksheet"])) }),
    "_rels/.rels": refers(["officeDocument", "xl/workbook.xml"]),
    "xl/workbook.xml": `${head}<workbook xmlns="${SHEETS}" xmlns:r="${OFFICE}"><sheets>${names.map((name, n) => `<sheet name="${escape(name)}" sheetId="${n + 1}" r:id="r${n + 1}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": refers(...names.map((_, n) => ["worksheet", `worksheets/sheet${n + 1}.xml`])),
    ...Object.fromEntries(names.map((name, n) => [`xl/worksheets/sheet${n + 1}.xml`, sheet(sheets[name])])),
  });
}

const frame = (x, y, cx, cy) => `<a:xfrm><a:off x="${x}" y="${y}"/><a:ext cx="${cx}" cy="${cy}"/></a:xfrm>`;
const named = (id, name, more = "") => `<p:cNvPr id="${id}" name="${name}"${more}/>`;
const paragraph = (text, look = "") => `<a:p>${look}<a:r><a:rPr lang="en"/><a:t>${escape(text)}</a:t></a:r></a:p>`;
const place = (id, type, inside, where = "") => `<p:sp><p:nvSpPr>${named(id, type)}<p:cNvSpPr/><p:nvPr><p:ph type="${type}"${type === "body" ? ' idx="1"' : ""}/></p:nvPr></p:nvSpPr><p:spPr>${where}</p:spPr><p:txBody><a:bodyPr/><a:lstStyle/>${inside}</p:txBody></p:sp>`;
const tree = (inside, ground = "") => `<p:cSld>${ground}<p:spTree><p:nvGrpSpPr>${named(1, "")}<p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${inside}</p:spTree></p:cSld>`;
const spaces = `xmlns:a="${DRAWING}" xmlns:r="${OFFICE}" xmlns:p="${SLIDES}"`;

/**
 * A presentation with a master, a layout and a theme. A slide is `{ title, points?, boxes?, picture?, table? }`: points are
 * bullets in the place that the layout gives them, boxes are `{ text, x, y }` in parts of the slide, the picture is
 * `{ name, bytes }`, the table rows of texts.
 */
export function pptx(slides) {
  const [cx, cy] = [12_192_000, 6_858_000];
  const parts = slides.map((slide) => {
    const points = slide.points ? place(3, "body", slide.points.map((text) => paragraph(text)).join("")) : "";
    const boxes = (slide.boxes ?? []).map(({ text, x, y, fill = "accent1" }, n) => `<p:sp><p:nvSpPr>${named(10 + n, "Box")}<p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr>${frame(x * cx, y * cy, 2_600_000, 900_000)}<a:prstGeom prst="roundRect"><a:avLst/></a:prstGeom><a:solidFill><a:schemeClr val="${fill}"/></a:solidFill></p:spPr><p:txBody><a:bodyPr anchor="ctr"/><a:p><a:pPr algn="ctr"/><a:r><a:rPr lang="en" sz="2000"><a:solidFill><a:schemeClr val="bg1"/></a:solidFill></a:rPr><a:t>${escape(text)}</a:t></a:r></a:p></p:txBody></p:sp>`).join("");
    const picture = slide.picture ? `<p:pic><p:nvPicPr>${named(30, "Picture", ` descr="${escape(slide.picture.name)}"`)}<p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="r2"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>${frame(8_600_000, 2_000_000, 2_600_000, 2_600_000)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>` : "";
    const cells = (row) => row.map((text) => `<a:tc><a:txBody><a:bodyPr/>${paragraph(text)}</a:txBody><a:tcPr/></a:tc>`).join("");
    const table = slide.table ? `<p:graphicFrame><p:nvGraphicFramePr>${named(40, "Table")}<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="838200" y="4400000"/><a:ext cx="7000000" cy="1200000"/></p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr/><a:tblGrid>${slide.table[0].map(() => '<a:gridCol w="3500000"/>').join("")}</a:tblGrid>${slide.table.map((row) => `<a:tr h="600000">${cells(row)}</a:tr>`).join("")}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>` : "";
    return `${head}<p:sld ${spaces}>${tree(place(2, "title", paragraph(slide.title)) + points + boxes + picture + table)}</p:sld>`;
  });
  const levels = [0, 1].map((level) => `<a:lvl${level + 1}pPr marL="${228_600 + level * 457_200}" indent="-228600" algn="l"><a:buChar char="•"/><a:defRPr sz="${2_800 - level * 400}"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill></a:defRPr></a:lvl${level + 1}pPr>`).join("");
  const bar = `<p:sp><p:nvSpPr>${named(9, "Bar")}<p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr>${frame(0, 0, cx, 120_000)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:solidFill><a:schemeClr val="accent1"/></a:solidFill></p:spPr></p:sp>`;
  const master = `${head}<p:sldMaster ${spaces}>${tree(bar + place(2, "title", "<a:p/>", frame(838_200, 365_125, 10_515_600, 1_325_563)) + place(3, "body", "<a:p/>", frame(838_200, 1_825_625, 10_515_600, 4_351_338)), '<p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill></p:bgPr></p:bg>')}<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="r1"/></p:sldLayoutIdLst><p:txStyles><p:titleStyle><a:lvl1pPr algn="l"><a:defRPr sz="4400" b="1"><a:solidFill><a:schemeClr val="tx2"/></a:solidFill></a:defRPr></a:lvl1pPr></p:titleStyle><p:bodyStyle>${levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>`;
  const colours = { dk1: "1C1A17", lt1: "FFFFFF", dk2: "0B3A5B", lt2: "F1EFEA", accent1: "0B6A5B", accent2: "875100", accent3: "AE2A1F", accent4: "7A3E9D", accent5: "1D5A9E", accent6: "17652F", hlink: "1D5A9E", folHlink: "7A3E9D" };
  const theme = `${head}<a:theme xmlns:a="${DRAWING}" name="T"><a:themeElements><a:clrScheme name="T">${Object.entries(colours).map(([name, value]) => `<a:${name}><a:srgbClr val="${value}"/></a:${name}>`).join("")}</a:clrScheme></a:themeElements></a:theme>`;
  const slidePath = (n) => `ppt/slides/slide${n + 1}.xml`;
  const pictures = slides.flatMap((slide, n) => (slide.picture ? [[`ppt/media/${n + 1}-${slide.picture.name}`, slide.picture.bytes]] : []));
  return zip({
    "[Content_Types].xml": types({ "ppt/presentation.xml": "presentationml.presentation.main", "ppt/slideMasters/slideMaster1.xml": "presentationml.slideMaster", "ppt/slideLayouts/slideLayout1.xml": "presentationml.slideLayout", "ppt/theme/theme1.xml": "theme", ...Object.fromEntries(slides.map((_, n) => [slidePath(n), "presentationml.slide"])) }),
    "_rels/.rels": refers(["officeDocument", "ppt/presentation.xml"]),
    "ppt/presentation.xml": `${head}<p:presentation ${spaces}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="r${slides.length + 1}"/></p:sldMasterIdLst><p:sldIdLst>${slides.map((_, n) => `<p:sldId id="${256 + n}" r:id="r${n + 1}"/>`).join("")}</p:sldIdLst><p:sldSz cx="${cx}" cy="${cy}"/><p:notesSz cx="${cy}" cy="${cx}"/></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": refers(...slides.map((_, n) => ["slide", `slides/slide${n + 1}.xml`]), ["slideMaster", "slideMasters/slideMaster1.xml"]),
    "ppt/slideMasters/slideMaster1.xml": master,
    "ppt/slideMasters/_rels/slideMaster1.xml.rels": refers(["slideLayout", "../slideLayouts/slideLayout1.xml"], ["theme", "../theme/theme1.xml"]),
    "ppt/slideLayouts/slideLayout1.xml": `${head}<p:sldLayout ${spaces}>${tree(place(2, "title", "<a:p/>") + place(3, "body", "<a:p/>"))}</p:sldLayout>`,
    "ppt/slideLayouts/_rels/slideLayout1.xml.rels": refers(["slideMaster", "../slideMasters/slideMaster1.xml"]),
    "ppt/theme/theme1.xml": theme,
    ...Object.fromEntries(parts.map((part, n) => [slidePath(n), part])),
    ...Object.fromEntries(slides.map((slide, n) => [`ppt/slides/_rels/slide${n + 1}.xml.rels`, refers(["slideLayout", "../slideLayouts/slideLayout1.xml"], ...(slide.picture ? [["image", `../media/${n + 1}-${slide.picture.name}`]] : []))])),
    ...Object.fromEntries(pictures),
  });
}

/** A page of one line. */
export function pdf(line) {
  const stream = `BT /F1 24 Tf 40 120 Td (${line}) Tj ET`;
  const objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>", `<</Length ${stream.length}>>stream\n${stream}\nendstream`, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, n) => {
    const at = text.length;
    text += `${n + 1} 0 obj${object}endobj\n`;
    return at;
  });
  const table = text.length;
  text += `xref\n0 6\n0000000000 65535 f \n${places.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("")}trailer<</Size 6/Root 1 0 R>>\nstartxref\n${table}\n%%EOF`;
  return Buffer.from(text);
}
