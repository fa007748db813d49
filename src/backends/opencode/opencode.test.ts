import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { EventOf, EventType, SessionEvent } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import {
  builtEnvironment,
  collect,
  readAcpRecord,
  temporaryFolder,
  transcript,
  writeAcpAgent,
} from "../../testing/index.ts";

/** Records its arguments, then acts as the scripted ACP agent. */
const NOTING = `printf '%s|%s\\n' "$*" "$OPENCODE_PERMISSION" >> "$NOTES"; exec $ACP_COMMAND`;

/** Session totals, as opencode 1.18.33 reports them. */
const costs = (amount: number) => ({
  update: { sessionUpdate: "usage_update", used: 100, size: 1_000, cost: { amount, currency: "USD" } },
});
const MODES = {
  id: "mode",
  name: "Session Mode",
  category: "mode",
  type: "select",
  currentValue: "build",
  options: ["build", "plan"].map((value) => ({ value, name: value })),
} as const;

async function openScene(more = "") {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
  const said = (text: string, amount: number) => ({
    when: text,
    steps: [{ say: `heard ${text}` }, costs(amount)],
    answer: { merge: { usage } },
  });
  const acp = await writeAcpAgent(home.path, {
    sessionsFile: join(home.path, "sessions.json"),
    configOptions: [MODES],
    prompts: [said("one", 0.25), said("two", 0.75), said("three", 0.875)],
  });
  const notes = join(home.path, "notes");
  const env: Record<string, string> = {
    ...builtEnvironment({ home: home.path }),
    ACP_COMMAND: acp.command.join(" "),
    NOTES: notes,
  };
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  const command = JSON.stringify(["sh", "-c", NOTING, "opencode"]);
  await writeFile(join(folder, "rookery.toml"), `[agents.it]\nbackend = "opencode"\ncommand = ${command}\n${more}`);
  const rookery = owned.use(await Rookery.open({ env, cwd: home.path, store: owned.use(openMemoryStore()) }));
  return {
    open: (options: Parameters<Rookery["openSession"]>[0] = {}) => rookery.openSession({ agent: "it", ...options }),
    heard: () => readAcpRecord(acp.record),
    /** How each process was started: its arguments, and whether it asks. */
    started: () =>
      (existsSync(notes) ? readFileSync(notes, "utf8").trimEnd().split("\n") : []).map((line) => {
        const [args, rules] = line.split("|");
        return `${args} ${rules === "" ? "as it is" : "asking"}`;
      }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function all<Type extends EventType>(events: readonly SessionEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

it("restarts for another policy and resumes its session", async () => {
  await using scene = await openScene();
  const session = await scene.open();
  await collect(session.prompt("one"));
  await session.change({ permissions: "read" });
  await collect(session.prompt("two"));
  expect(scene.started()).toEqual(["acp asking"]); // both policies use the same rules
  await session.change({ permissions: "all" });
  const events = await collect(session.prompt("three"));
  expect(scene.started()).toEqual(["acp asking", "acp as it is"]);
  expect(all(events, "agent.connected")).toMatchObject([{ how: "resumed" }]);
  expect(transcript(events)).toContain("says heard three");
});

it("reports the cost of each turn, also after a reopen", async () => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  const first = await collect(session.prompt("one"));
  const second = await collect(session.prompt("two"));
  await session[Symbol.asyncDispose]();
  const third = await collect((await scene.open({ id: session.id })).prompt("three"));
  const usage = [first, second, third].flatMap((events) => all(events, "usage.reported"));
  expect(usage.map(({ costUsd }) => costUsd)).toEqual([0.25, 0.5, 0.125]);
  expect(usage[0]).toMatchObject({ inputTokens: 100, outputTokens: 20, costBy: "reported", contextSize: 1_000 });
});

it("uses the configured mode, and lists the valid modes for an unknown one", async () => {
  await using scene = await openScene('mode = "plan"\n');
  const session = await scene.open();
  expect(session.capabilities).toMatchObject({ modes: true, questions: false });
  expect(JSON.stringify(await scene.heard())).toMatch(/session\/set_config_option.*"value":"plan"/);
  await using other = await openScene('mode = "wild"\n');
  await expect(other.open()).rejects.toThrow(/no mode "wild"; available modes: build, plan/);
});
