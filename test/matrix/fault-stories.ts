/** Stories that run with one injected failure: a session, a task, and a task on a worker. Each reports what is wrong afterwards. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { trust, userConfigFile } from "../../src/config/index.ts";
import { isEnded, isRookeryError, type SessionEvent, type Store } from "../../src/domain/index.ts";
import { processesWith } from "../fleet/processes.ts";
import { Rookery } from "../../src/rookery.ts";
import { answerRequest, type Session, type Turn } from "../../src/session/index.ts";
import { openWorld } from "../../src/session/test-scene.ts";
import { DisposeStack, systemClock, waitForAbort } from "../../src/stdx/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { builtEnvironment, call, say, temporaryFolder, temporaryRepository } from "../../src/testing/index.ts";
import { failingSpawn, failingStore, Faults, type FaultPoint } from "./faults.ts";

export interface Story {
  readonly faults: Faults;
  readonly problems: readonly string[];
}

/** A story that takes longer hangs. */
const LONGEST_MS = 90_000;
let played = 0;

/** Runs a turn with a tool and a permission, a queued turn, a cancelled turn, and closes the session. */
export async function playSession(point?: FaultPoint): Promise<Story> {
  const faults = new Faults(point);
  const problems: string[] = [];
  const store = openMemoryStore();
  const mark = `FAULT_CELL=${process.pid}-${(played += 1)}`;
  await using world = await openWorld(({ lastUserText, toolResults }) => {
    if (toolResults.length > 0) return say("Done.");
    if (lastUserText.endsWith("use a tool")) return call("bash", { command: `env ${mark} echo hello` });
    if (lastUserText.endsWith("sleep")) return call("bash", { command: `env ${mark} sleep 300` });
    return say("Hello.");
  }, store);
  using _ = failingSpawn(faults);
  await using person = answersAll(store);
  const rookery = await world.open(systemClock, failingStore(store, faults));
  const story = async (): Promise<void> => {
    const session = await again(() => rookery.openSession({ permissions: "ask" }));
    person.attend(session.id);
    await again(() => turnOf(session, "use a tool", () => again(() => session.queue("and then"))));
    await session.idle().catch(() => undefined);
    await again(() => turnOf(session, "please sleep", (turn) => untilProcess(store, session.id, turn)));
    await again(() => turnOf(session, "hello"));
    await again(async () => {
      await session.end("over").catch(() => undefined);
      await rookery.endSession(session.id, "over");
    });
  };
  await within(story(), problems);
  await rookery.close().catch(() => undefined); // rejects if a lease could not be released
  faults.stop();
  for (const { id, status } of await store.list({})) {
    if (status !== "closed" && (await store.summary(id))?.turns !== 0) problems.push(`session ${id} is ${status}`);
  }
  problems.push(...(await openTurns(store)), ...processesWith(mark).map(({ command }) => `still runs: ${command}`));
  return { faults, problems };
}

const AGENT = `printf '%s\\n' "$1" | sed -n 's/^run: //p' > "$TMPDIR/script.$$"; sh "$TMPDIR/script.$$"`;

/** Runs a task with a worktree, an agent, a command and a merge. */
export function playTask(point?: FaultPoint): Promise<Story> {
  return playTaskOn((rookery, signal) => rookery.runTasks({ signal }), point);
}

/** Runs the same task on a worker that is started again if it fails, and then asked to drain. */
export function playWorker(point?: FaultPoint): Promise<Story> {
  return playTaskOn(async (rookery, signal) => {
    const asked = new AbortController();
    signal.addEventListener("abort", () => void askToDrain(rookery).finally(() => asked.abort()), { once: true });
    const end = await again(() => rookery.runWorker({ version: "1", signal: AbortSignal.timeout(LONGEST_MS) }));
    await waitForAbort(asked.signal);
    if (end !== "drained") throw new Error(`the worker ended with ${end}`);
  }, point);
}

async function askToDrain(rookery: Rookery): Promise<void> {
  const [worker] = await again(() => rookery.workers());
  if (worker === undefined) return;
  await again(() => rookery.askWorkers(worker.host, "drain")).catch((error: unknown) => {
    if (!isRookeryError(error, "worker_not_found")) throw error; // it has drained after the first request
  });
}

/** `run` runs tasks until the signal aborts. */
async function playTaskOn(
  run: (rookery: Rookery, signal: AbortSignal) => Promise<void>,
  point: FaultPoint | undefined,
): Promise<Story> {
  const faults = new Faults(point);
  const problems: string[] = [];
  const mark = `${process.pid}-${(played += 1)}`;
  await using owned = new DisposeStack();
  const repository = owned.use(await temporaryRepository({ "README.md": "hello\n", "agent.sh": AGENT }));
  const folder = owned.use(await temporaryFolder()).path;
  const extra = { TMPDIR: folder, GIT_CONFIG_GLOBAL: "/dev/null", FAULT_CELL: mark };
  const env = builtEnvironment({ home: folder, extra });
  const agent = JSON.stringify(join(repository.path, "agent.sh"));
  await writeFile(
    join(repository.path, "rookery.toml"),
    `[agents.robin]\nbackend = "command"\ncommand = ["sh", ${agent}, "{prompt}"]\n` +
      `[pipelines.p]\nstages = [{ agent = "robin" }, { run = "test -f made" }, { merge = "merge" }]\n`,
  );
  await mkdir(dirname(userConfigFile(env)), { recursive: true });
  await writeFile(userConfigFile(env), "");
  await trust(repository.path, env);
  const store = owned.use(openMemoryStore());
  using _ = failingSpawn(faults);
  const rookery = await again(() => Rookery.open({ env, cwd: repository.path, store: failingStore(store, faults) }));
  const stopping = new AbortController();
  const running = run(rookery, stopping.signal).catch((error: unknown) => {
    problems.push(`the tasks stopped running: ${String(error)}`);
  });
  const story = async (): Promise<void> => {
    const prompt = "Make it\nrun: echo made > made";
    await again(() =>
      rookery.tasks.start({ id: "one", prompt, agent: "robin", pipeline: "p" }).catch((error: unknown) => {
        if (!isRookeryError(error, "task_exists")) throw error;
      }),
    );
    if ((await ended(store)) === "done") return;
    await again(() => rookery.tasks.resume("one"));
    const outcome = await ended(store);
    if (outcome !== "done")
      problems.push(`after the resume, the task is ${outcome ?? "open"}: ${await reasonOf(store)}`);
  };
  await within(story(), problems);
  stopping.abort();
  await within(running, problems);
  await rookery.close().catch(() => undefined);
  faults.stop();
  const made = await readFile(join(repository.path, "made"), "utf8").catch(() => "nothing");
  if (made !== "made\n") problems.push(`the file on the branch is ${made}`);
  problems.push(
    ...(await openTurns(store)),
    ...processesWith(`FAULT_CELL=${mark}`).map(({ command }) => `still runs: ${command}`),
  );
  return { faults, problems };
}

/** Retries once, because the injected failure happens only once. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    return work();
  }
}

/** Rejects unless the turn ends with the expected status. */
async function turnOf(session: Session, text: string, meanwhile?: (turn: Turn) => Promise<unknown>): Promise<void> {
  await session.idle().catch(() => undefined);
  const turn = session.prompt(text);
  turn.outcome.catch(() => undefined);
  await meanwhile?.(turn);
  if (text.includes("sleep")) await session.cancel();
  const { status } = await turn.outcome;
  const wanted = text.includes("sleep") ? "cancelled" : "done";
  if (status !== wanted) throw new Error(`the turn is ${status}, not ${wanted}`);
}

/** Resolves when a process of the turn runs, or when none will run. */
async function untilProcess(store: Store, sessionId: string, turn: Turn): Promise<void> {
  const over = new AbortController();
  void turn.outcome.catch(() => undefined).finally(() => over.abort()); // a turn that did not start has no events
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(20_000)]);
  for await (const { type, turnId } of store.follow({ sessionId, after: 0, signal })) {
    if (turnId === turn.id && ["process.started", "tool.ended", "turn.ended"].includes(type)) return;
  }
}

async function ended(store: Store): Promise<string | undefined> {
  for (const deadline = performance.now() + LONGEST_MS / 2; performance.now() < deadline; await sleep(20)) {
    const state = await store.task("one");
    if (state !== undefined && isEnded(state)) return state.phase;
  }
  return undefined;
}

async function reasonOf(store: Store): Promise<string> {
  const { events } = await store.readTask({ taskId: "one" });
  return JSON.stringify(events.at(-1));
}

async function within(work: Promise<void>, problems: string[]): Promise<void> {
  const late = new AbortController();
  await Promise.race([
    work.catch((error: unknown) => void problems.push(`the story failed: ${String(error)}`)),
    sleep(LONGEST_MS, undefined, { signal: late.signal, ref: false }).then(
      () => void problems.push("the story did not end in time"),
      () => undefined,
    ),
  ]);
  late.abort();
}

async function openTurns(store: Store): Promise<string[]> {
  const problems: string[] = [];
  for (const { id } of await store.list({ limit: 100 })) {
    const { events } = await store.read({ sessionId: id, limit: 10_000 });
    const count = (type: SessionEvent["type"], turnId: string | undefined): number =>
      events.filter((event) => event.type === type && event.turnId === turnId).length;
    for (const turnId of new Set(events.flatMap((event) => event.turnId ?? []))) {
      const [starts, ends] = [count("turn.started", turnId), count("turn.ended", turnId)];
      if (starts !== 1 || ends !== 1) problems.push(`turn ${turnId} started ${starts} times and ended ${ends} times`);
    }
  }
  return problems;
}

/** Allows every request, through a store that does not fail. */
function answersAll(store: Store) {
  const gone = new AbortController();
  const attending: Promise<void>[] = [];
  const attend = async (sessionId: string): Promise<void> => {
    for await (const event of store.follow({ sessionId, after: 0, signal: gone.signal })) {
      if (event.type !== "permission.requested") continue;
      const { requestId } = event;
      await answerRequest(store, { sessionId, requestId, answer: { decision: "allow" }, clock: systemClock }).catch(
        () => undefined, // the request was withdrawn
      );
    }
  };
  return {
    attend: (sessionId: string) => void attending.push(attend(sessionId).catch(() => undefined)),
    async [Symbol.asyncDispose]() {
      gone.abort();
      await Promise.all(attending);
    },
  };
}
