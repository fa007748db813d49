import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { SessionEvent, type EventOf } from "../src/domain/index.ts";
import { openSqliteStore } from "../src/store/index.ts";
import {
  builtEnvironment,
  call,
  calls,
  say,
  startModelServer,
  temporaryFolder,
  type ModelRequest,
  type Reply,
} from "../src/testing/index.ts";

const CLI = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));
/** `npm run soak` sets 200. */
const KILLS = Number(process.env["ROOKERY_KILLS"] ?? (process.env["ROOKERY_SLOW"] === "1" ? 30 : 5));
/** Further attempts if no kill hit a turn, which depends on the speed of the machine. */
const MAX_MORE_KILLS = 20;
const AT_ONCE = 2;

/** Chooses the reply from the conversation only, so that a repeated request gets the same reply. */
function model(request: ModelRequest): Reply {
  const pace = { chunkDelayMs: 2 };
  switch (request.messages.filter(({ role }) => role === "assistant").length) {
    case 0:
      return call("bash", { command: "setsid sleep 300 & sleep 300 & echo one >> ran" }, { ...pace, text: words(30) });
    case 1:
      return calls([
        { name: "read", input: { path: "ran" } },
        { name: "bash", input: { command: "echo two >> ran; sleep 0.05; echo slept" } },
      ]);
    case 2:
      return call("write", { path: "made.txt", content: "made" }, { ...pace, text: words(20) });
    default:
      return say(words(20), pace);
  }
}

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `);

interface Run {
  readonly events: SessionEvent[];
  readonly exitCode: number | null;
  readonly stderr: string;
}

/** Runs the built command and collects each complete line that it printed before it ended or was killed. */
async function rookery(cwd: string, env: Record<string, string>, args: string[], killAfterMs?: number): Promise<Run> {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = once(child, "close");
  if (killAfterMs !== undefined) {
    await Promise.race([closed, sleep(killAfterMs)]);
    child.kill("SIGKILL");
  }
  const [exitCode] = (await closed) as [number | null];
  const lines = args.includes("--json") ? stdout.split("\n").slice(0, -1) : [];
  const events = lines.map((line) => SessionEvent.parse(JSON.parse(line)));
  return { events, exitCode, stderr };
}

function processesOf(run: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/environ`, "latin1").includes(`TEST_RUN=${run}`)) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z")
        ? []
        : [readFileSync(`/proc/${pid}/cmdline`, "latin1")];
    } catch {
      return [];
    }
  });
}

it.runIf(process.platform === "linux")(
  `loses no printed event, ends each turn once and leaves no process after SIGKILL at ${KILLS} random moments`,
  { timeout: 600_000 },
  async () => {
    await using server = await startModelServer(model, { maxRequests: 100_000 });
    await using home = await temporaryFolder();
    const seen = { unborn: 0, inTurn: 0, ended: 0, resumed: 0, unknown: 0 };

    async function life(name: string, killAfterMs?: number): Promise<number> {
      await using cwd = await temporaryFolder();
      const extra = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "fake", TEST_RUN: `${process.pid}-${name}` };
      const env = builtEnvironment({ home: home.path, extra });
      const started = performance.now();
      const args = ["run", "go", "--permissions", "all", "--json"];
      const first = await rookery(cwd.path, env, args, killAfterMs);
      const took = performance.now() - started;
      const id = first.events[0]?.sessionId;
      if (id === undefined) {
        seen.unborn += 1;
        await rookery(cwd.path, env, ["sessions", "list"]);
        expect(processesOf(extra.TEST_RUN)).toEqual([]);
        return took;
      }
      const second = await rookery(cwd.path, env, ["run", "--session", id, "--json"]);
      expect([0, 2], second.stderr).toContain(second.exitCode);
      expect(processesOf(extra.TEST_RUN)).toEqual([]);

      await using store = await openSqliteStore({ path: join(env["ROOKERY_HOME"]!, "rookery.db") });
      const { events } = await store.read({ sessionId: id, limit: 10_000 });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      for (const shown of [...first.events, ...second.events]) expect(events[shown.seq - 1]).toEqual(shown);

      const starts = events.filter(({ type }) => type === "turn.started");
      const ends = events.filter((event): event is EventOf<"turn.ended"> => event.type === "turn.ended");
      expect(ends.map(({ turnId }) => turnId)).toEqual(starts.map(({ turnId }) => turnId));
      expect(ends.every(({ outcome }) => outcome.status === "done")).toBe(true);

      const unknown = events.filter((event) => event.type === "tool.ended" && event.outcome === "unknown").length;
      const ran = readFileSync(join(cwd.path, "ran"), { encoding: "utf8", flag: "a+" }).split("\n").slice(0, -1);
      expect(new Set(ran).size).toBe(ran.length);
      if (starts.length > 0) expect(ran.length).toBeGreaterThanOrEqual(2 - unknown);
      seen.unknown += unknown;
      seen.resumed += second.events.some((event) => event.type === "notice" && event.code === "turn_resumed") ? 1 : 0;
      seen[first.events.some(({ type }) => type === "turn.ended") ? "ended" : "inTurn"] += 1;
      return took;
    }

    const whole = await life("whole");
    let left = KILLS;
    const worker = async (): Promise<void> => {
      for (let number = left--; number > 0; number = left--) {
        const share = (number - Math.random()) / KILLS; // spread over the life, so that few kills do not all miss the turn
        await life(`kill-${number}`, whole * (0.15 + 0.9 * share));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    for (let more = 1; seen.inTurn === 0 && more <= MAX_MORE_KILLS; more += 1) {
      await life(`more-${more}`, whole * (0.4 + 0.5 * Math.random())); // the first life was slower than the others
    }
    console.log("killed:", JSON.stringify(seen));
    expect(seen.inTurn).toBeGreaterThan(0);
  },
);
