/** The reference server of the MCP project, over both transports. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpServerSpec } from "../domain/index.ts";
import { startGroup, type ProcessGroup } from "../stdx/index.ts";
import { EVERYTHING, openTestServers, type TestServers, type TestServersOptions } from "./test-servers.ts";

const sample = async (): Promise<{ model: string; text: string }> => ({ model: "scripted", text: "sampled words" });

let http: ProcessGroup;
let url: string;
const home = mkdtempSync(join(tmpdir(), "rookery-everything-"));

beforeAll(async () => {
  const port = await freePort();
  const env = { PATH: process.env["PATH"], HOME: home, PORT: String(port) };
  http = await startGroup(process.execPath, [EVERYTHING, "streamableHttp"], {
    cwd: home,
    env,
    marker: "test-everything",
  });
  const up = new Promise<void>((resolve) =>
    http.child.stderr?.on("data", (text) => /listening/i.test(String(text)) && resolve()),
  );
  http.child.stdout?.resume();
  url = `http://127.0.0.1:${port}/mcp`;
  await up;
});

afterAll(async () => {
  await http[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const ways: [string, () => McpServerSpec][] = [
  ["stdio", () => ({ type: "stdio", name: "every", command: process.execPath, args: [EVERYTHING, "stdio"], env: {} })],
  ["streamable HTTP", () => ({ type: "http", name: "every", url, headers: {} })],
];

describe.each(ways)("server-everything over %s", (_, spec) => {
  const open = async (options: TestServersOptions = {}): Promise<TestServers> => {
    const s = openTestServers([spec()], { sample, ...options });
    await s.ready();
    return s;
  };

  it("lists its tools, prompts, resources and templates", async () => {
    await using s = await open();
    await vi.waitFor(() => expect(s.state().prompts.length).toBeGreaterThan(2));
    await vi.waitFor(() => expect(s.state().resources.some(({ isTemplate }) => isTemplate)).toBe(true));
    expect(s.state().instructions).toBeTruthy();
    expect(await s.call("every__echo", { message: "hi" })).toMatchObject({ outcome: "ok", text: "Echo: hi" });
    const signal = AbortSignal.timeout(10_000);
    const plain = s.state().resources.find(({ isTemplate }) => !isTemplate)!;
    expect((await s.servers.readResource("every", plain.uri, { signal })).length).toBeGreaterThan(0);
    const parts = await s.servers.getPrompt("every", "args-prompt", { args: { city: "Oslo", state: "none" }, signal });
    expect(JSON.stringify(parts)).toContain("Oslo");
    await expect(s.servers.getPrompt("every", "nothing", { signal })).rejects.toMatchObject({ code: "mcp_failed" });
  });

  it("reports progress and keeps structured content and images", async () => {
    await using s = await open();
    const seen: string[] = [];
    const progress = (text: string): void => void seen.push(text);
    const long = await s.call("every__trigger-long-running-operation", { duration: 0.5, steps: 4 }, { progress });
    expect(long).toMatchObject({ outcome: "ok" });
    expect(seen).toContain("1 of 4");
    const weather = await s.call("every__get-structured-content", { location: "New York" });
    expect(weather).toMatchObject({ outcome: "ok", structured: { conditions: expect.any(String) } });
    const image = await s.call("every__get-tiny-image");
    expect(image.blobs).toMatchObject([{ mediaType: "image/png" }]);
  });

  it("asks with forms and pages, samples, and receives the root", async () => {
    await using s = await open({
      answer: async ({ url: page }) =>
        page === undefined ? { action: "accept", content: { name: "Ada" } } : { action: "accept" },
    });
    const named = (tool: string): Promise<unknown> =>
      vi.waitFor(() => expect(s.state().tools.some(({ name }) => name === `every__${tool}`)).toBe(true));
    await named("trigger-elicitation-request"); // added later, with list_changed
    expect((await s.call("every__trigger-elicitation-request")).text).toContain("Ada");
    const visit = await s.call("every__trigger-url-elicitation", { url: "https://example.com/x", errorPath: true });
    expect(visit.text).toContain("User completed the URL elicitation flow");
    expect(s.questions.map(({ url: page }) => page)).toEqual([
      undefined,
      "https://modelcontextprotocol.io",
      "https://example.com/x",
    ]);
    expect((await s.call("every__trigger-sampling-request", { prompt: "p", maxTokens: 9 })).text).toContain(
      "sampled words",
    );
    expect((await s.call("every__get-roots-list")).text).toContain(pathToFileURL(s.folder).href);
  });

  it("lists its resources again after a change notification", async () => {
    await using s = await open();
    await vi.waitFor(() => expect(s.state().resources.length).toBeGreaterThan(0));
    const before = s.state().resources.length;
    const data = "data:text/plain;base64,aGVsbG8=";
    const zipped = await s.call("every__gzip-file-as-resource", { name: "hello.gz", data, outputType: "resourceLink" });
    expect(zipped).toMatchObject({ outcome: "ok" });
    await vi.waitFor(() => expect(s.state().resources.length).toBeGreaterThan(before));
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
