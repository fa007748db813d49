/** One cell of the matrix: the story in a folder of its own, killed where it is told, gone on with, and looked at. */
import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { JournalEntry, SessionEvent, Store } from "../domain/index.ts";
import { processesWith } from "../fleet/test-processes.ts";
import { answerRequest } from "../session/index.ts";
import { DisposeStack, systemClock } from "../stdx/index.ts";
import { openSqliteStore } from "../store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, type ModelRequest } from "../testing/index.ts";
import { live, type Life } from "./test-life.ts";
import { labelOf, replyTo, type Label } from "./test-words.ts";

/** What there was when a life had ended. */
export interface Remains {
  readonly events: readonly SessionEvent[];
  /** Of the turn that had not ended, if there was one. */
  readonly journal: readonly JournalEntry[];
  /** A line for each run of a tool. */
  readonly runs: readonly string[];
}

export interface Played {
  readonly lives: readonly Life[];
  /** After each life; the last is what came of it all. */
  readonly remains: readonly Remains[];
  readonly requests: readonly { readonly life: number; readonly label: Label; readonly request: ModelRequest }[];
  readonly problems: readonly string[];
  /** Whatever there should be no more of: processes, leases, journal, files of dead owners. */
  readonly left: readonly string[];
}

let played = 0;

/** `kills` says where each life but the last ends. */
export async function play(program: string, kills: readonly (string | number)[], record = false): Promise<Played> {
  await using owned = new DisposeStack();
  const home = owned.use(await temporaryFolder()).path;
  const cwd = owned.use(await temporaryFolder()).path;
  const requests: { life: number; label: Label; request: ModelRequest }[] = [];
  const lives: Life[] = [];
  const remains: Remains[] = [];
  const model = owned.use(
    await startModelServer((request) => {
      const label = labelOf(request);
      const life = lives.length;
      const isKnown = remains.at(-1)?.journal.some(isFailure) === true;
      const isFirst = !isKnown && !requests.some((one) => one.label === label && one.life === life);
      requests.push({ life, label, request });
      return replyTo(label, isFirst); // a refusal that nobody remembers is met again
    }),
  );
  const mark = `MATRIX_CELL=${process.pid}-${(played += 1)}`;
  const extra = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake", MATRIX_CELL: mark.split("=")[1] ?? "" };
  const env = builtEnvironment({ home, extra });
  const folder = env["ROOKERY_HOME"] ?? "";
  await mkdir(folder, { recursive: true });
  const database = join(folder, "rookery.db");
  const store = owned.use(await openSqliteStore({ path: database }));
  const person = owned.use(personAt(store));
  for (const killAt of [...kills, undefined]) {
    const child = { database, runs: join(cwd, "runs"), killAt, record };
    const life = await live({ program, cwd, env, child, onSession: (id) => person.attend(id) });
    await fetch(`${model.url}/v1/models`); // what the dead one had sent has come by now
    lives.push(life);
    remains.push(await remainsIn(store, cwd));
    if (killAt !== undefined && life.killedAt === undefined) break; // it never came there
  }
  const left = [
    ...processesWith(mark).map(({ command }) => `the process ${command}`),
    ...(await leftIn(store)),
    ...(await readdir(join(folder, "owners")).catch(() => [])).map((name) => `the owner ${name}`),
  ];
  return { lives, remains, requests, problems: [...model.problems, ...person.problems], left };
}

/** Of a model call that did not succeed, and is known. */
export function isFailure({ finished, value }: JournalEntry): boolean {
  return finished && typeof value === "object" && value !== null && "failed" in value;
}

async function remainsIn(store: Store, cwd: string): Promise<Remains> {
  const runs = await readFile(join(cwd, "runs"), "utf8").catch(() => "");
  const [session] = await store.list();
  const { events } =
    session === undefined ? { events: [] } : await store.read({ sessionId: session.id, limit: 10_000 });
  const ended = new Set(events.flatMap(({ type, turnId }) => (type === "turn.ended" ? turnId : [])));
  const open = events.find(({ type, turnId = "" }) => type === "turn.started" && !ended.has(turnId));
  const journal = open?.turnId === undefined ? [] : await store.journal(open.sessionId, open.turnId);
  return { events, journal, runs: runs.split("\n").slice(0, -1) };
}

async function leftIn(store: Store): Promise<string[]> {
  const found: string[] = [];
  const sessions = await store.list();
  if (sessions.length !== 1) found.push(`${sessions.length} sessions`);
  for (const { id, status } of sessions) {
    if (status !== "idle") found.push(`a session that is ${status}`);
    const lease = await store.currentLease(id);
    if (lease !== undefined) found.push(`the lease of ${lease.owner}`);
    const { events } = await store.read({ sessionId: id, limit: 10_000 });
    for (const turnId of new Set(events.flatMap((event) => event.turnId ?? []))) {
      for (const { key } of await store.journal(id, turnId)) found.push(`the journal's ${key.kind} ${key.id}`);
    }
  }
  return found;
}

/** Allows whatever is asked, from another process than the one that asks. */
function personAt(store: Store) {
  const gone = new AbortController();
  const problems: string[] = [];
  let attending: Promise<void> | undefined;
  const attend = async (sessionId: string): Promise<void> => {
    for await (const event of store.follow({ sessionId, after: 0, signal: gone.signal })) {
      if (event.type !== "permission.requested") continue;
      const { requestId } = event;
      await answerRequest(store, { sessionId, requestId, answer: { decision: "allow" }, clock: systemClock });
    }
  };
  return {
    problems,
    attend: (sessionId: string) => {
      attending ??= attend(sessionId).catch((error: unknown) => void problems.push(`the person: ${String(error)}`));
    },
    async [Symbol.asyncDispose]() {
      gone.abort();
      await attending;
    },
  };
}
