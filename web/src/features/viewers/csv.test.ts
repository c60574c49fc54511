import { expect, test } from "vitest";
import { parseCsv, separatorOf } from "./csv";

test("quotes, commas and line ends inside quotes belong to the cell", () => {
  expect(parseCsv('a,"b, ""c""\nd",\r\n1,2,3', ",")).toEqual([["a", 'b, "c"\nd', ""], ["1", "2", "3"]]);
  expect(parseCsv("a\n\nb\n", ",")).toEqual([["a"], [""], ["b"]]);
  expect(parseCsv("a\nb\nc\n", ",", 2)).toEqual([["a"], ["b"]]);
});

test("the separator is what the first line uses", () => {
  expect(separatorOf("x.csv", "a;b;c,d\n")).toBe(";");
  expect(separatorOf("x.tsv", "a,b")).toBe("\t");
  expect(separatorOf("x.csv", "just one")).toBe(",");
});
