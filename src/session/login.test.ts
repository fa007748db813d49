import { describe, expect, it, vi } from "vitest";
import type { SessionEvent } from "../domain/index.ts";
import { startTestAuthorization } from "../mcp/oauth/test-authorization.ts";
import { call, collect, say } from "../testing/index.ts";
import type { Session } from "./index.ts";
import { openWorld } from "./test-scene.ts";

/** Resolves with the login question when it is asked. */
async function loginAsked(session: Session, events: () => Promise<readonly SessionEvent[]>) {
  return vi.waitFor(
    async () => {
      const asked = (await events()).find((event) => event.type === "question.asked");
      if (asked?.type !== "question.asked") throw new Error(`${session.id} asks nothing`);
      return asked;
    },
    { timeout: 10_000, interval: 20 },
  );
}

const statusOf = (session: Session) => session.tools.servers().servers[0]?.status;
const becomes = (session: Session, status: string) =>
  vi.waitFor(() => expect(statusOf(session)).toBe(status), { timeout: 10_000, interval: 20 });

describe("a server that needs a login", () => {
  it("asks in the session, and is ready after the person has logged in", async () => {
    await using vault = await startTestAuthorization();
    await using w = await openWorld([say("Hi")]);
    await using rookery = await w.open();
    const session = await rookery.openSession({ mcpServers: [vault.spec()] });
    const asked = await loginAsked(session, () => w.events(session.id));
    expect(asked.url).toContain(vault.origin);
    expect(asked.turnId).toBeUndefined();
    expect(statusOf(session)).toBe("needs_login");
    await (await fetch(asked.url ?? "")).text(); // the page consents automatically and redirects back
    await becomes(session, "ready");
    const events = await w.events(session.id);
    expect(events.find(({ type }) => type === "question.answered")).toMatchObject({ action: "accept", by: "policy" });
    await collect(session.prompt("go"));
    expect(w.model.requests[0]?.toolNames.some((name) => name.startsWith("vault__"))).toBe(true);
  });

  it("stays unavailable with a hint if the person declines", async () => {
    await using vault = await startTestAuthorization();
    await using w = await openWorld([say("Hi")]);
    await using rookery = await w.open();
    const session = await rookery.openSession({ mcpServers: [vault.spec()] });
    const asked = await loginAsked(session, () => w.events(session.id));
    await session.answer(asked.requestId, { action: "decline" });
    await vi.waitFor(() =>
      expect(session.tools.servers().servers[0]).toMatchObject({
        status: "needs_login",
        reason: expect.stringContaining("declined") as string,
        fix: expect.stringContaining("rookery mcp auth vault") as string,
      }),
    );
    expect((await collect(session.prompt("go"))).at(-1)).toMatchObject({ outcome: { status: "done" } });
  });

  it("does not ask if nobody can be asked", async () => {
    await using vault = await startTestAuthorization();
    await using w = await openWorld([say("Hi")]);
    await using rookery = await w.open();
    const session = await rookery.openSession({ mcpServers: [vault.spec()], attended: false });
    await collect(session.prompt("go"));
    expect(statusOf(session)).toBe("needs_login");
    expect((await w.events(session.id)).some(({ type }) => type === "question.asked")).toBe(false);
  });

  it("needs one login for two sessions, and none for a third", async () => {
    await using vault = await startTestAuthorization();
    await using w = await openWorld([say("Hi")]);
    await using rookery = await w.open();
    const open = () => rookery.openSession({ mcpServers: [vault.spec()] });
    const [one, two] = await Promise.all([open(), open()]);
    const first = await Promise.any([one, two].map((session) => loginAsked(session, () => w.events(session.id))));
    await (await fetch(first.url ?? "")).text();
    await Promise.all([becomes(one, "ready"), becomes(two, "ready")]);
    await becomes(await open(), "ready");
    expect(vault.counts).toMatchObject({ pages: 1, exchanges: 1 });
  });

  it("refreshes its token silently, and asks again if that is refused", async () => {
    await using vault = await startTestAuthorization();
    await using w = await openWorld(({ toolResults, toolNames }) => {
      const tool = toolNames.find((name) => name.startsWith("vault__")) ?? "none";
      return toolResults.length === 0 ? call(tool) : say("Done.");
    });
    await using rookery = await w.open();
    const session = await rookery.openSession({ mcpServers: [vault.spec()], permissions: "all" });
    const asked = await loginAsked(session, () => w.events(session.id));
    await (await fetch(asked.url ?? "")).text();
    await becomes(session, "ready");
    vault.expireTokens();
    const ended = (await collect(session.prompt("go"))).filter(({ type }) => type === "tool.ended");
    expect(ended).toMatchObject([{ outcome: "ok" }]);
    expect(vault.counts.refreshes).toBe(1);
    vault.revokeAll();
    await collect(session.prompt("go"));
    await becomes(session, "needs_login");
  });
});
