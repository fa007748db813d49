import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../domain/index.ts";
import { checkReadiness, withReadyDefault } from "./readiness.ts";

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

describe("the default agent", () => {
  const agent = (name: string, model: string) => [name, { ...spec, name, model }] as const;
  const config = (agents: readonly (readonly [string, AgentSpec])[], agentChosen = false) => ({
    agents: new Map(agents),
    defaults: { agent: agents[0]?.[0] ?? "", agentChosen },
    providers: undefined,
  });
  const agents = [agent("a", "anthropic/x"), agent("o", "openai/x"), agent("g", "google/x")] as const;
  const withKey = (name: string) => ({ ...here, env: { ...here.env, [name]: "fake" } });

  it("is the first one that is ready", () => {
    expect(withReadyDefault(config(agents), withKey("OPENAI_API_KEY")).defaults.agent).toBe("o");
    expect(withReadyDefault(config(agents), withKey("ANTHROPIC_API_KEY")).defaults.agent).toBe("a");
  });

  it("is the chosen one, even if it is not ready, and the first one if none is", () => {
    expect(withReadyDefault(config(agents, true), withKey("OPENAI_API_KEY")).defaults.agent).toBe("a");
    expect(withReadyDefault(config(agents), here).defaults.agent).toBe("a");
  });
});
