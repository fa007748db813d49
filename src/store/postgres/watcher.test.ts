import { describe, expect, it } from "vitest";
import { newAppend, numbers, outputText, SESSION, sessionOpened, writeTestSession } from "../contract/scene.ts";
import { openFaultyProxy } from "./fixtures/proxy.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { parseNotification, toNotifications } from "./notifications.ts";
import { openPostgresStore } from "./open.ts";

const schemas = testSchemas();
const HOUR = 3_600_000;

describe.skipIf(!hasTestPostgres)("watches of a PostgreSQL store", () => {
  it("are notified of appends and deletions of other processes without a poll", async () => {
    const options = await schemas.next();
    await using writer = await openPostgresStore(options);
    await using watcher = await openPostgresStore(options, { pollMs: HOUR });
    await writeTestSession(writer);
    const heads = watcher.watchHead({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();
    for (const seq of numbers(2, 20)) {
      expect(await heads.next()).toEqual({ done: false, value: seq - 1 });
      await writer.append(newAppend(seq - 1, [outputText(String(seq))]));
    }
    await heads.next();
    const ended = heads.next();
    await writer.delete(await writer.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    expect(await ended).toEqual({ done: true, value: undefined });
  });

  it("find by polling what no notification reported", async () => {
    const options = await schemas.next();
    await using writer = await openPostgresStore(options);
    await using watcher = await openPostgresStore(options, { pollMs: 20 });
    await writeTestSession(writer);
    const heads = watcher.watchHead({ sessionId: SESSION, after: 1 })[Symbol.asyncIterator]();
    const next = heads.next();
    // As if the notifications of another process were lost: rows that no program wrote.
    await schemas.query(`insert into "${options.schema}".feed values (2, 1, 1, 2, 1)`);
    expect(await next).toEqual({ done: false, value: 2 });
    const ended = heads.next();
    await schemas.query(`delete from "${options.schema}".session`);
    await schemas.query(`insert into "${options.schema}".deletion values (1, '${SESSION}')`);
    expect(await ended).toEqual({ done: true, value: undefined });
  });

  it.each([
    ["of a head that the log does not have", `[[0,"${SESSION}",1000000]]`],
    ["of a head that is no number", `[[0,"${SESSION}","x"]]`],
    ["of a deletion that did not happen", `[[0,"${SESSION}",null]]`],
    ["that is no list", "5"],
  ])("find every later append after a forged notification %s", async (_, payload) => {
    const options = await schemas.next();
    await using writer = await openPostgresStore(options);
    await using watcher = await openPostgresStore(options, { pollMs: HOUR });
    await writeTestSession(writer);
    const heads = watcher.watchHead({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();
    expect(await heads.next()).toEqual({ done: false, value: 1 });
    const next = heads.next();
    await schemas.query(`select pg_notify('rookery_${options.schema}', '${payload}')`);
    await writer.append(newAppend(1, [outputText("two")]));
    expect(await next).toEqual({ done: false, value: 2 });
    const last = heads.next();
    await writer.append(newAppend(2, [outputText("three")]));
    expect(await last).toEqual({ done: false, value: 3 });
  });

  it("cost one small query per poll, however many wait", async () => {
    const options = await schemas.next();
    await using proxy = await openFaultyProxy(options.url);
    await using store = await openPostgresStore({ ...options, url: proxy.url }, { pollMs: 20 });
    const ids = numbers(1, 500).map((index) => `ses_${index}`);
    await Promise.all(ids.map((sessionId) => store.append(newAppend(0, [sessionOpened()], { sessionId }))));
    const watches = ids.map((sessionId) => store.watchHead({ sessionId, after: 0 })[Symbol.asyncIterator]());
    await Promise.all(watches.map((watch) => watch.next()));
    const waiting = watches.map((watch) => watch.next());
    expect(await proxy.sent(20)).toBeLessThan(20 * 200);
    await store.append(newAppend(1, [outputText("2")], { sessionId: "ses_7" }));
    expect(await waiting[6]).toEqual({ done: false, value: 2 });
  });
});

describe("a notification", () => {
  it("names each log once with its last head, and names deleted sessions", () => {
    const logs = [
      { kind: "session", id: "ses_\0 a", head: 1 },
      { kind: "session", id: "ses_\0 a", head: 3 },
      { kind: "task", id: "t", head: 2 },
      { kind: "session", id: "ses_b", head: Infinity },
    ] as const;
    const payloads = toNotifications(logs);
    expect(payloads).toHaveLength(1);
    expect(parseNotification(payloads[0]!)).toEqual(logs.slice(1));
  });

  it("is split if it is too long, and asks listeners to read the feed if there are too many", () => {
    const grown = (count: number, id = "ses_") =>
      numbers(1, count).map((index) => ({ kind: "session" as const, id: `${id}${index}`, head: index }));
    const payloads = toNotifications(grown(1_000));
    expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8_000);
    expect(payloads.flatMap((payload) => parseNotification(payload))).toEqual(grown(1_000));
    for (const many of [grown(10_000), grown(1, "x".repeat(8_000))]) {
      expect(toNotifications(many)).toEqual([""]);
      expect(parseNotification("")).toBeUndefined();
    }
  });
});
