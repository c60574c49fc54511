import { expect, test } from "vitest";
import { fromForm, mayWriteProfile, parseProfile, problemOfId, problemsOf, profilesToStartWith, toForm } from "./profile";
import { scopeWords } from "./SettingsPage";

test("the form changes its own fields and keeps the rest of the profile", () => {
  const profile = { id: "p", skills: [{ name: "s" }], environmentVariables: { A: "1=2" } } as never;
  const form = toForm(profile);
  expect(form.environment).toEqual(["A=1=2"]);
  const changed = fromForm(profile, { ...form, name: "New", environment: [...form.environment, "B", ""] });
  expect(changed).toMatchObject({ id: "p", name: "New", skills: [{ name: "s" }], environmentVariables: { A: "1=2", B: "" } });
});

test("hosts, variables and ids are checked before they are sent", () => {
  const form = { ...toForm({}), egressAllow: ["example.com", "*.npmjs.org", "a.b:8443", "https://the npm registry", ""], environment: ["A=1", "FOO", "1X=2"] };
  expect(problemsOf(form).map((problem) => problem.split("”")[0])).toEqual(["“https://the npm registry", "“FOO", "“1X=2"]);
  expect([problemOfId("code-review.2"), problemOfId("-x") !== null, problemOfId("a b") !== null, problemOfId("") !== null]).toEqual([null, true, true, true]);
});

test("text that is no profile is refused with what is wrong", () => {
  expect(() => parseProfile("{")).toThrow("Not valid JSON");
  expect(() => parseProfile("[]")).toThrow("an object");
});

test("a project's token writes its own project's profiles, an administrator all", () => {
  const [wide, own, other] = [{ id: "p" }, { id: "p", projectId: "x" }, { id: "p", projectId: "y" }];
  const may = (scope: string) => [wide, own, other].map((profile) => mayWriteProfile(scope, profile));
  expect(["admin", "admin:ro", "project:x", "project:x:ro"].map(may)).toEqual([
    [true, true, true], [false, false, false], [false, true, false], [false, false, false],
  ]);
  expect(profilesToStartWith("admin", [wide, own, other])).toEqual([wide]);
  expect(profilesToStartWith("project:x", [wide, own])).toEqual([wide, own]);
});

test("a scope is said in words", () => {
  expect(["admin", "admin:ro", "project:x", "project:x:ro"].map(scopeWords)).toEqual([
    "Full access", "Read everything", "Work in project x", "Read project x",
  ]);
});
