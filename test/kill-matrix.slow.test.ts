import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { Rookery } from "../src/rookery.ts";
import { builtEnvironment, temporaryFolder } from "../src/testing/index.ts";

const CLI = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));
const STUBBORN = fileURLToPath(new URL("support/stubborn-agent.mjs", import.meta.url));
const AGENTS = { deaf: "ignores EOF and TERM", stray: "its grandchild left the group", wrapped: "behind a wrapper" };
const ENDINGS = ["close", "SIGTERM", "SIGINT", "SIGKILL"] as const;
const BACKENDS = ["command", "claude-code", "acp"] as const;
const AT_ONCE = 6;
/** `npm test` runs every fourth cell, which covers each backend, agent and ending at least twice. */
const IS_WHOLE = process.env["ROOKERY_SLOW"] === "1";

interface Cell {
  readonly agent: keyof typeof AGENTS;
  readonly ending: (typeof ENDINGS)[number];
  readonly backend: (typeof BACKENDS)[number];
}

interface Scene {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** The number of processes during the run and after it. */
interface Count {
  readonly up: number;
  readonly left: number;
}

async function play(cell: Cell): Promise<Count> {
  await using home = await temporaryFolder();
  await using cwd = await temporaryFolder();
  const id = `${process.pid}-${cell.backend}-${cell.agent}-${cell.ending}`;
  const env = builtEnvironment({ home: home.path, extra: { KILL_CELL: id } });
  await mkdir(join(env["XDG_CONFIG_HOME"]!, "rookery"), { recursive: true });
  const command = JSON.stringify([process.execPath, STUBBORN, cell.agent, cell.backend]);
  const toml = `[agents.it]\nbackend = "${cell.backend}"\ncommand = ${command}\n`;
  await writeFile(join(env["XDG_CONFIG_HOME"]!, "rookery", "rookery.toml"), toml);
  const scene = { cwd: cwd.path, env };
  const up = await (cell.ending === "close" ? closed(scene, id) : signalled(scene, id, cell.ending));
  await vi.waitFor(async () => expect(await marked(id)).toBe(0), { timeout: 2_000 }).catch(() => undefined);
  return { up, left: await marked(id) };
}

async function closed({ env, cwd }: Scene, id: string): Promise<number> {
  await using rookery = await Rookery.open({ env, cwd });
  const session = await rookery.openSession({ agent: "it" });
  for await (const event of session.prompt("go")) {
    if ("text" in event && event.text?.includes("up") === true) break;
  }
  const up = await marked(id);
  await session.close();
  return up;
}

async function signalled({ env, cwd }: Scene, id: string, signal: NodeJS.Signals): Promise<number> {
  const child = spawn(process.execPath, [CLI, "run", "--agent", "it", "--json", "go"], {
    ...{ cwd, env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const over = once(child, "close");
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  await vi.waitFor(() => expect(said).toMatch(/"text":"up/), { timeout: 20_000, interval: 20 });
  const up = await marked(id);
  child.kill(signal);
  await over;
  if (signal === "SIGKILL") {
    expect(await marked(id)).toBeGreaterThan(0); // otherwise there would be nothing to sweep
    const next = spawn(process.execPath, [CLI, "sessions", "list"], { cwd, env, stdio: "ignore" });
    await once(next, "exit");
  }
  return up;
}

/** Counts processes with this cell's variable and Rookery's marker. Rookery's own process has only the first. */
async function marked(id: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [environ, stat] = await Promise.all(
        ["environ", "stat"].map((name) => readFile(`/proc/${pid}/${name}`, "latin1").catch(() => "")),
      );
      const isDead = stat!.slice(stat!.lastIndexOf(")") + 2).startsWith("Z");
      return !isDead && environ!.includes(`KILL_CELL=${id}\0`) && environ!.includes("ROOKERY_OWNER=") ? 1 : 0;
    }),
  );
  return found.reduce<number>((sum, one) => sum + one, 0);
}

it.runIf(process.platform === "linux")(
  "leaves no process after it ends or after the next start, for every agent and ending",
  { timeout: 300_000 },
  async () => {
    const cells = BACKENDS.flatMap((backend, row) =>
      (Object.keys(AGENTS) as (keyof typeof AGENTS)[]).flatMap((agent, block) =>
        ENDINGS.filter((_, column) => IS_WHOLE || (row + block + column) % 4 === 0).map((ending): Cell => ({
          backend,
          agent,
          ending,
        })),
      ),
    );
    const counts = new Map<string, Count>();
    const waiting = [...cells];
    const worker = async (): Promise<void> => {
      for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
        counts.set(nameOf(cell), await play(cell));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    console.log(table(counts));
    for (const cell of cells) {
      const { up, left } = counts.get(nameOf(cell))!;
      expect(up, nameOf(cell)).toBeGreaterThan(cell.agent === "deaf" ? 0 : 1);
      expect(left, nameOf(cell)).toBe(0);
    }
  },
);

function nameOf({ backend, agent, ending }: Cell): string {
  return `${backend} ${agent} ${ending}`;
}

function table(counts: ReadonlyMap<string, Count>): string {
  const rows = BACKENDS.flatMap((backend) =>
    (Object.keys(AGENTS) as (keyof typeof AGENTS)[]).map((agent) => {
      const cells = ENDINGS.map((ending) => {
        const count = counts.get(nameOf({ backend, agent, ending }));
        return (count === undefined ? "" : `${count.up} → ${count.left}`).padEnd(9);
      });
      return `${backend.padEnd(12)} ${AGENTS[agent].padEnd(30)} ${cells.join("")}`;
    }),
  );
  const head = `${"processes, before → after".padEnd(43)} ${ENDINGS.map((ending) => ending.padEnd(9)).join("")}`;
  return [head, ...rows].join("\n");
}
