import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isRookeryError } from "../domain/errors.ts";
import { loadConfig } from "./load.ts";
import { trust, trustState } from "./trust.ts";

/** For a longer run: `ROOKERY_FUZZ=2000 npx vitest run src/config/mutated-files.test.ts`. */
const ROUNDS = Number(process.env["ROOKERY_FUZZ"] ?? 60);
const TOML = `[defaults]
agent = "x"
[agents.x]
backend = "command"
command = ["true", "{prompt}"]
env = { A = "b" }
[mcp.m]
command = ["true"]
[providers.p]
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
[worktree]
copy = [".env"]
`;
const JSON_TEXT = JSON.stringify({
  mcpServers: { a: { command: "true", args: ["x"], env: { A: "$B" } }, b: { url: "http://x" } },
});
const PIECES = [
  "\0",
  "\u{1F426}",
  '"',
  "[",
  "{",
  "]",
  "}",
  "=",
  ".",
  "__proto__",
  "constructor",
  "\n",
  "1e999",
  "-0",
  "null",
  "'''",
  "\\u0000",
  "[".repeat(500),
];

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "rookery-mutated-")));
  await mkdir(join(folder, "repo/.git"), { recursive: true });
  await writeFile(join(folder, "repo/.git/HEAD"), "");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Mulberry32: the same seed creates the same mutations. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function mutated(text: string, random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  let bytes = Buffer.from(text);
  for (let count = 1 + below(4); count > 0; count -= 1) {
    const at = below(bytes.length + 1);
    const end = Math.min(bytes.length, at + below(12));
    const piece = random() < 0.2 ? Buffer.from([below(256)]) : Buffer.from(PIECES[below(PIECES.length)] ?? "");
    bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(random() < 0.5 ? at : end)]);
  }
  return bytes;
}

it("accepts or rejects mutated rookery.toml and .mcp.json files, and never fails otherwise", async () => {
  const repo = join(folder, "repo");
  const env = { HOME: folder, ROOKERY_HOME: join(folder, "state") };
  for (let seed = 1; seed <= ROUNDS; seed += 1) {
    const random = randomFrom(seed);
    await writeFile(join(repo, "rookery.toml"), mutated(TOML, random));
    await writeFile(join(repo, ".mcp.json"), mutated(JSON_TEXT, random));
    for (const use of [
      () => trustState(repo, env),
      () => trust(repo, env),
      () => loadConfig({ cwd: repo, env, trust: "leave_out" }),
      () => loadConfig({ cwd: repo, env, trust: "assume" }),
    ]) {
      const failure = await use().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure === undefined || isRookeryError(failure), `seed ${seed}: ${String(failure)}`).toBe(true);
    }
  }
});
