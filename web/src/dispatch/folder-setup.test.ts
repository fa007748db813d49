import { expect, it } from "vitest";
import { listPipelines } from "./folder-setup.ts";

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
