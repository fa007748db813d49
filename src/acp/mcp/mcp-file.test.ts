import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../testing/index.ts";
import { parseMcpFile, readMcpFile } from "./mcp-file.ts";

it("returns the servers of a file as ACP declarations", () => {
  const text = JSON.stringify({
    mcpServers: {
      files: { command: "npx", args: ["-y", "files"], env: { A: "$TOKEN" }, disabled: false },
      web: { url: "https://web.invalid/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
      old: { type: "sse", url: "https://old.invalid/sse" },
    },
  });
  expect(parseMcpFile(text, ".mcp.json", { TOKEN: "s3cret" })).toEqual([
    { name: "files", command: "npx", args: ["-y", "files"], env: [{ name: "A", value: "s3cret" }] },
    {
      type: "http",
      name: "web",
      url: "https://web.invalid/mcp",
      headers: [{ name: "Authorization", value: "Bearer s3cret" }],
    },
    { type: "sse", name: "old", url: "https://old.invalid/sse", headers: [] },
  ]);
});

it("reads a file and refuses one with an unset variable", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, ".mcp.json");
  await writeFile(file, '{"mcpServers":{"a":{"command":"$PROGRAM"}}}');
  expect(await readMcpFile(file, { PROGRAM: "c" })).toEqual([{ name: "a", command: "c", args: [], env: [] }]);
  await expect(readMcpFile(file, {})).rejects.toMatchObject({
    code: "config_invalid",
    message: `${file}: mcpServers.a.command: the environment variable PROGRAM is not set`,
  });
});
