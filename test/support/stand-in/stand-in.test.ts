import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtEnvironment, temporaryFolder, type TemporaryFolder } from "../../../src/testing/index.ts";

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const HEAD = { program: "p", version: "1", recorded: "2026-01-01", toml: "" };

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

/** Starts a program of this folder, writes the lines and ends its input. */
async function run(args: readonly string[], lines: readonly unknown[] = [], signal?: NodeJS.Signals) {
  const env = builtEnvironment({ home: folder.path });
  const child = spawn(process.execPath, args, { cwd: folder.path, env });
  child.stdin.on("error", () => undefined);
  if (signal !== undefined) child.stdout.once("data", () => child.kill(signal));
  child.stdin.write(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  if (signal === undefined) child.stdin.end();
  const ended = new Promise<{ code: number | null; by: string | null }>((resolve) => {
    child.once("close", (code, by) => resolve({ code, by }));
  });
  const [out, err, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { out: out.split("\n").filter((line) => line !== ""), err, ...end };
}

/** Replays these steps for these input lines. */
async function play(steps: readonly object[], lines: readonly unknown[], args: readonly string[] = ["go"]) {
  const recording = join(folder.path, "recording.ndjson");
  await writeFile(recording, [HEAD, ...steps].map((step) => `${JSON.stringify(step)}\n`).join(""));
  await mkdir(join(folder.path, "played"), { recursive: true });
  return run([script("main.mjs"), join(folder.path, "played"), recording, ...args], lines);
}

const said = (message: object) => ({ dir: "in", line: JSON.stringify(message) });
const says = (message: object) => ({ dir: "out", line: JSON.stringify(message) });
const ENDS = { dir: "exit", code: 3, signal: null };

describe("a stand-in", () => {
  it("replays the output with the values of this run, and exits as recorded", async () => {
    const steps = [
      { dir: "argv", args: ["go", "--session=recorded-session"] },
      said({ id: 1, method: "begin", params: { name: "recorded-name" } }),
      says({ id: 1, result: { name: "recorded-name", place: "/scene/work/a", session: "recorded-session" } }),
      ENDS,
    ];
    const begin = { id: 70, method: "begin", params: { name: "another-name" } };
    const { out, code } = await play(steps, [begin], ["go", "--session=another-session"]);
    const result = { name: "another-name", place: join(folder.path, "a"), session: "another-session" };
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([{ id: 70, result }]);
    expect(code).toBe(3);
  });

  it("accepts input in another order, and waits for all of it", async () => {
    const steps = [{ dir: "argv", args: ["go"] }, said({ type: "a" }), said({ type: "b" }), says({ type: "c" }), ENDS];
    expect((await play(steps, [{ type: "b" }, { type: "a" }])).out).toEqual(['{"type":"c"}']);
  });

  it("rejects unrecorded input and unrecorded arguments", async () => {
    const steps = [{ dir: "argv", args: ["go"] }, said({ type: "a" }), says({ type: "c" }), ENDS];
    expect(await play(steps, [{ type: "other" }])).toMatchObject({ code: 70, out: [] });
    expect(await play(steps, [], ["--other"])).toMatchObject({ code: 70, err: expect.stringContaining("--other") });
  });

  it.each([
    [
      { id: 0, result: { decision: "decline" } },
      { id: 0, result: { decision: "accept" } },
    ],
    [
      { id: 0, result: { outcome: { outcome: "selected", optionId: "reject" } } },
      { id: 0, result: { outcome: { outcome: "selected", optionId: "once" } } },
    ],
    [
      { type: "control_response", response: { subtype: "success", response: { behavior: "deny" } } },
      { type: "control_response", response: { subtype: "success", response: { behavior: "allow" } } },
    ],
  ])("rejects an answer with another decision than the recorded one: %j", async (recorded, otherwise) => {
    const steps = [{ dir: "argv", args: ["go"] }, said(recorded), { dir: "argv", args: ["go"] }, said(recorded), ENDS];
    const { code, err } = await play(steps, [otherwise]);
    expect({ code, err }).toEqual({ code: 70, err: expect.stringContaining("unexpected input") as string });
    expect((await play(steps, [recorded])).code).toBe(3);
  });

  it("replays each launch once", async () => {
    const steps = [1, 2].flatMap((launch) => [{ dir: "argv", args: ["go"] }, says({ launch }), ENDS]);
    expect((await play(steps, [])).out).toEqual(['{"launch":1}']);
    expect((await play(steps, [])).out).toEqual(['{"launch":2}']);
    expect((await play(steps, [])).code).toBe(70);
  });
});

describe("the tee", () => {
  const ECHO = `process.stdin.pipe(process.stdout); process.on("SIGTERM", () => process.exit(5)); console.error("up");`;
  const tee = (...args: string[]) => [script("tee.mjs"), folder.path, "1", "--", process.execPath, ...args];
  const noted = () => {
    const [file = ""] = readdirSync(folder.path).filter((name) => name.endsWith(".ndjson"));
    return readFileSync(join(folder.path, file), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => ({ ...(JSON.parse(line) as object), at: undefined }));
  };

  it("forwards everything unchanged and records it", async () => {
    const line = "über\u2028alles";
    const { out, err, code } = await run(tee("-e", ECHO), [line]);
    expect({ out, err, code }).toEqual({ out: [line], err: "up\n", code: 0 });
    expect(noted()).toEqual(
      expect.arrayContaining([
        { dir: "argv", args: ["-e", ECHO] },
        { dir: "in", line },
        { dir: "out", line },
        { dir: "err", line: "up" },
        { dir: "eof" },
        { dir: "exit", code: 0, signal: null },
      ]),
    );
  });

  it("forwards signals and the exit code", async () => {
    expect((await run(tee("-e", ECHO), ["begin"], "SIGTERM")).code).toBe(5);
    expect(noted()).toContainEqual({ dir: "signal", signal: "SIGTERM" });
  });
});
