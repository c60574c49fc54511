import { expect, test } from "vitest";
import { markTables } from "./tables";

const table = (look: string, row = "") => {
  const body = document.createElement("div");
  body.innerHTML = `<table class="${look}">${`<tr class="${row}"><td></td><td></td></tr>`.repeat(3)}</table>`;
  markTables(body);
  return [...body.querySelectorAll("tr")].map((one) => `${one.className}: ${[...one.cells].map((cell) => cell.className).join(" ")}`.trim());
};

test("rows and columns of a table get the parts of its style", () => {
  expect(table("first-row first-col no-vband")).toEqual(["first-row: first-col", "odd-row: first-col", "even-row: first-col"]);
});

test("table without bands has none", () => {
  expect(table("last-row no-hband no-vband")).toEqual([":", ":", "last-row:"]);
});

test("table whose rows are marked by the program that wrote it stays as it is", () => {
  expect(table("first-row no-vband", "odd-row")).toEqual(["odd-row:", "odd-row:", "odd-row:"]);
});
