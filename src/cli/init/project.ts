/** Looks at the files of a project to suggest how to set up a worktree and how to check a change. Runs nothing. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { existsSync } from "node:fs";

export interface ProjectSuggestion {
  /** The kind of project, for a comment. */
  readonly kind: string;
  /** Installs dependencies in a new worktree. */
  readonly setup: string | undefined;
  /** Must pass before a merge. */
  readonly check: string | undefined;
}

const MAX_BYTES = 1024 * 1024;

/** Returns the first kind that matches. Files such as `.env` are copied if `copies` lists them. */
export async function suggestForProject(root: string): Promise<ProjectSuggestion | undefined> {
  const has = (name: string): boolean => existsSync(join(root, name));
  if (has("package.json")) return suggestForNode(root, has);
  if (has("Cargo.toml")) return { kind: "Rust", setup: undefined, check: "cargo test" };
  if (has("go.mod")) return { kind: "Go", setup: "go mod download", check: "go test ./..." };
  if (has("pyproject.toml")) {
    if (has("uv.lock")) return { kind: "Python (uv)", setup: "uv sync", check: "uv run pytest" };
    if (has("poetry.lock")) return { kind: "Python (Poetry)", setup: "poetry install", check: "poetry run pytest" };
    return { kind: "Python", setup: "python3 -m venv .venv && .venv/bin/pip install -e .", check: ".venv/bin/pytest" };
  }
  if (has("Makefile")) {
    const target = /^(check|test):/m.exec(await readText(join(root, "Makefile")))?.[1];
    return { kind: "make", setup: undefined, check: target === undefined ? undefined : `make ${target}` };
  }
  return undefined;
}

async function suggestForNode(root: string, has: (name: string) => boolean): Promise<ProjectSuggestion> {
  const [tool, install] = has("pnpm-lock.yaml")
    ? ["pnpm", "pnpm install --frozen-lockfile"]
    : has("yarn.lock")
      ? ["yarn", "yarn install --immutable"]
      : has("bun.lock") || has("bun.lockb")
        ? ["bun", "bun install --frozen-lockfile"]
        : ["npm", has("package-lock.json") ? "npm ci" : "npm install"];
  const scripts = await readScripts(join(root, "package.json"));
  const names = ["check", "test"].filter((name) => scripts.includes(name));
  const run = (name: string): string => (name === "test" ? `${tool} test` : `${tool} run ${name}`);
  return { kind: `Node.js (${tool})`, setup: install, check: names.map(run).join(" && ") || undefined };
}

/** Returns no script for a file that is not JSON. npm's default test script always fails, so it does not count. */
async function readScripts(file: string): Promise<string[]> {
  try {
    const { scripts = {} } = JSON.parse(await readText(file)) as { scripts?: Record<string, string> };
    return Object.entries(scripts).flatMap(([name, script]) => (script.includes("no test specified") ? [] : [name]));
  } catch {
    return [];
  }
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  return bytes.subarray(0, MAX_BYTES).toString("utf8");
}

/** Local files that a worktree lacks, because git ignores them. */
export function suggestCopies(root: string): string[] {
  return [".env", ".env.local", ".envrc"].filter((name) => existsSync(join(root, name)));
}
