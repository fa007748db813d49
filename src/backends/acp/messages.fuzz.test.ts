import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isRookeryError } from "../../domain/errors.ts";
import { SessionEvent } from "../../domain/events.ts";
import { isLongFuzz } from "../../programs/test-fuzz.ts";
import { mutationsOf } from "../../programs/test-mutations.ts";
import { Rookery } from "../../rookery.ts";
import type { Session } from "../../session/index.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, temporaryFolder } from "../../testing/index.ts";
import { PROMPT_RESULT, REQUESTS, SET_UP_RESULTS, UPDATES } from "./test-messages.ts";

/** Far longer than a turn takes on a busy machine. */
const TURN_MS = 20_000;
/** One in so many changes is tried, chosen at random. */
const SAMPLE = process.env["ROOKERY_SLOW"] === "1" ? 23 : 69;

interface Case {
  readonly name: string;
  /** Lines that the agent writes during the turn. */
  readonly lines?: string;
  /** JSON result of the prompt. */
  readonly result?: string;
}

function sampled<T>(cases: readonly T[], share = SAMPLE): readonly T[] {
  const first = Date.now() % share;
  return isLongFuzz() ? cases : cases.filter((_, at) => at % share === first);
}

async function openUser(more = "") {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const cwd = owned.use(await temporaryFolder());
  const env = builtEnvironment({ home: home.path });
  const [script, folder] = [join(home.path, "script"), join(env["XDG_CONFIG_HOME"] ?? "", "rookery")];
  await mkdir(script);
  await mkdir(folder, { recursive: true });
  const agent = fileURLToPath(new URL("./test-line-agent.mjs", import.meta.url));
  const command = JSON.stringify([process.execPath, agent, script]);
  const config = `[agents.lines]\nbackend = "acp"\ncommand = ${command}\nserve = ["files", "terminals"]\n${more}`;
  await writeFile(join(folder, "rookery.toml"), config);
  const store = owned.use(openMemoryStore());
  const rookery = owned.use(await Rookery.open({ env, cwd: cwd.path, store }));
  return {
    open: () => rookery.openSession({ agent: "lines" }),
    give: (name: string, text = "") => writeFile(join(script, name), text),
    loads: () => (existsSync(join(script, "loads")) ? readFileSync(join(script, "loads"), "utf8").length : 0),
    remove: (name: string) => rm(join(script, name), { force: true }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Runs a turn, answers its requests, and returns its outcome and the events that the exported schema rejects. */
async function outcomeOf(session: Session, text: string): Promise<{ status: string; invalid: string[] }> {
  const invalid: string[] = [];
  let status = "never ended";
  const late = AbortSignal.timeout(TURN_MS);
  /** A turn that fails because of the request itself withdraws it, which may be before the answer. */
  const answer = (requestId: string, given: Parameters<Session["answer"]>[1]) =>
    session.answer(requestId, given).catch((error: unknown) => {
      if (!isRookeryError(error, "request_resolved")) throw error;
    });
  const run = async (): Promise<void> => {
    for await (const event of session.prompt(text, { signal: late })) {
      if (!SessionEvent.safeParse(event).success) invalid.push(event.type);
      if (event.type === "permission.requested") await answer(event.requestId, { decision: "allow" });
      if (event.type === "question.asked") await answer(event.requestId, { action: "decline" });
      if (event.type === "turn.ended") status = event.outcome.status;
    }
  };
  await Promise.race([run(), new Promise((resolve) => setTimeout(resolve, TURN_MS + 5_000).unref())]);
  return { status, invalid };
}

/** Describes what is wrong with a session after such a turn; undefined if nothing. */
async function faultAfter(session: Session, text: string): Promise<string | undefined> {
  try {
    const first = await outcomeOf(session, text);
    const next = await outcomeOf(session, "again");
    if (first.status !== "done" && first.status !== "failed") return `its turn ended as ${first.status}`;
    if (next.status !== "done") return `the next turn ended as ${next.status}`;
    const invalid = [...first.invalid, ...next.invalid];
    return invalid.length > 0 ? `invalid events: ${invalid.join(", ")}` : undefined;
  } catch (error) {
    return `it threw ${String(error)}`;
  }
}

async function faultsOf(cases: readonly Case[]): Promise<string[]> {
  await using user = await openUser();
  const faults: string[] = [];
  let session = await user.open();
  for (const { name, lines, result } of cases) {
    await user.give("case.lines", lines ?? "");
    await (result === undefined ? user.remove("case.result") : user.give("case.result", result));
    const fault = await faultAfter(session, "run case");
    if (fault === undefined) continue;
    faults.push(`${name}: ${fault}`);
    session = await user.open();
  }
  return faults;
}

const UPDATE_CASES = Object.entries(UPDATES).flatMap(([kind, update]) => {
  const message = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "session-1", update } };
  return mutationsOf(message).map(({ name, json }): Case => ({ name: `${kind}: ${name}`, lines: json }));
});

const REQUEST_CASES = Object.entries(REQUESTS).flatMap(([key, params]) => {
  const [method = ""] = key.split("#");
  return mutationsOf({ params }).map(({ name, json }): Case => {
    const lines = `{"jsonrpc":"2.0","id":"ask","method":${JSON.stringify(method)}${json === "{}" ? "}" : `,${json.slice(1)}`}`;
    return { name: `${key}: ${name}`, lines };
  });
});

const RESULT_CASES = mutationsOf({ result: PROMPT_RESULT }).map(({ name, json }): Case => {
  const result = json === "{}" ? "null" : json.slice('{"result":'.length, -1);
  return { name, result };
});

it.each([
  ["update", UPDATE_CASES],
  ["request", REQUEST_CASES],
  ["prompt result", RESULT_CASES],
])(
  "keeps the session usable after one invalid field in any %s",
  async (_, cases) => {
    expect(await faultsOf(sampled(cases))).toEqual([]);
  },
  900_000,
);

it.each(["initialize", "session/new"])(
  "keeps the session usable after one invalid field in the result of %s, once the agent answers correctly",
  async (method) => {
    const result = SET_UP_RESULTS[method] ?? {};
    await using user = await openUser('model = "two"\nmode = "two"\n');
    for (const [name, usual] of Object.entries(SET_UP_RESULTS))
      await user.give(name.replace("/", "-"), JSON.stringify(usual));
    const faults: string[] = [];
    for (const { name, json } of sampled(mutationsOf({ result }), SAMPLE * 4)) {
      await user.give(method.replace("/", "-"), json === "{}" ? "null" : json.slice('{"result":'.length, -1));
      let session: Session | undefined;
      try {
        session = await user.open();
        await outcomeOf(session, "first");
      } catch (error) {
        if (!(error instanceof Error) || error instanceof TypeError) faults.push(`${name}: it threw ${String(error)}`);
      }
      await user.give(method.replace("/", "-"), JSON.stringify(result));
      session ??= await user.open();
      const { status, invalid } = await outcomeOf(session, "again");
      if (status !== "done" || invalid.length > 0) faults.push(`${name}: ${status} ${invalid.join()}`);
      await session.close();
    }
    expect(faults).toEqual([]);
  },
  900_000,
);

it("keeps the session usable after one invalid field in the result of session/load", async () => {
  await using user = await openUser('model = "two"\n');
  const { agentCapabilities, ...introduction } = SET_UP_RESULTS["initialize"] as { agentCapabilities: object };
  const loading = { ...introduction, agentCapabilities: { ...agentCapabilities, sessionCapabilities: {} } };
  await user.give("initialize", JSON.stringify(loading));
  await user.give("session-new", JSON.stringify(SET_UP_RESULTS["session/new"]));
  const session = await user.open();
  await outcomeOf(session, "first");
  const faults: string[] = [];
  for (const { name, json } of sampled(mutationsOf({ result: SET_UP_RESULTS["session/load"] }), SAMPLE * 4)) {
    await user.give("session-load", json === "{}" ? "null" : json.slice('{"result":'.length, -1));
    await outcomeOf(session, "leave"); // the next turn restarts the agent, which loads its session
    await outcomeOf(session, "again");
    await user.give("session-load", JSON.stringify(SET_UP_RESULTS["session/load"]));
    const { status, invalid } = await outcomeOf(session, "again");
    if (status !== "done" || invalid.length > 0) faults.push(`${name}: ${status} ${invalid.join()}`);
  }
  expect(user.loads()).toBeGreaterThan(0);
  expect(faults).toEqual([]);
}, 900_000);
