import { expect, it } from "vitest";
import type { BackendContext, PermissionPolicy } from "../../domain/index.ts";
import type { ReachableServer } from "../program/index.ts";
import { chooseDriveMode } from "./drive-mode.ts";

const SERVER: ReachableServer = { type: "http", name: "rookery", url: "http://127.0.0.1:1/mcp", headers: {} };

function way(
  permissions: PermissionPolicy,
  mode: string | undefined,
  servers: readonly ReachableServer[] = [],
): string {
  const context = { agent: { name: "it", mode } } as unknown as BackendContext;
  const { approval, headless } = chooseDriveMode({ context, servers }, permissions);
  return `${approval} ${headless ? "headless" : "acp"}`;
}

it.each([
  ["ask", undefined, "default acp"],
  ["ask", "default", "default acp"],
  ["ask", "auto_edit", "auto_edit acp"],
  ["ask", "yolo", "yolo headless"],
  ["ask", "plan", "plan headless"],
  ["all", undefined, "yolo headless"],
  ["all", "default", "yolo headless"],
  ["all", "plan", "plan headless"],
  ["read", undefined, "default acp"],
  ["read", "yolo", "default acp"],
  ["read", "plan", "plan headless"],
  ["none", "auto_edit", "default acp"],
] as const)("under %s in mode %s, uses %s", (permissions, mode, expected) => {
  expect(way(permissions, mode)).toBe(expected);
});

it("uses ACP if there are MCP servers, under any policy", () => {
  expect(way("all", undefined, [SERVER])).toBe("yolo acp");
  expect(way("ask", "plan", [SERVER])).toBe("plan acp");
});

it("lists the valid modes", () => {
  expect(() => way("ask", "reckless")).toThrow(/no mode "reckless"; valid modes: default, auto_edit, yolo, plan/);
});
