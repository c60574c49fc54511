import { expect, test } from "vitest";
import { findAll, placeOf } from "./find";

const PAGES = [["Harbour ", "report"], ["Load by hour. ", "HARB", "OUR İ dues"]];

test("search finds a text in any case, also where it spans pieces of a page", () => {
  expect(findAll(PAGES, "harbour")).toEqual([{ page: 1, from: 0, to: 7 }, { page: 2, from: 14, to: 21 }]);
  expect(findAll(PAGES, "r r")).toEqual([{ page: 1, from: 6, to: 9 }]);
});

test("search for nothing finds nothing", () => {
  expect(findAll(PAGES, "  ")).toEqual([]);
  expect(findAll(PAGES, "ferry")).toEqual([]);
});

test("character whose lower case is longer does not shift later matches", () => {
  expect(findAll(PAGES, "dues")).toEqual([{ page: 2, from: 24, to: 28 }]);
});

test("range of a match is mapped to the pieces that hold it", () => {
  const [, match] = findAll(PAGES, "harbour");
  expect(placeOf(PAGES[1]!, match!.from, false)).toEqual({ piece: 1, offset: 0 });
  expect(placeOf(PAGES[1]!, match!.to, true)).toEqual({ piece: 2, offset: 3 });
  expect(placeOf(PAGES[1]!, 999, false)).toBeNull();
});
