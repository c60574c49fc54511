import { expect, test } from "vitest";
import { bytes, clock, cost, plural, short, span, when } from "./format";

test("sizes are read at a glance", () => {
  expect([0, 999, 14_336, 318_000, 1_400_000, 999_999_999].map(bytes)).toEqual([
    "0 B", "999 B", "14 KB", "318 KB", "1.4 MB", "1.0 GB",
  ]);
});

test("spans are a clock or words", () => {
  expect([0, 134_000, 3_849_000].map(clock)).toEqual(["0:00", "2:14", "1:04:09"]);
  expect([200, 12_400, 360_000].map(span)).toEqual(["0.2 s", "12 s", "6 min"]);
});

test("money and amounts", () => {
  expect([0, 0.001, 0.38, 74.219].map(cost)).toEqual(["$0.00", "< $0.01", "$0.38", "$74.22"]);
  expect([900, 37_700_000, 4_000].map(short)).toEqual(["900", "37.7 M", "4 k"]);
  expect([plural(1, "file"), plural(1234, "file")]).toEqual(["1 file", "1,234 files"]);
});

test("a time is said as shortly as the day allows", () => {
  const now = new Date(2026, 10, 15, 14, 0).getTime();
  expect(when(new Date(2026, 10, 15, 9, 5).getTime(), now)).toBe("09:05");
  expect(when(new Date(2026, 10, 14, 23, 59).getTime(), now)).toBe("Sat");
  expect(when(new Date(2026, 9, 3).getTime(), now)).toBe("3 Oct");
  expect(when(new Date(2026, 10, 16, 9, 5).getTime(), now)).toBe("Mon");
  expect(when(new Date(2026, 11, 15, 9, 5).getTime(), now)).toBe("15 Dec");
  expect(when(new Date(2027, 10, 15).getTime(), now)).toBe("15 Nov 2027");
});
