import { expect, it } from "vitest";
import type { AgentSpec } from "../domain/index.ts";
import { checkReadiness } from "./readiness.ts";

const here = { env: { PATH: "/nowhere" }, cwd: "/" };
const spec: AgentSpec = {
  name: "it",
  backend: "api",
  model: "anthropic/claude",
  permissions: undefined,
  prompts: [],
  command: undefined,
};

it("reports an agent with a key in its own environment as ready", () => {
  expect(checkReadiness(spec, here)).toMatchObject({ ready: false });
  expect(checkReadiness({ ...spec, env: { ANTHROPIC_API_KEY: "fake" } }, here)).toEqual({ ready: true });
});

it("reports an agent with a login in its own environment as ready", () => {
  const claude = { ...spec, backend: "claude-code", command: ["/bin/sh"] } as const;
  const home = { ...here, env: { ...here.env, HOME: "/nowhere" } };
  expect(checkReadiness(claude, home)).toMatchObject({ ready: false });
  expect(checkReadiness({ ...claude, env: { CLAUDE_CODE_OAUTH_TOKEN: "fake" } }, home)).toEqual({ ready: true });
});
