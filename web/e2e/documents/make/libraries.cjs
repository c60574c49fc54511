// Makes the documents that exceljs, pptxgenjs and docx write: `node libraries.cjs FOLDER`, with those three in NODE_PATH.
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");
const docx = require("docx");
const ExcelJS = require("exceljs");
const PptxGenJS = require("pptxgenjs");

const folder = process.argv[2];
/** A square of four colours. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGPgzor+tMmYQTZq3joteQAiMQS0O/tc7QAAAABJRU5ErkJggg==";

async function invoice() {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet("Invoice", { views: [{ showGridLines: false }] });
  sheet.columns = [{ width: 30 }, { width: 10 }, { width: 14 }, { width: 16 }];
  sheet.mergeCells("A1:D1");
  Object.assign(sheet.getCell("A1"), { value: "INVOICE 2025-017", font: { size: 20, bold: true, color: { argb: "FF1D5A9E" } } });
  sheet.getCell("A2").value = { richText: [{ text: "Due " }, { font: { bold: true, color: { argb: "FFAE2A1F" } }, text: "in 14 days" }] };
  sheet.getCell("D2").value = new Date(Date.UTC(2025, 2, 9));
  sheet.getCell("D2").numFmt = "dd/mm/yyyy";
  sheet.addRow([]);
  const head = sheet.addRow(["Item", "Units", "Price", "Amount"]);
  head.eachCell((cell) => Object.assign(cell, { font: { bold: true, color: { argb: "FFFFFFFF" } }, fill: { type: "pattern", pattern: "solid", fgColor: { argb: "FF1D5A9E" } }, border: { bottom: { style: "double" } } }));
  [["Charter of a boat", 3, 1250], ["Crew, per day", 12, 180.5], ["Fuel", 240, 1.79]].forEach(([name, units, price], at) => {
    const row = sheet.addRow([name, units, price, { formula: `B${at + 5}*C${at + 5}` }]);
    row.getCell(3).numFmt = row.getCell(4).numFmt = '#,##0.00 "€"';
  });
  sheet.addRow(["Net", null, null, { formula: "SUM(D5:D7)" }]).getCell(4).numFmt = '#,##0.00 "€"';
  sheet.addRow(["VAT", null, 0.25, { formula: "D8*C9" }]).getCell(4).numFmt = '#,##0.00 "€"';
  sheet.getCell("C9").numFmt = "0%";
  const total = sheet.addRow(["Total", null, null, { formula: "D8+D9" }]);
  total.eachCell((cell) => Object.assign(cell, { font: { bold: true }, border: { top: { style: "thin" }, bottom: { style: "double" } } }));
  total.getCell(4).numFmt = '#,##0.00 "€"';
  sheet.addImage(book.addImage({ base64: PNG, extension: "png" }), { tl: { col: 4.5, row: 1 }, ext: { width: 96, height: 96 } });
  sheet.getCell("A12").value = { text: "Terms of sale", hyperlink: "https://example.org/terms" };
  sheet.getCell("A13").note = "A comment";
  sheet.getCell("A13").value = "Commented";
  writeFileSync(join(folder, "js-invoice.xlsx"), Buffer.from(await book.xlsx.writeBuffer()));
}

async function plan() {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet("Plan", { views: [{ state: "frozen", xSplit: 1, ySplit: 1 }], properties: { defaultRowHeight: 18 } });
  sheet.columns = [{ header: "Task", key: "task", width: 24 }, { header: "Start", key: "start", width: 12, style: { numFmt: "d mmm" } }, { header: "End", key: "end", width: 12, style: { numFmt: "d mmm" } }, { header: "Days", key: "days" }, { header: "State", key: "state" }, { header: "Done", key: "done", style: { numFmt: "0%" } }];
  ["Dry dock", "Paint", "Engine", "Crew training", "Test sailing", "Opening"].forEach((task, n) => {
    const row = n + 2;
    sheet.addRow({ task, start: new Date(Date.UTC(2025, n, 1 + n * 3)), end: new Date(Date.UTC(2025, n, 12 + n * 3)), days: { formula: `C${row}-B${row}+1` }, state: { formula: `IF(F${row}=1,"done",IF(F${row}>0,"running","open"))` }, done: Math.max(0, 1 - n * 0.3) });
  });
  sheet.addRow({ task: "Sum", days: { formula: "SUM(D2:D7)" }, done: { formula: "AVERAGE(F2:F7)" } });
  sheet.addConditionalFormatting({ ref: "E2:E7", rules: [{ type: "containsText", operator: "containsText", text: "done", style: { fill: { type: "pattern", pattern: "solid", bgColor: { argb: "FFC6EFCE" } }, font: { color: { argb: "FF006100" } } } }] });
  sheet.addConditionalFormatting({ ref: "D2:D7", rules: [{ type: "top10", rank: 1, percent: false, bottom: false, style: { font: { bold: true, color: { argb: "FFAE2A1F" } } } }] });
  sheet.addConditionalFormatting({ ref: "F2:F7", rules: [{ type: "dataBar", cfvo: [{ type: "min" }, { type: "max" }], color: { argb: "FF0B6A5B" } }] });
  sheet.getRow(4).hidden = true;
  const table = book.addWorksheet("Table");
  table.addTable({ name: "Boats", ref: "B2", headerRow: true, totalsRow: true, style: { theme: "TableStyleMedium2", showRowStripes: true }, columns: [{ name: "Boat", totalsRowLabel: "Sum" }, { name: "Seats", totalsRowFunction: "sum" }, { name: "Year" }], rows: [["Alma", 120, 1998], ["Bris", 85, 2007], ["Cirrus", 240, 2021]] });
  book.addWorksheet("Secret", { state: "veryHidden" }).getCell("A1").value = "very hidden";
  writeFileSync(join(folder, "js-plan.xlsx"), Buffer.from(await book.xlsx.writeBuffer()));
}

async function deck() {
  const show = new PptxGenJS();
  show.layout = "LAYOUT_WIDE";
  show.defineSlideMaster({ title: "BRAND", background: { color: "FFFFFF" }, objects: [{ rect: { x: 0, y: 0, w: "100%", h: 0.5, fill: { color: "1D5A9E" } } }, { text: { text: "Harbour office", options: { x: 0.3, y: 0.05, w: 5, h: 0.4, color: "FFFFFF", fontSize: 14 } } }], slideNumber: { x: 12.4, y: 7.0, fontSize: 12 } });
  const first = show.addSlide({ masterName: "BRAND" });
  first.addText("Season report", { x: 1, y: 1, w: 11, h: 1, fontSize: 40, bold: true, color: "0B3A5B", align: "center" });
  first.addText([{ text: "Bullets ", options: { bullet: true, breakLine: true } }, { text: "indented", options: { bullet: true, indentLevel: 1, breakLine: true } }, { text: "numbered", options: { bullet: { type: "number" }, breakLine: true } }, { text: "numbered too", options: { bullet: { type: "number" } } }], { x: 1, y: 2.2, w: 5, h: 2.5, fontSize: 20 });
  first.addText([{ text: "Bold ", options: { bold: true } }, { text: "italic ", options: { italic: true } }, { text: "struck ", options: { strike: "sngStrike" } }, { text: "x" }, { text: "2", options: { superscript: true } }, { text: " red", options: { color: "AE2A1F" } }], { x: 7, y: 2.2, w: 5, h: 0.6, fontSize: 20 });
  first.addText("Upright", { x: 11.8, y: 3, w: 0.7, h: 2.5, vert: "vert270", fontSize: 20, fill: { color: "F2B233" } });
  first.addShape(show.ShapeType.line, { x: 7, y: 3.2, w: 4, h: 1, line: { color: "AE2A1F", width: 3, endArrowType: "triangle" } });
  first.addShape(show.ShapeType.line, { x: 7, y: 4.4, w: 4, h: 0, line: { color: "0B6A5B", width: 2, dashType: "dash" } });
  first.addShape(show.ShapeType.roundRect, { x: 7, y: 5, w: 2, h: 1, rotate: 15, fill: { color: "0B6A5B", transparency: 50 }, line: { color: "000000", width: 1 } });
  first.addImage({ data: `image/png;base64,${PNG}`, x: 1, y: 5, w: 1.5, h: 1.5, altText: "Two colours" });
  first.addNotes("Speak slowly.");
  const tables = show.addSlide({ masterName: "BRAND" });
  const head = { bold: true, fill: { color: "1D5A9E" }, color: "FFFFFF" };
  tables.addTable([
    [{ text: "Route", options: head }, { text: "Quarter 1", options: { ...head, colspan: 2, align: "center" } }],
    [{ text: "Norrvik", options: { rowspan: 2, valign: "middle" } }, "January", { text: "310", options: { align: "right" } }],
    ["February", { text: "420", options: { align: "right", fill: { color: "FCE4D6" } } }],
    ["Holm", "March", { text: "515", options: { align: "right", bold: true } }],
  ], { x: 1, y: 1, w: 11, colW: [4, 4, 3], border: { pt: 1, color: "808080" }, fontSize: 18, rowH: 0.6 });
  const plots = show.addSlide({ masterName: "BRAND" });
  const data = [{ name: "Norrvik", labels: ["May", "June", "July"], values: [310, 420, 515] }, { name: "Holm", labels: ["May", "June", "July"], values: [120, 180, 260] }];
  plots.addChart(show.ChartType.bar, data, { x: 0.5, y: 0.8, w: 6, h: 3, barDir: "bar", showLegend: true, legendPos: "b", showTitle: true, title: "Bars" });
  plots.addChart(show.ChartType.line, data, { x: 6.8, y: 0.8, w: 6, h: 3, showLegend: true, showTitle: true, title: "Lines", lineSmooth: true });
  plots.addChart(show.ChartType.pie, data.slice(0, 1), { x: 0.5, y: 4, w: 4, h: 3, showPercent: true, showLegend: true, chartColors: ["0B6A5B", "F2B233", "AE2A1F"] });
  plots.addChart(show.ChartType.radar, data, { x: 4.8, y: 4, w: 4, h: 3, radarStyle: "filled", showLegend: true });
  plots.addChart([{ type: show.ChartType.bar, data: data.slice(0, 1), options: { barGrouping: "clustered" } }, { type: show.ChartType.line, data: data.slice(1), options: { secondaryValAxis: true, secondaryCatAxis: true } }], { x: 9, y: 4, w: 4, h: 3, valAxes: [{ showValAxisTitle: false }, { showValAxisTitle: false }], catAxes: [{}, { catAxisHidden: true }] });
  await show.writeFile({ fileName: join(folder, "js-deck.pptx"), compression: true });
}

async function pitch() {
  const show = new PptxGenJS();
  show.layout = "LAYOUT_4x3";
  const dark = show.addSlide();
  dark.background = { color: "0B3A5B" };
  dark.addText("Dark ground, light text", { x: 0.5, y: 0.5, w: 9, h: 1, color: "F2F2F2", fontSize: 32, fontFace: "Georgia" });
  dark.addText("One line only that shrinks to fit", { x: 0.5, y: 1.8, w: 4, h: 0.6, color: "FFFFFF", fontSize: 18, fit: "shrink", shape: show.ShapeType.rect, fill: { color: "AE2A1F" } });
  dark.addText("Right\nand below", { x: 5.5, y: 1.8, w: 4, h: 1.6, align: "right", valign: "bottom", color: "FFFFFF", lineSpacing: 32, fontSize: 20, line: { color: "FFFFFF", width: 1 } });
  dark.addText("שלום עולם", { x: 0.5, y: 3, w: 4, h: 0.6, rtlMode: true, align: "right", color: "FFFFFF", fontSize: 20 });
  ["hexagon", "star5", "cloud", "wedgeRoundRectCallout", "leftArrow", "can", "cube", "plus", "donut", "flowChartDecision"].forEach((kind, n) => dark.addText(kind.slice(0, 6), { shape: kind, x: 0.4 + (n % 5) * 1.9, y: 4 + Math.floor(n / 5) * 1.6, w: 1.7, h: 1.3, fill: { color: "1D5A9E" }, line: { color: "F2B233", width: 1.5 }, color: "FFFFFF", fontSize: 12, align: "center" }));
  const hidden = show.addSlide();
  hidden.hidden = true;
  hidden.addText("A hidden slide", { x: 1, y: 1, w: 6, h: 1 });
  await show.writeFile({ fileName: join(folder, "js-pitch.pptx"), compression: true });
}

const { AlignmentType, Document, FootnoteReferenceRun, Footer, Header, HeadingLevel, ImageRun, LevelFormat, PageBreak, PageNumber, PageOrientation, Packer, Paragraph, ShadingType, Table, TableCell, TableOfContents, TableRow, TextRun, VerticalAlign, WidthType } = docx;
const cell = (text, more = {}) => new TableCell({ children: [new Paragraph(text)], ...more });

async function report() {
  const level = (at, format, text) => ({ level: at, format, text, alignment: AlignmentType.START, style: { paragraph: { indent: { left: 720 * (at + 1), hanging: 360 } } } });
  const numbered = (words, at) => new Paragraph({ text: words, numbering: { reference: "legal", level: at } });
  const file = new Document({
    numbering: { config: [{ reference: "legal", levels: [level(0, LevelFormat.DECIMAL, "%1."), level(1, LevelFormat.LOWER_LETTER, "%2)"), level(2, LevelFormat.LOWER_ROMAN, "%3.")] }] },
    footnotes: { 1: { children: [new Paragraph("Counted by hand at the quay.")] }, 2: { children: [new Paragraph("Without the night boats.")] } },
    sections: [
      {
        headers: { default: new Header({ children: [new Paragraph({ text: "Contract of carriage", alignment: AlignmentType.RIGHT })] }) },
        footers: { default: new Footer({ children: [new Paragraph({ alignment: AlignmentType.CENTER, children: [new TextRun({ children: ["Page ", PageNumber.CURRENT, " of ", PageNumber.TOTAL_PAGES] })] })] }) },
        children: [
          new Paragraph({ text: "Contract", heading: HeadingLevel.TITLE }),
          new Paragraph({ text: "Parties", heading: HeadingLevel.HEADING_1 }),
          new Paragraph({ children: [new TextRun("The harbour carries"), new FootnoteReferenceRun(1), new TextRun({ text: " 23,570 passengers", bold: true }), new FootnoteReferenceRun(2), new TextRun({ text: " a year.", italics: true, underline: {} })] }),
          numbered("The carrier", 0), numbered("owns the boats", 1), numbered("insures them", 1), numbered("against storm", 2), numbered("against fire", 2), numbered("The passenger", 0), numbered("pays", 1),
          new Paragraph({ text: "A bullet", bullet: { level: 0 } }), new Paragraph({ text: "a bullet below", bullet: { level: 1 } }),
          new Table({
            width: { size: 100, type: WidthType.PERCENTAGE },
            rows: [
              new TableRow({ tableHeader: true, children: [cell("Class", { shading: { fill: "1D5A9E", type: ShadingType.CLEAR } }), cell("Price and terms", { columnSpan: 2, shading: { fill: "DDEBF7", type: ShadingType.CLEAR } })] }),
              new TableRow({ children: [cell("First", { rowSpan: 2, verticalAlign: VerticalAlign.CENTER }), cell("45 €"), cell("with meal")] }),
              new TableRow({ children: [cell("40 €"), cell("without")] }),
              new TableRow({ children: [cell("Second"), cell("30 €"), cell("deck seat")] }),
            ],
          }),
          new Paragraph({ children: [new ImageRun({ type: "png", data: Buffer.from(PNG, "base64"), transformation: { width: 80, height: 80 } })] }),
          new Paragraph({ children: [new PageBreak()] }),
          new Paragraph({ text: "Signatures", heading: HeadingLevel.HEADING_2 }),
          new Paragraph({ children: [new TextRun({ text: "Small capitals", smallCaps: true }), new TextRun({ text: " ALL", allCaps: true }), new TextRun({ text: " wide", characterSpacing: 60 })] }),
        ],
      },
      { properties: { page: { size: { orientation: PageOrientation.LANDSCAPE } } }, children: [new Paragraph({ text: "Annex, landscape", heading: HeadingLevel.HEADING_1 }), new Paragraph({ text: "עברית מימין לשמאל", bidirectional: true })] },
    ],
  });
  writeFileSync(join(folder, "js-report.docx"), await Packer.toBuffer(file));
}

async function memo() {
  const file = new Document({
    features: { updateFields: true },
    styles: { default: { document: { run: { font: "Arial", size: 22 } }, heading1: { run: { color: "0B6A5B", size: 32, bold: true }, paragraph: { spacing: { before: 240, after: 120 } } } } },
    sections: [{
      children: [
        new TableOfContents("Contents", { hyperlink: true, headingStyleRange: "1-2" }),
        ...["Purpose", "Costs", "Dates"].flatMap((title, n) => [
          new Paragraph({ text: title, heading: HeadingLevel.HEADING_1 }),
          new Paragraph({ alignment: AlignmentType.JUSTIFIED, children: [new TextRun(`Part ${n + 1} says what has to be said about ${title.toLowerCase()}. `.repeat(4)), new TextRun({ text: "Marked", highlight: "yellow" }), new TextRun({ text: " note", color: "AE2A1F" })] }),
        ]),
        new Paragraph({ tabStops: [{ type: "right", position: 9000, leader: "dot" }], children: [new TextRun("Sum\t1,250 €")] }),
        new Paragraph({ indent: { left: 720 }, border: { left: { style: "single", size: 18, color: "F2B233", space: 8 } }, text: "A quotation with a bar at its side." }),
      ],
    }],
  });
  writeFileSync(join(folder, "js-memo.docx"), await Packer.toBuffer(file));
}

(async () => {
  for (const make of [invoice, plan, deck, pitch, report, memo]) await make();
})();
