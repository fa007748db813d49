import { expect, describe, it } from "vitest";
import type { EventDraft, Store } from "../../domain/index.ts";
import { newAppend, outputText, sessionOpened, toEventDraft } from "../contract/scene.ts";
import { connectPostgresClient, endPostgresClient } from "./client.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { parsePostgresUrl } from "./location.ts";
import { openPostgresStore } from "./open.ts";

const schemas = testSchemas();
const [FIRST, SECOND] = ["ses_first", "ses_second"];
/** Changes a column of the session, not only its head and its summary. */
const TURN_STARTED = toEventDraft({ type: "turn.started", input: [{ type: "text", text: "a" }] });

async function openSessions(store: Store): Promise<void> {
  for (const sessionId of [FIRST, SECOND]) await store.append(newAppend(0, [sessionOpened()], { sessionId }));
}

describe.skipIf(!hasTestPostgres)("a group of appends", () => {
  it.each<[what: string, first: EventDraft, second: EventDraft]>([
    ["sessions that only grow", outputText("a"), outputText("b")],
    ["a session that changes before one that only grows", TURN_STARTED, outputText("b")],
    ["a session that only grows before one that changes", outputText("a"), TURN_STARTED],
  ])("locks sessions in the order of their numbers: %s", async (_, first, second) => {
    const options = await schemas.next();
    await using store = await openPostgresStore(options);
    await openSessions(store);
    const holder = await connectClient(options.url);
    await holder.query("begin");
    await holder.query(`select 1 from "${options.schema}".session where id = $1 for update`, [FIRST]);
    const appending = Promise.all([
      store.append(newAppend(1, [second], { sessionId: SECOND })),
      store.append(newAppend(1, [first], { sessionId: FIRST })),
    ]);
    await untilWaiting(options.schema);
    // It has to wait for the first session without holding the second one.
    await holder.query(`select 1 from "${options.schema}".session where id = $1 for update nowait`, [SECOND]);
    await holder.query("rollback");
    await endPostgresClient(holder);
    expect(await appending).toEqual([
      { head: 2, repeated: false },
      { head: 2, repeated: false },
    ]);
  });

  it("keeps each column of sessions that change and of those that only grow", async () => {
    const options = await schemas.next();
    await using store = await openPostgresStore(options);
    await openSessions(store);
    await Promise.all([
      store.append(newAppend(1, [TURN_STARTED], { sessionId: FIRST })),
      store.append(newAppend(1, [outputText("b")], { sessionId: SECOND })),
    ]);
    expect(await store.countSessions()).toMatchObject({ running: 1, idle: 1 });
    await using other = await openPostgresStore(options);
    expect(await other.summary(FIRST)).toMatchObject({ head: 2, status: "running", turns: 1 });
    expect(await other.summary(SECOND)).toMatchObject({ head: 2, status: "idle", lastLine: "b" });
    const { events } = await other.readFeed({ after: 2 });
    expect(events.map(({ position }) => position)).toEqual([3, 4]);
  });
});

async function connectClient(url: string) {
  const location = parsePostgresUrl(url);
  const [server] = location.servers;
  return connectPostgresClient(
    { location, server: server!, name: "holder", connectTimeout: 10_000, lockTimeout: 10_000, idleTimeout: 60_000 },
    { useTls: false, isPooled: false },
  );
}

/** Resolves when a statement of the store waits for a lock, which it does until the lock is free. */
async function untilWaiting(schema: string): Promise<void> {
  const sql = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like $1";
  while ((await schemas.query(sql, [`%"${schema}".append_group%`])).length === 0);
}
