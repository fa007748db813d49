/** Sends generated wrong params for every request of the protocol. */
import { expect, it } from "vitest";
import { listCheckedMethods } from "../../acp/agent/agent-params.ts";
import { PeerError } from "../../acp/index.ts";
import { messageOf, SessionEvent } from "../../domain/index.ts";
import { Random } from "../../programs/test-fuzz.ts";
import { mutateLine } from "../../programs/test-mutations.ts";
import { say } from "../../testing/index.ts";
import { openAcpScene } from "./test-scene.ts";

const isWhole = process.env["ROOKERY_FUZZ"] === "all";
const CASES = isWhole ? 2_000 : 80;
const FIRST_SEED = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);
const INTERNAL_ERROR = -32603;

/** Valid params of each request. A second `initialize` is refused, so it is sent too. */
const params = (sessionId: string, cwd: string): Readonly<Record<string, object>> => ({
  initialize: { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: "a", version: "1" } },
  authenticate: { methodId: "none" },
  logout: {},
  "session/new": {
    cwd,
    mcpServers: [{ name: "a", command: "/none", args: [], env: [] }],
    additionalDirectories: [cwd],
  },
  "session/load": { sessionId: "ses_unknown", cwd, mcpServers: [] },
  "session/resume": { sessionId: "ses_unknown", cwd, mcpServers: [] },
  "session/fork": { sessionId, cwd, mcpServers: [] },
  "session/list": { cwd, cursor: "a" },
  "session/delete": { sessionId: "ses_unknown" },
  "session/close": { sessionId: "ses_unknown" },
  "session/set_mode": { sessionId, modeId: "ask" },
  "session/set_config_option": { sessionId, configId: "mode", value: "read" },
  "session/set_model": { sessionId, modelId: "anthropic/a" },
  "session/prompt": { sessionId, prompt: [{ type: "text", text: "hi" }] },
});
const NOTIFICATIONS = ["session/cancel"];

it(
  "refuses wrong params with an error of the protocol, and the session still works",
  async () => {
    await using scene = await openAcpScene(() => say("fine"));
    const { client, failures } = await scene.editor();
    const session = await client.session(scene.folder).create();
    const valid = params(session.id, scene.folder);
    expect([...Object.keys(valid), ...NOTIFICATIONS].toSorted()).toEqual([...listCheckedMethods()].toSorted());
    const methods = Object.keys(valid);
    const problems: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + CASES; seed += 1) {
      const random = new Random(seed);
      const method = methods[random.below(methods.length)] ?? "";
      const text = mutateLine(random, JSON.stringify(valid[method]));
      const given = parse(text);
      const late = new Promise<undefined>((resolve) => setTimeout(resolve, 5_000, undefined).unref());
      const sent = (async () => client.request(method, given))().then(
        () => undefined,
        (error: unknown) => error,
      );
      const failure = await Promise.race([sent, late]);
      if (failure === undefined || hasCode(failure)) continue;
      if (failure instanceof RangeError) continue; // the client cannot write a value that is nested this deeply
      problems.push(`seed ${seed}: ${method} ${text.slice(0, 200)}: ${messageOf(failure)}`);
    }
    expect(problems).toEqual([]);
    expect(failures).toEqual([]);
    expect(await (await client.session(scene.folder).create()).prompt("and now?").readText()).toBe("fine");
    for (const { id } of await scene.store.list({ limit: 1_000 })) {
      for (const event of await scene.events(id)) SessionEvent.parse(event);
    }
  },
  isWhole ? 1_200_000 : 60_000,
);

/** True for a protocol error that says what is wrong; an unexpected error has the code `internal`. */
function hasCode(failure: unknown): boolean {
  if (!(failure instanceof PeerError)) return false;
  const { code } = (failure.data ?? {}) as { readonly code?: unknown };
  return failure.code !== INTERNAL_ERROR || (typeof code === "string" && code !== "internal");
}

/** Text that is no JSON cannot be a request; the transport refuses it. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
