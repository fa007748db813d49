/** Records a real program with the tee, and removes the paths and tokens of this run. */
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { changeCommand, readCommand } from "../../src/backends/contract/index.ts";

const TEE = fileURLToPath(new URL("../../test/support/stand-in/tee.mjs", import.meta.url));
const PROJECT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

export interface Begun {
  readonly toml: string;
  readonly root: string;
  readonly modelUrl: string;
  /** A file that the program may write. */
  readonly written: string;
}

export class Recording {
  readonly #folder = mkdtempSync(join(tmpdir(), "rookery-record-"));
  readonly #head: Readonly<Record<string, string>>;
  #begun: Begun | undefined;
  #text: string | undefined;

  /** `head` describes the recording. */
  constructor(head: Readonly<Record<string, string>>) {
    this.#head = head;
  }

  /** Returns the lines of `[agents.it]` with the tee in front of the program. */
  begin(begun: Begun): string {
    this.#begun = begun;
    return changeCommand(begun.toml, (command) => [
      process.execPath,
      TEE,
      this.#folder,
      String(command.length),
      "--",
      ...command,
    ]);
  }

  /** Adds calls over HTTP, which the tee does not see. */
  called(tool: string, input: unknown): void {
    const last = this.#files().at(-1);
    if (last !== undefined) appendFileSync(last, `${JSON.stringify({ dir: "mcp", tool, input })}\n`);
  }

  /** Call this before the files of the scene are deleted. */
  finish(): void {
    const { written = "" } = this.#begun ?? {};
    if (existsSync(written)) this.#text = readFileSync(written, "utf8");
  }

  async keep(file: string): Promise<void> {
    const steps = this.#withFile(this.#files().flatMap((path) => readFileSync(path, "utf8").trimEnd().split("\n")));
    const toml = (this.#begun?.toml ?? "").replace(/^command = .*\n?/m, "");
    const lines = [
      JSON.stringify({ ...this.#head, toml }),
      ...steps.map((step) => shortened(this.#withoutPlaces(step))),
    ];
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${lines.join("\n")}\n`);
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Adds a file that the program wrote without reporting its content. The file exists when the program mentions it again. */
  #withFile(steps: readonly string[]): readonly string[] {
    const { written = "" } = this.#begun ?? {};
    const spoken = steps.flatMap((step, index) =>
      step.includes('"dir":"out"') && step.includes(written) ? [index] : [],
    );
    const at = spoken[1] ?? spoken[0];
    if (this.#text === undefined || at === undefined) return steps;
    const step = JSON.stringify({ dir: "file", path: written, text: this.#text });
    return [...steps.slice(0, at), step, ...steps.slice(at)];
  }

  #files(): string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .sort()
      .map((name) => join(this.#folder, name));
  }

  #withoutPlaces(step: string): string {
    const { root = "", modelUrl = "", toml = "" } = this.#begun ?? {};
    const program = dirname(readCommand(toml).at(-1) ?? "");
    return step
      .replaceAll(root, "/scene")
      .replaceAll(modelUrl, "http://127.0.0.1:1")
      .replaceAll(program, "/program")
      .replaceAll(PROJECT, "/rookery")
      .replaceAll(process.execPath, "node")
      .replaceAll(/\/tmp\/rookery-(\w+)-\w{6}\b/g, "/tmp/rookery-$1-000000")
      .replaceAll(/127\.0\.0\.1:\d{4,5}\/mcp/g, "127.0.0.1:2/mcp")
      .replaceAll(/Bearer [\w-]{20,}/g, "Bearer TOKEN");
  }
}

/** Shortens the vendor's descriptions of models and commands; only the structure of a message matters. */
const PROSE_LENGTH = 400;
const LIST_LENGTH = 5;

function shortened(text: string): string {
  const step = JSON.parse(text) as { dir: string; line?: string };
  if (step.dir !== "out" || step.line === undefined) return text;
  try {
    return JSON.stringify({ ...step, line: JSON.stringify(short(JSON.parse(step.line))) });
  } catch {
    return text; // not JSON: keep it unchanged
  }
}

function short(value: unknown): unknown {
  if (typeof value === "string") return value.length > PROSE_LENGTH ? `${value.slice(0, PROSE_LENGTH)}…` : value;
  if (Array.isArray(value)) return value.filter((each, index) => index < LIST_LENGTH || isChosen(each)).map(short);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, isProse(key, each) ? "(shortened)" : short(each)]),
  );
}

/** Keeps the requested model when it shortens a long list of models. */
function isChosen(value: unknown): boolean {
  return JSON.stringify(value).includes("fake-model");
}

function isProse(key: string, value: unknown): boolean {
  return /description|instructions|hint/i.test(key) && typeof value === "string" && value.length > 40;
}
