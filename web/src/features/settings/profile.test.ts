import { expect, test } from "vitest";
import { fromForm, parseProfile, toForm } from "./profile";
import { scopeWords } from "./SettingsPage";

test("the form changes its own fields and keeps the rest of the profile", () => {
  const profile = { id: "p", skills: [{ name: "s" }], environmentVariables: { A: "1=2" } } as never;
  const form = toForm(profile);
  expect(form.environment).toEqual(["A=1=2"]);
  const changed = fromForm(profile, { ...form, name: "New", environment: [...form.environment, "B", ""] });
  expect(changed).toMatchObject({ id: "p", name: "New", skills: [{ name: "s" }], environmentVariables: { A: "1=2", B: "" } });
});

test("text that is no profile is refused with what is wrong", () => {
  expect(() => parseProfile("{")).toThrow("not JSON yet");
  expect(() => parseProfile("[]")).toThrow("an object");
});

test("a scope is said in words", () => {
  expect(["admin", "admin:ro", "project:x", "project:x:ro"].map(scopeWords)).toEqual([
    "may do everything", "may read everything", "may work in project x", "may read project x",
  ]);
});
