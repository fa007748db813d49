/** The child process of the matrix: plays the story, or continues it where an earlier process was killed. */
import { Rookery } from "../../src/rookery.ts";
import { openSqliteStore } from "../../src/store/index.ts";
import { withBoundaries, fetchWithBoundaries, setBoundaryOptions, say, type BoundaryOptions } from "./boundaries.ts";
import { settledCounts } from "./effects.ts";
import { ASIDE, FIRST, MODEL, SECOND } from "./conversation.ts";
import { countingTools } from "./tools.ts";
import type { Session } from "../../src/session/index.ts";

export interface ChildOptions extends BoundaryOptions {
  readonly database: string;
  /** The file to which tools append their runs. */
  readonly runs: string;
}

const { database, runs, ...boundaryOptions } = JSON.parse(process.argv[2] ?? "{}") as ChildOptions;
setBoundaryOptions(boundaryOptions);
globalThis.fetch = fetchWithBoundaries(globalThis.fetch);
const inner = await openSqliteStore({ path: database });
const store = withBoundaries(inner);
/** Set after the session is opened. Its tools use it. */
const open: { session?: Session } = {};

async function wasGiven(text: string): Promise<boolean> {
  const { events } = await inner.read({ sessionId: open.session?.id ?? "", limit: 10_000 });
  return events.some(
    (event) =>
      (event.type === "turn.started" || event.type === "input.queued") &&
      event.input.some((part) => part.type === "text" && part.text === text),
  );
}

const source = countingTools({
  runs,
  onLook: async () => {
    if (!(await wasGiven(ASIDE))) await open.session?.queue(ASIDE, { deliver: "steer" });
  },
});
const plugins = [() => ({ id: "counting", version: "1", sources: [source] })];
const rookery = await Rookery.open({ store, plugins });
const [known] = await inner.list();
const session = await rookery.openSession(
  known === undefined ? { model: MODEL, permissions: "ask" } : { id: known.id },
);
open.session = session; // an interrupted turn continues only after this
say({ session: session.id });
if (!(await wasGiven(FIRST))) session.prompt(FIRST).outcome.catch(() => undefined);
if (!(await wasGiven(SECOND))) await session.queue(SECOND);
await session.idle();
await rookery.close();
await store[Symbol.asyncDispose]();
say({ settled: settledCounts });
