import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LLMock } from "@copilotkit/aimock";
import { expect, it } from "vitest";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../src/testing/index.ts";

const MAIN = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));
const KEY = "fake-key-of-a-test";

/** The models, with the environment variables for key and URL that the provider's own programs use. */
const PROVIDERS: [model: string, variables: (url: string) => Record<string, string>][] = [
  ["anthropic/claude-sonnet-5", (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url })],
  ["openai/gpt-5.4", (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` })],
  ["google/gemini-2.5-pro", (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url })],
  ["openrouter/qwen/qwen3-coder", (url) => ({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: `${url}/v1` })],
];

it.each(PROVIDERS)("runs a turn with a tool on %s against an independent mock of its API", async (model, variables) => {
  await using home = await temporaryFolder();
  await using repository = await temporaryRepository({ "hello.txt": "the text of the file\n" });
  const mock = new LLMock({ port: 0 });
  mock.addFixture({
    match: { userMessage: "Read it", hasToolResult: false },
    response: { toolCalls: [{ name: "read", arguments: JSON.stringify({ path: "hello.txt" }) }] },
  });
  mock.addFixture({ match: { userMessage: "Read it", hasToolResult: true }, response: { content: "It says hello." } });
  await mock.start();
  try {
    const env = builtEnvironment({ home: home.path, extra: variables(mock.url) });
    const { code, stdout, stderr } = await run(["run", "Read it", "--model", model], { cwd: repository.path, env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain("It says hello.");
    const requests = mock.getRequests().map(({ body }) => JSON.stringify(body));
    expect(requests).toHaveLength(2);
    expect(requests[1]).toContain("the text of the file");
  } finally {
    await mock.stop();
  }
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], options: { cwd: string; env: Record<string, string> }): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
