import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { builtEnvironment } from "../../testing/environment.ts";
import { PeerError } from "../index.ts";
import { serveFiles, serveTerminals } from "../serve/index.ts";
import { CARRIERS, openScene } from "./test-sdk-agent.ts";

/** `interop.test.ts` covers an agent in its own process too. */
const SAMPLE = process.env["ROOKERY_SLOW"] === "1" ? CARRIERS : CARRIERS.slice(0, 1);

describe.each(SAMPLE)("an agent of the official SDK, %s,", (carrier) => {
  it("gets the chosen option of a permission request", async () => {
    const asked: string[] = [];
    await using scene = await openScene(carrier, {
      serve: {
        permission({ toolCall, options }) {
          asked.push(`${toolCall.title ?? ""}: ${options.map(({ name }) => name).join(", ")}`);
          return { outcome: { outcome: "selected", optionId: "always" } };
        },
      },
    });
    const session = await scene.client.session(scene.folder).create();
    expect(await session.prompt("permission").readText()).toBe("selected always");
    expect(asked).toEqual(["Delete a file: Yes, Always, No"]);
  });

  it("can withdraw a question", async () => {
    await using scene = await openScene(carrier, { serve: { permission: (_params, { signal }) => rejection(signal) } });
    const session = await scene.client.session(scene.folder).create();
    expect(await session.prompt("withdrawn-permission").readText()).toBe("error -32800");
  });

  it("reads and writes files", async () => {
    await using scene = await openScene(carrier);
    const { client, folder } = scene;
    const session = await client
      .session(folder)
      .serve(serveFiles({ roots: [folder] }))
      .create();
    await writeFile(join(folder, "poem.txt"), "one\ntwo\nthree\nfour");
    expect(await session.prompt("read poem.txt").readText()).toBe("one\ntwo\nthree\nfour");
    expect((await session.prompt("read poem.txt 2 2").readText()).trimEnd()).toBe("two\nthree");
    expect(await session.prompt("write made.txt by the agent").readText()).toBe("written");
    expect(await readFile(join(folder, "made.txt"), "utf8")).toBe("by the agent");
    await expect(session.prompt("read ../outside.txt").readText()).rejects.toBeInstanceOf(PeerError);
  });

  it("gets -32601 for what the client does not offer", async () => {
    await using scene = await openScene(carrier);
    const session = await scene.client.session(scene.folder).create();
    await expect(session.prompt("read poem.txt").readText()).rejects.toMatchObject({ code: -32601 });
    expect(await session.prompt("extension _example.org/who").readText()).toBe("error -32601");
  });

  it("calls an extension method", async () => {
    await using scene = await openScene(carrier, { serve: { request: ({ method }) => ({ called: method }) } });
    const session = await scene.client.session(scene.folder).create();
    const answer = await session.prompt("extension _example.org/who").readText();
    expect(JSON.parse(answer)).toEqual({ called: "_example.org/who" });
  });

  it("runs commands in terminals and kills them", async () => {
    await using scene = await openScene(carrier);
    const { client, folder } = scene;
    await using terminal = serveTerminals({ roots: [folder], env: builtEnvironment({ home: folder }) });
    const session = await client.session(folder).serve({ terminal }).create();
    expect(await session.prompt("run echo hello").readText()).toBe("hello, exit 0, whole");
    expect(await session.prompt("run false").readText()).toBe(", exit 1, whole");
    expect(await session.prompt("kill sleep 60").readText()).toBe("signal SIGTERM, released");
  });

  it("asks the user with a form and with a link", async () => {
    const completed: unknown[] = [];
    await using scene = await openScene(carrier, {
      serve: {
        elicitation: ({ mode }) =>
          mode === "form" ? { action: "accept", content: { branch: "main" } } : { action: "decline" },
        notification: ({ method, params }) => void completed.push([method, params]),
      },
    });
    const session = await scene.client.session(scene.folder).create();
    expect(await session.prompt("form").readText()).toBe("branch main");
    expect(await session.prompt("link").readText()).toBe("decline");
    expect(completed).toEqual([["elicitation/complete", { elicitationId: "link-1" }]]);
  });

  it("gets an answer to its permission request after a cancel", async () => {
    const asked = deferred();
    await using scene = await openScene(carrier, {
      serve: {
        permission(_params, { signal }) {
          asked.resolve();
          return rejection(signal);
        },
      },
    });
    const session = await scene.client.session(scene.folder).create();
    const turn = session.prompt("permission");
    await asked.promise;
    await turn.cancel();
    expect(await turn.readText()).toBe("cancelled");
    expect(await turn.stopReason).toBe("cancelled");
  });
});

/** A user who never answers. The question may already have been withdrawn. */
async function rejection(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}
