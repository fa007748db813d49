import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../testing/index.ts";
import { parseServerFile, readServerFile } from "./file.ts";

const ENV = { HOME_OF: "/opt/tools", TOKEN: "s3cret", EMPTY: "", NESTED: "$TOKEN", WORKSPACE: "elsewhere" };

it("reads commands and URLs", () => {
  const text = JSON.stringify({
    mcpServers: {
      files: { command: "npx", args: ["-y", "files"], env: { A: "1" }, disabled: false },
      plain: { type: "stdio", command: "/bin/plain" },
      web: { type: "http", url: "https://web.invalid/mcp", headers: { Authorization: "Bearer x" } },
      old: { type: "sse", url: "https://old.invalid/sse" },
      untyped: { url: "https://untyped.invalid/mcp" },
    },
    other: "is someone else's",
  });
  expect(parseServerFile(text, ".mcp.json", { env: ENV })).toEqual([
    { type: "stdio", name: "files", command: "npx", args: ["-y", "files"], env: { A: "1" } },
    { type: "stdio", name: "plain", command: "/bin/plain", args: [], env: {} },
    { type: "http", name: "web", url: "https://web.invalid/mcp", headers: { Authorization: "Bearer x" } },
    { type: "sse", name: "old", url: "https://old.invalid/sse", headers: {} },
    { type: "http", name: "untyped", url: "https://untyped.invalid/mcp", headers: {} },
  ]);
});

it.each([
  ["$HOME_OF/bin", "/opt/tools/bin"],
  ["${HOME_OF}/bin", "/opt/tools/bin"],
  ["$TOKEN$TOKEN", "s3crets3cret"],
  ["${NOT_THERE:-otherwise}", "otherwise"],
  ["${EMPTY:-otherwise}", "otherwise"],
  ["a${EMPTY}b", "ab"],
  ["$NESTED", "$TOKEN"],
  ["$WORKSPACE/${WORKSPACE}", "/project//project"],
  ["costs 5$, or $1, or $$", "costs 5$, or $1, or $"],
  ["$$TOKEN and $${TOKEN}", "$TOKEN and ${TOKEN}"],
])("expands variables in %s", (arg, expanded) => {
  const text = JSON.stringify({ mcpServers: { s: { command: "c", args: [arg] } } });
  expect(parseServerFile(text, "f", { cwd: "/project", env: ENV })).toMatchObject([{ args: [expanded] }]);
});

it("expands variables in commands, environments, URLs and headers", () => {
  const text = JSON.stringify({
    mcpServers: {
      a: { command: "$HOME_OF/a", env: { K: "${TOKEN}" } },
      b: { url: "https://${HOST:-b.invalid}/", headers: { Authorization: "Bearer $TOKEN" } },
    },
  });
  expect(parseServerFile(text, "f", { env: ENV })).toMatchObject([
    { command: "/opt/tools/a", env: { K: "s3cret" } },
    { url: "https://b.invalid/", headers: { Authorization: "Bearer s3cret" } },
  ]);
});

it.each([
  ["{", "f.json: not valid JSON"],
  ['{"mcpServers":{"__proto__":{"command":"c"}}}', "__proto__"],
  ["[]", "f.json: "],
  ["{}", "f.json: mcpServers:"],
  ['{"mcpServers":[]}', "f.json: mcpServers:"],
  ['{"mcpServers":{"a":3}}', "f.json: mcpServers.a:"],
  ['{"mcpServers":{"a":{}}}', "f.json: mcpServers.a: needs either command or url"],
  ['{"mcpServers":{"a":{"command":"c","url":"u"}}}', "f.json: mcpServers.a: needs either command or url"],
  ['{"mcpServers":{"a":{"command":7}}}', "f.json: mcpServers.a.command:"],
  ['{"mcpServers":{"a":{"command":"c","args":["x",1]}}}', "f.json: mcpServers.a.args.1:"],
  ['{"mcpServers":{"a":{"command":"c","env":{"K":1}}}}', "f.json: mcpServers.a.env.K:"],
  ['{"mcpServers":{"a":{"type":"http","command":"c"}}}', "f.json: mcpServers.a.type:"],
  ['{"mcpServers":{"a":{"type":"ws","url":"ws://a"}}}', "f.json: mcpServers.a.type:"],
  ['{"mcpServers":{"a":{"url":"not an address"}}}', "f.json: mcpServers.a.url:"],
  ['{"mcpServers":{"a":{"command":"$NOT_THERE"}}}', "f.json: mcpServers.a.command: the environment variable NOT_THERE"],
  ['{"mcpServers":{"a":{"command":"$toString"}}}', "the environment variable toString"],
  [
    '{"mcpServers":{"a":{"url":"http://a","headers":{"K":"${NOT_THERE}"}}}}',
    "f.json: mcpServers.a.headers.K: the environment variable NOT_THERE",
  ],
])("rejects %s with config_invalid and a clear message", (text, message) => {
  expect(() => parseServerFile(text, "f.json", { env: ENV })).toThrow(
    expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(message) as unknown }) as Error,
  );
});

it("reads a file, and names a file that it cannot read", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, ".mcp.json");
  await expect(readServerFile(file, {})).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining(file) as unknown,
  });
  await writeFile(file, '{"mcpServers":{"a":{"command":"c"}}}');
  expect(await readServerFile(file, {})).toEqual([{ type: "stdio", name: "a", command: "c", args: [], env: {} }]);
});
