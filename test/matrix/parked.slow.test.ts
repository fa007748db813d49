import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { RookeryError, type EventOf, type SessionEvent, type Store } from "../../src/domain/index.ts";
import { openWorld } from "../../src/session/test-scene.ts";
import { DisposeStack, type Clock } from "../../src/stdx/index.ts";
import { openSqliteStore } from "../../src/store/index.ts";
import {
  builtEnvironment,
  call,
  fault,
  say,
  startModelServer,
  temporaryFolder,
  transcript,
  type ModelRequest,
  type Reply,
} from "../../src/testing/index.ts";
import { bundleChild } from "./bundle.ts";

const HOUR = 3_600_000;
/** How much longer a parked turn waits than the provider says. */
const LATER_MS = 5_000;
const STORY = ["started go", "tool bash: echo ran >> count", "tool ok", "limited", "parked"];

/** Runs a command first. Later requests fail until the usage limit is over. */
function limitedUntil(resetsAt: () => Date, isOver: () => boolean) {
  return ({ toolResults }: ModelRequest): Reply => {
    if (toolResults.length === 0) return call("bash", { command: "echo ran >> count" });
    return isOver() ? say("Gone on.") : fault(429, { why: "quota", resetsAt: resetsAt() });
  };
}

describe("a usage limit during a turn of the built-in agent", () => {
  it.each([
    ["Anthropic", "anthropic/claude-sonnet-5"],
    ["OpenAI's Responses", "openai/gpt-5"],
    ["OpenAI-compatible", "groq/llama"],
    ["Gemini, with daily quotas", "google/gemini-3-pro"],
  ])("parks the turn across a restart, by the injected clock: %s", { timeout: 60_000 }, async (_, model) => {
    let isOver = false;
    const resetsAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2 * HOUR);
    await using w = await openWorld(
      limitedUntil(
        () => resetsAt,
        () => isOver,
      ),
    );
    await w.configure(`[agents.it]\nbackend = "api"\nmodel = "${model}"\npark_limit = 90000\n`); // a little more than a day
    const given = { agent: "it", baseUrl: w.model.url, apiKey: "fake" };

    const first = killableStore(w.store);
    const dying = await w.open(adjustableClock(0), first.store);
    w.owned.defer(() => dying.close().catch(() => undefined));
    const { id } = await startTurn(await dying.openSession({ ...given, permissions: "all" }));
    await vi.waitFor(async () => expect((await w.store.summary(id))?.status).toBe("parked"), { timeout: 20_000 });
    first.kill();
    const { parkedUntil = "" } = (await w.store.summary(id)) ?? {};
    const waitMs = Date.parse(parkedUntil) - Date.now();
    expect(waitMs).toBeGreaterThan(0);
    if (!model.startsWith("google")) expect(parkedUntil).toBe(new Date(resetsAt.getTime() + LATER_MS).toISOString());

    const clock = adjustableClock(60_000); // after the lease of the dead process has expired
    await using rookery = await w.open(clock);
    const session = await rookery.openSession({ ...given, id });
    await vi.waitFor(async () => expect(linesOf(await w.events(id)).at(-1)).toBe("notice turn_resumed"));
    expect(w.model.requests).toHaveLength(2);
    expect(session.state.turn?.parkedUntil).toBe(parkedUntil);

    isOver = true;
    clock.turn(waitMs);
    expect(await session.resumed?.outcome).toMatchObject({ status: "done" });
    expect(linesOf(await w.events(id))).toEqual([
      ...STORY,
      ...["notice turn_resumed", "continued", "says Gone on.", "ended done"],
    ]);
    expect(w.model.requests).toHaveLength(3);
    expect(await w.file("count")).toBe("ran\n");
    expect(w.model.problems).toEqual([]);
  });

  it.runIf(process.env["ROOKERY_SLOW"] === "1")(
    "parks the turn in real time, even if the waiting process is killed",
    { timeout: 120_000 },
    async () => {
      using bundle = await bundleChild("parked-child.ts");
      await using owned = new DisposeStack();
      let resetsAt: Date | undefined;
      const soon = () => (resetsAt ??= new Date(Math.ceil(Date.now() / 1000) * 1000 + 2_000));
      const script = limitedUntil(soon, () => resetsAt !== undefined && Date.now() >= resetsAt.getTime());
      const model = owned.use(await startModelServer(script));
      const home = owned.use(await temporaryFolder()).path;
      const cwd = owned.use(await temporaryFolder()).path;
      const env = builtEnvironment({ home, extra: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" } });
      const start = () => spawn(process.execPath, [bundle.file], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });

      const first = start();
      const over = once(first, "close");
      const [line] = (await once(first.stdout, "data")) as [Buffer];
      const { session } = JSON.parse(line.toString()) as { session: string };
      const store = owned.use(await openSqliteStore({ path: join(env["ROOKERY_HOME"] ?? "", "rookery.db") }));
      for await (const { type } of store.follow({ sessionId: session, after: 0 })) if (type === "turn.parked") break;
      first.kill("SIGKILL");
      await over;
      expect(await store.summary(session)).toMatchObject({ status: "parked" });

      const [exitCode] = (await once(start(), "close")) as [number | null];
      expect(exitCode).toBe(0);
      const { events } = await store.read({ sessionId: session });
      expect(linesOf(events)).toEqual([
        ...STORY,
        ...["notice turn_resumed", "continued", "says Gone on.", "ended done"],
      ]);
      const parked = events.find((event): event is EventOf<"turn.parked"> => event.type === "turn.parked");
      const continued = events.find(({ type }) => type === "turn.continued");
      expect(Date.parse(continued?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(parked?.until ?? ""));
      expect(model.requests).toHaveLength(3);
    },
  );
});

async function startTurn<T extends { prompt: (text: string) => { outcome: Promise<unknown> } }>(
  session: T,
): Promise<T> {
  session.prompt("go").outcome.catch(() => undefined); // its process counts as dead before the turn ends
  return session;
}

function linesOf(events: readonly SessionEvent[]): string[] {
  return transcript(events).slice(1);
}

/** A clock that is ahead of the machine's by an adjustable offset. */
function adjustableClock(byMs: number): Clock & { turn(ms: number): void } {
  let offset = byMs;
  return {
    now: () => Date.now() + offset,
    turn: (ms) => {
      offset += ms;
    },
  };
}

/** Wraps a store. After `kill`, all writes are rejected. */
function killableStore(store: Store): { readonly store: Store; kill(): void } {
  let isDead = false;
  const dead = new RookeryError("store_closed", "killed");
  const proxy = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name === Symbol.asyncDispose) return () => Promise.resolve();
      return (...args: unknown[]): unknown => {
        const isWrite = name === "append" || name === "releaseLease" || name === "renewLeases";
        return isDead && isWrite ? Promise.reject(dead) : (Reflect.apply(value, target, args) as unknown);
      };
    },
  });
  return {
    store: proxy,
    kill: () => {
      isDead = true;
    },
  };
}
