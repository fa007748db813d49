import { expect, it } from "vitest";
import { displayWidth } from "../display-width.ts";
import { formatServerTable, type ServerRow } from "./list.ts";

const nothing = { tools: [], prompts: [], resources: [] };
const servers: ServerRow[] = [
  {
    ...nothing,
    name: "files",
    status: "ready",
    source: ".mcp.json",
    file: "/r/.mcp.json",
    reached: "npx -y @modelcontextprotocol/server-filesystem /home/someone/a/long/path",
    tools: ["read", "write"],
  },
  {
    ...nothing,
    name: "hub",
    status: "failed",
    source: "user",
    file: "/u/rookery.toml",
    reached: "https://hub.example/mcp",
    reason: "connection refused",
  },
];

it.each([60, 80, 120])("fits %i columns with one line per server", (width) => {
  const lines = formatServerTable(servers, width).trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines.filter((line) => displayWidth(line) > width)).toEqual([]);
  expect(lines[2]).toBe("    connection refused");
});

it("prints everything into a pipe", () => {
  expect(formatServerTable(servers)).toContain("server-filesystem /home/someone/a/long/path");
});
