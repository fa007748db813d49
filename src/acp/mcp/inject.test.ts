import { expect, it } from "vitest";
import { injectServers } from "./inject.ts";

const OURS = { name: "tools", command: "/bin/tools", args: [], env: [] };

it("appends servers to the given ones and keeps everything else", () => {
  const theirs = { type: "_custom", name: "theirs", extra: { deep: true } };
  const params = { cwd: "/project", mcpServers: [theirs], _meta: { kept: 1 } };
  expect(injectServers(params, [OURS])).toEqual({ cwd: "/project", mcpServers: [theirs, OURS], _meta: { kept: 1 } });
  expect(params.mcpServers).toEqual([theirs]);
});

it("adds servers if none were given", () => {
  expect(injectServers({ sessionId: "s" }, [OURS])).toEqual({ sessionId: "s", mcpServers: [OURS] });
});

it("renames a server whose name is taken", () => {
  const mcpServers = [{ name: "tools" }, { name: "tools-2" }];
  expect(injectServers({ mcpServers }, [OURS])).toEqual({ mcpServers: [...mcpServers, { ...OURS, name: "tools-3" }] });
});

it.each([[undefined], [null], ["text"], [[]]])("leaves %j to the agent to refuse", (params) => {
  expect(injectServers(params, [OURS])).toBe(params);
});
