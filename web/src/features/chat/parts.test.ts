import { expect, it } from "vitest";
import { kindOfFile, partsOf } from "./parts";

it("shows attachments as attachments, whatever the agent made of them", () => {
  expect(partsOf("Chart it\n[file /user-input/a b.csv]\n[file /user-input/c.png]")).toEqual([{ text: "Chart it" }, { file: "/user-input/a b.csv" }, { file: "/user-input/c.png" }]);
  expect(partsOf([{ text: "x" }, { file: "y.csv" }])).toEqual([{ text: "x" }, { file: "y.csv" }]);
  expect(partsOf("[file /user-input/only.csv]")).toEqual([{ file: "/user-input/only.csv" }]);
  expect(partsOf("see [file name] here")).toEqual([{ text: "see [file name] here" }]);
});

it("names the kind of a file", () => {
  expect([kindOfFile("/user-input/a.csv"), kindOfFile("Makefile")]).toEqual(["CSV file", "File"]);
});
