import { describe, expect, it } from "vitest";
import type { InputPart } from "../domain/index.ts";
import { systemClock } from "../stdx/index.ts";
import { call, fault, say, type Script } from "../testing/index.ts";
import { LATER, dyingAfter, openScene, openWorld } from "./test-scene.ts";

/** The first bytes of a PNG, and a recognizable text. */
const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(600, "pixel")]);
const IMAGE = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG.toString("base64") },
};

type Scene = Pick<Awaited<ReturnType<typeof openScene>>, "model" | "store">;

async function prompt({ store }: Pick<Scene, "store">, bytes: Uint8Array = PNG): Promise<InputPart[]> {
  const { hash } = await store.putBlob(bytes);
  return [
    { type: "text", text: "What is this?" },
    { type: "blob", hash, mediaType: "image/png", name: "cat.png" },
  ];
}

/** The first message of a request, as sent. */
function asked({ model }: Pick<Scene, "model">, index: number): unknown {
  const { messages } = model.requests[index]!.body as { messages: { content: unknown }[] };
  return messages[0]?.content;
}

describe("an image in a prompt", () => {
  it("is sent to the model in every request of this and later turns, and is in the log only by hash", async () => {
    await using s = await openScene([call("bash", { command: "true" }), say("a cat"), say("grey")]);
    for await (const event of s.session.prompt(await prompt(s))) {
      if (event.type !== "permission.requested") continue;
      const journal = JSON.stringify(await s.store.journal(s.session.id, event.turnId!));
      expect(journal).toContain("bash");
      expect(journal).not.toContain(IMAGE.source.data.slice(20, 60));
      await s.session.answer(event.requestId, { decision: "allow" });
    }
    await s.session.prompt("Its colour?").outcome;
    const text = expect.objectContaining({ type: "text", text: "What is this?" }) as unknown;
    for (const index of [0, 1, 2]) expect(asked(s, index)).toMatchObject([text, IMAGE]);
    expect(JSON.stringify(await s.events(s.session.id))).not.toContain(IMAGE.source.data.slice(20, 60));
    expect(s.model.problems).toEqual([]);
  });

  it("is sent again when its turn resumes in another process", async () => {
    const script: Script = ({ toolResults }) => (toolResults.length === 0 ? call("read", { path: "a" }) : say("a cat"));
    await using w = await openWorld(script);
    const dying = await w.open(systemClock, dyingAfter(w.store, 3)); // opened, started, the model's reply
    const session = await dying.openSession({ permissions: "all" });
    await expect(session.prompt(await prompt(w)).outcome).rejects.toMatchObject({ code: "store_closed" });
    const before = w.model.requests.length;
    const next = await w.open(LATER);
    const again = await next.openSession({ id: session.id });
    expect(await again.resumed!.outcome).toMatchObject({ status: "done" });
    expect(asked(w, before)).toMatchObject([{ type: "text" }, IMAGE]);
    await next.close();
  });

  it("fails only its own turn if the provider refuses it", async () => {
    await using s = await openScene([fault(400), say("well"), say("fine")]);
    const refused = await s.session.prompt(await prompt(s)).outcome;
    expect(refused).toMatchObject({ status: "failed", code: "provider_refused" });
    expect(await s.session.prompt("Never mind").outcome).toMatchObject({ status: "done" });
    expect(JSON.stringify(asked(s, 1))).toContain("[attachment not available to you: cat.png]");
    await s.session.prompt(await prompt(s)).outcome; // a new prompt sends it again
    expect(JSON.stringify(s.model.requests.at(-1)!.body)).toContain(IMAGE.source.data);
  });

  it("rejects with the size limit if it is too large, and the session continues", async () => {
    await using s = await openScene([say("well")]);
    const large = await prompt(s, Buffer.concat([PNG, Buffer.alloc(4_000_000)]));
    expect(await s.session.prompt(large).outcome).toMatchObject({
      status: "failed",
      code: "input_too_large",
      message: expect.stringMatching(/cat\.png .* 3\.8 MB.* smaller/) as string,
    });
    expect(await s.session.prompt("Never mind").outcome).toMatchObject({ status: "done" });
    expect(s.model.requests).toHaveLength(1);
  });
});
