/** Runs one cell of the matrix: plays the story, kills its process at the given boundaries, and collects the results. */
import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { JournalEntry, SessionEvent, Store } from "../../src/domain/index.ts";
import { processesWith } from "../fleet/processes.ts";
import { answerRequest } from "../../src/session/index.ts";
import { DisposeStack, systemClock } from "../../src/stdx/index.ts";
import { openSqliteStore } from "../../src/store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, type ModelRequest } from "../../src/testing/index.ts";
import { runChild, type ChildRun } from "./life.ts";
import { toLabel, replyTo, type Label } from "./conversation.ts";

/** The stored data after a process ended. */
export interface StoredState {
  readonly events: readonly SessionEvent[];
  /** The journal of the unfinished turn, if any. */
  readonly journal: readonly JournalEntry[];
  /** One line per tool run. */
  readonly runs: readonly string[];
}

export interface StoryResult {
  readonly lives: readonly ChildRun[];
  /** One entry per process; the last one is the final state. */
  readonly remains: readonly StoredState[];
  readonly requests: readonly { readonly life: number; readonly label: Label; readonly request: ModelRequest }[];
  readonly problems: readonly string[];
  /** Leftovers: processes, leases, journal entries and owner files that should be gone. */
  readonly left: readonly string[];
}

let played = 0;

/** `kills` has the kill boundary of each process except the last. */
export async function play(program: string, kills: readonly (string | number)[], record = false): Promise<StoryResult> {
  await using owned = new DisposeStack();
  const home = owned.use(await temporaryFolder()).path;
  const cwd = owned.use(await temporaryFolder()).path;
  const requests: { life: number; label: Label; request: ModelRequest }[] = [];
  const lives: ChildRun[] = [];
  const remains: StoredState[] = [];
  const model = owned.use(
    await startModelServer((request) => {
      const label = toLabel(request);
      const life = lives.length;
      const isKnown = remains.at(-1)?.journal.some(isFailure) === true;
      const isFirst = !isKnown && !requests.some((one) => one.label === label && one.life === life);
      requests.push({ life, label, request });
      return replyTo(label, isFirst); // a failure that is not in the journal happens again
    }),
  );
  const mark = `MATRIX_CELL=${process.pid}-${(played += 1)}`;
  const extra = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake", MATRIX_CELL: mark.split("=")[1] ?? "" };
  const env = builtEnvironment({ home, extra });
  const folder = env["ROOKERY_HOME"] ?? "";
  await mkdir(folder, { recursive: true });
  const database = join(folder, "rookery.db");
  const store = owned.use(await openSqliteStore({ path: database }));
  const person = owned.use(answerRequests(store));
  for (const killAt of [...kills, undefined]) {
    const child = { database, runs: join(cwd, "runs"), killAt, record };
    const life = await runChild({ program, cwd, env, child, onSession: (id) => person.attend(id) });
    await fetch(`${model.url}/v1/models`); // all requests of the dead process have arrived after this
    lives.push(life);
    remains.push(await readStoredState(store, cwd));
    if (killAt !== undefined && life.killedAt === undefined) break; // the boundary was not reached
  }
  const left = [
    ...processesWith(mark).map(({ command }) => `the process ${command}`),
    ...(await findLeftovers(store)),
    ...(await readdir(join(folder, "owners")).catch(() => [])).map((name) => `the owner ${name}`),
  ];
  return { lives, remains, requests, problems: [...model.problems, ...person.problems], left };
}

/** True for the journal entry of a failed model call. */
export function isFailure({ finished, value }: JournalEntry): boolean {
  return finished && typeof value === "object" && value !== null && "failed" in value;
}

async function readStoredState(store: Store, cwd: string): Promise<StoredState> {
  const runs = await readFile(join(cwd, "runs"), "utf8").catch(() => "");
  const [session] = await store.list();
  const { events } =
    session === undefined ? { events: [] } : await store.read({ sessionId: session.id, limit: 10_000 });
  const ended = new Set(events.flatMap(({ type, turnId }) => (type === "turn.ended" ? turnId : [])));
  const open = events.find(({ type, turnId = "" }) => type === "turn.started" && !ended.has(turnId));
  const journal = open?.turnId === undefined ? [] : await store.journal(open.sessionId, open.turnId);
  return { events, journal, runs: runs.split("\n").slice(0, -1) };
}

async function findLeftovers(store: Store): Promise<string[]> {
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

/** Allows every permission request, from outside the process that asks. */
function answerRequests(store: Store) {
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
