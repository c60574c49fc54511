import { expect, it } from "vitest";
import { Follow, Heights } from "./virtual";

const keys = (n: number) => Array.from({ length: n }, (_, i) => `k${i}`);

it("knows where rows stand, measured or guessed", () => {
  const heights = new Heights(30);
  heights.setKeys(keys(4));
  expect([heights.top(2), heights.total]).toEqual([60, 120]);
  expect(heights.measure("k1", 100)).toBe(70);
  expect([heights.top(1), heights.top(2), heights.total]).toEqual([30, 130, 190]);
  expect([heights.at(0), heights.at(29), heights.at(30), heights.at(129), heights.at(1e9)]).toEqual([0, 0, 1, 1, 3]);
});

it("keeps heights by key when rows come and go", () => {
  const heights = new Heights(30);
  heights.setKeys(["a", "b", "c"]);
  heights.measure("b", 50);
  heights.setKeys(["a", "x", "b"]);
  expect([heights.top(2), heights.total]).toEqual([60, 110]);
  heights.forget();
  expect(heights.total).toBe(90);
});

it("draws what is in view and a little more, and never too much", () => {
  const heights = new Heights(30);
  heights.setKeys(keys(10_000));
  expect(heights.window(3000, 600, 120)).toEqual({ from: 85, to: 136 });
  expect(heights.window(0, 60_000, 120)).toEqual({ from: 0, to: 120 });
  expect(new Heights(30).window(0, 600, 120)).toEqual({ from: 0, to: 0 });
});

it("leaves alone what still fills the view", () => {
  const heights = new Heights(30);
  heights.setKeys(keys(1000));
  const { from, to } = heights.window(3000, 600, 120);
  expect(heights.covers(from, to, 3000, 600)).toBe(true);
  expect(heights.covers(from, to, 3100, 600)).toBe(true);
  expect(heights.covers(from, to, 3600, 600)).toBe(false);
  expect(heights.covers(from, to, 2400, 600)).toBe(false);
  expect(heights.covers(0, 10, 0, 600)).toBe(false);
});

it("stops following at once, and follows again only at the end", () => {
  const follow = new Follow();
  follow.moved(20, true);
  expect(follow.following).toBe(false);
  follow.moved(200, false);
  expect(follow.following).toBe(false);
  follow.moved(60, false);
  expect(follow.following).toBe(true);
  follow.detach();
  expect(follow.following).toBe(false);
});

it("says by how much a row moved when others came before it", () => {
  const heights = new Heights(30);
  heights.setKeys(["a", "b"]);
  heights.measure("x", 100);
  expect(heights.setKeys(["x", "y", "a", "b"], "b")).toBe(130);
  expect(heights.setKeys(["x", "a", "b", "c"], "a")).toBe(-30);
  expect(heights.setKeys(["c"], "a")).toBe(0);
});
