import { describe, expect, it } from "vitest";
import { call, collect, say, transcript } from "../testing/index.ts";
import { LATER, openScene } from "./test-scene.ts";

const SLEEPING = call("bash", { command: "echo up; sleep 300" });

describe("deleting a session", () => {
  it("removes it from the log permanently", async () => {
    await using s = await openScene([say("hi")]);
    await s.session.prompt("go").outcome;
    await s.session[Symbol.asyncDispose]();
    await s.rookery.deleteSession(s.session.id);
    expect(await s.rookery.sessions()).toEqual([]);
    const gone = { code: "session_not_found" };
    await expect(s.rookery.openSession({ id: s.session.id })).rejects.toMatchObject(gone);
    await expect(s.rookery.endSession(s.session.id)).rejects.toMatchObject(gone);
    await expect(s.rookery.deleteSession(s.session.id)).rejects.toMatchObject(gone);
    await expect(s.rookery.answer(s.session.id, "r1", { decision: "allow" })).rejects.toMatchObject(gone);
    expect(await s.store.currentLease(s.session.id)).toBeUndefined();
  });

  it("cancels its turn and ends its followers if it is open in this process", async () => {
    await using s = await openScene([SLEEPING], { permissions: "all" });
    const turn = s.session.prompt("go");
    const followed = collect(s.rookery.follow({ session: s.session.id })).catch((error: unknown) => error);
    for await (const { event } of s.rookery.follow({ session: s.session.id })) if (event.type === "tool.updated") break;
    await s.rookery.deleteSession(s.session.id);
    expect(await turn.outcome).toEqual({ status: "cancelled" });
    expect(await followed).toMatchObject({ code: "session_not_found" });
    expect(() => s.session.prompt("more")).toThrow(expect.objectContaining({ code: "session_closed" }));
    await s.session[Symbol.asyncDispose]();
  });

  it("rejects and changes nothing while another process drives it", async () => {
    await using s = await openScene([say("hi")]);
    const elsewhere = await s.open();
    await expect(elsewhere.deleteSession(s.session.id)).rejects.toMatchObject({ code: "session_in_use" });
    expect(transcript(await collect(s.session.prompt("go")))).toContain("says hi");
    await elsewhere.close();
  });

  it("works after its process died in a turn, and refuses later writes of that process", async () => {
    await using s = await openScene([call("bash", { command: "true" })]);
    const turn = s.session.prompt("go");
    for await (const event of turn) if (event.type === "permission.requested") break;
    const next = await s.open(LATER); // simulates another process after the lease expired
    await next.deleteSession(s.session.id);
    await expect(turn.outcome).rejects.toMatchObject({ code: "session_not_found" });
    expect(await s.store.list()).toEqual([]);
    await next.close();
  });
});
