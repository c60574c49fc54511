import { expect, test } from "vitest";
import { breakSections, type Body } from "./sections";

const BREAK = { type: "run", children: [{ type: "break", break: "page" }] };

test("section ends with a page break, unless the next one continues its page", () => {
  const body: Body = { children: [{ type: "paragraph" }, { type: "paragraph", children: [], sectionProps: {} }, { type: "paragraph", sectionProps: { type: "nextPage" } }, { type: "paragraph" }], props: { type: "continuous" } };
  breakSections(body);
  expect(body.children!.map((one) => one.children)).toEqual([undefined, [BREAK], undefined, undefined]);
});

test("section that ends with a page break of its own gets no second one", () => {
  const body: Body = { children: [{ type: "paragraph", children: [BREAK], sectionProps: {} }], props: {} };
  breakSections(body);
  expect(body.children![0]!.children).toEqual([BREAK]);
});
