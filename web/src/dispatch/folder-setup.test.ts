import { expect, it } from "vitest";
import { listPermissions, listPipelines } from "./folder-setup.ts";

it("lists the pipelines of a configuration once, without those that do not apply", () => {
  const keys = [
    "agents.a.backend",
    "pipelines.reviewed.stages",
    "pipelines.reviewed.x",
    'pipelines."two words".stages',
  ];
  const values = keys.map((key) => ({ key, applies: true }));
  expect(listPipelines([...values, { key: "pipelines.untrusted.stages", applies: false }])).toEqual([
    "reviewed",
    "two words",
  ]);
});

it("finds the permissions of agents, without those that do not apply", () => {
  const value = (key: string, policy: unknown, applies = true) => ({ key, value: policy, applies });
  const values = [
    value("agents.a.permissions", "all"),
    value('agents."b c".permissions', "read"),
    value("agents.d.permissions", "none", false),
    value("agents.e.model", "all"),
    value("agents.f.permissions", 7),
  ];
  expect([...listPermissions(values)]).toEqual([
    ["a", "all"],
    ["b c", "read"],
  ]);
});
