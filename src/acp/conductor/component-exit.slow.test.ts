import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { temporaryFolder, type AcpScript } from "../../testing/index.ts";
import { Random } from "../../programs/test-fuzz.ts";
import type { HopMessage } from "./test-hop.ts";
import { settle, type LineClient, type Message } from "./test-line-client.ts";
import { eventually, NAMES, openProcesses, PROXIES, type Name, type ProcessChain } from "./test-processes.ts";

const PERMISSION = "session/request_permission";
const SCRIPT: AcpScript = {
  prompts: [{ when: "warm up", steps: [{ say: "warm" }] }, [{ say: "one" }, { permission: {} }, { say: "two" }]],
};
/** In the long run every component is a program; otherwise only the one that is killed. */
const ALL_PROGRAMS = process.env["ROOKERY_FUZZ"] !== undefined;

type Moment = (chain: ProcessChain, kill: () => void) => Promise<Message[]>;

/** Each kills the component at its moment and returns the client's answers to its request. */
const MOMENTS: Readonly<Record<string, Moment>> = {
  "while it is initialized": async (chain, kill) => {
    const held = chain.hops.agent.hold(isAnswerTo("initialize"));
    const asked = introduce(chain);
    await held.reached;
    kill();
    return answers(chain, held.release, asked);
  },

  "between initialization and a session": async (chain, kill) => {
    await chain.client.answerTo(introduce(chain));
    kill();
    return answers(chain, () => undefined, open(chain));
  },

  "while a session is opened": async (chain, kill) => {
    await chain.client.answerTo(introduce(chain));
    const held = chain.hops.agent.hold(isAnswerTo("session/new"));
    const asked = open(chain);
    await held.reached;
    kill();
    return answers(chain, held.release, asked);
  },

  "between two prompts": async (chain, kill) => {
    const sessionId = await begin(chain);
    await chain.client.answerTo(chain.client.prompt(sessionId, "warm up"));
    kill();
    return answers(chain, () => undefined, chain.client.prompt(sessionId));
  },

  "while a prompt runs": async (chain, kill) => {
    const sessionId = await begin(chain);
    const held = chain.hops.agent.hold(({ method }) => method === "session/update");
    const asked = chain.client.prompt(sessionId);
    await held.reached;
    kill();
    return answers(chain, held.release, asked);
  },

  "with a permission before the user": async (chain, kill) => {
    const sessionId = await begin(chain);
    const asked = chain.client.prompt(sessionId);
    const permission = await chain.client.called(PERMISSION);
    kill();
    const cancel = await chain.client.called("$/cancel_request");
    expect(cancel.params).toEqual({ requestId: permission.id });
    chain.client.send({ id: permission.id, result: { outcome: { outcome: "cancelled" } } });
    return answers(chain, () => undefined, asked);
  },
};

describe.each(NAMES)("killing %s of a chain", (victim) => {
  it.concurrent.each(Object.entries(MOMENTS))(
    "reports what was lost once and keeps the rest running: %s",
    async (_, moment) => {
      await using folder = await temporaryFolder();
      await using chain = await openProcesses({ folder, script: SCRIPT, programs: ALL_PROGRAMS ? NAMES : [victim] });
      const told = await moment(chain, () => chain.kill(victim));

      expect(told).toHaveLength(1);
      for (const { error } of told) expect(error).toMatchObject(lost(victim));
      expect(chain.deaths).toEqual([victim]);
      for (const name of PROXIES) {
        const { result, error } = await chain.client.request(`_${name}/ask`);
        if (NAMES.indexOf(name) < NAMES.indexOf(victim)) expect(result).toEqual({ by: name });
        else expect(error).toMatchObject(lost(victim));
      }
      const started = NAMES.filter((name) => chain.hops[name].messages.length > 0);
      const behind = started.slice(NAMES.indexOf(victim));
      await eventually("the end of what is behind it", () => behind.every((name) => chain.ended.has(name)));
      expect([...chain.ended].toSorted()).toEqual(behind.toSorted());
      await chain.conductor.close();
      expect(NAMES.flatMap((name) => chain.pids(name))).toEqual([]);
      for (const name of NAMES.slice(0, NAMES.indexOf(victim))) {
        expect([name, chain.hops[name].problems, chain.hops[name].open]).toEqual([name, [], []]);
      }
    },
  );
});

describe.each(NAMES)("%s of a chain", (name) => {
  it.concurrent("is reported with its stderr if it exits immediately after the start", async () => {
    await using folder = await temporaryFolder();
    const dies = [process.execPath, "-e", 'process.stderr.write("no licence\\n"); process.exitCode = 3'];
    await using chain = await openProcesses({ folder, script: SCRIPT, programs: [name], commands: { [name]: dies } });
    const error = { code: -32603, message: `${name} ended (exit code 3); its last output: no licence` };
    expect(await chain.client.request("initialize", { protocolVersion: 1 })).toMatchObject({ error });
    expect(await chain.client.request("session/new", {})).toMatchObject({ error });
    expect(chain.deaths).toEqual([name]);
  });

  it.concurrent("is reported with the reason each time if it cannot be started", async () => {
    await using folder = await temporaryFolder();
    const missing = [`${folder.path}/missing`];
    await using chain = await openProcesses({
      folder,
      script: SCRIPT,
      programs: [name],
      commands: { [name]: missing },
    });
    const message = `${name} could not be started: cannot start ${missing.join()}: there is no such file`;
    expect(await chain.client.request("initialize", { protocolVersion: 1 })).toMatchObject({ error: { message } });
    expect(await chain.client.request("session/new", {})).toMatchObject({ error: { message } });
    for (const before of PROXIES.slice(0, NAMES.indexOf(name))) {
      expect(await chain.client.request(`_${before}/ask`)).toMatchObject({ result: { by: before } });
    }
  });

  it.concurrent("is stopped with the chain if it never answers a cancelled request", async () => {
    await using folder = await temporaryFolder();
    const deaf = [process.execPath, "-e", "setInterval(() => undefined, 1_000)"];
    await using chain = await openProcesses({ folder, script: SCRIPT, programs: [name], commands: { [name]: deaf } });
    const asked = introduce(chain);
    await eventually("its start", () => chain.pids(name).length > 0);
    chain.client.send({ method: "$/cancel_request", params: { requestId: asked } });
    expect(await chain.client.answerTo(asked)).toMatchObject({ error: { code: -32800 } });
    await chain.conductor.close();
    expect(chain.pids(name)).toEqual([]);
    expect(chain.client.answersTo(asked)).toHaveLength(1);
  });
});

/** Real processes are slow: the long run has at most this many cases. */
const CASES = Math.min(Number(process.env["ROOKERY_FUZZ"] ?? 3), 100);

it("answers everything once and leaves no process after any component is killed at any moment", async () => {
  for (let seed = Date.now() % 1_000_000, last = seed + CASES; seed < last; seed += 1) {
    const random = new Random(Number(process.env["ROOKERY_SEED"] ?? seed));
    await using folder = await temporaryFolder();
    await using chain = await openProcesses({ folder, script: ASKS, programs: NAMES, onMessage: allow });
    const victim = random.pick(...NAMES);
    const conversation = converse(chain);
    await eventually("its start", () => chain.pids(victim).length > 0);
    await sleep(random.below(400));
    chain.kill(victim);
    const asked = await conversation;
    const told = asked.map((id) => chain.client.answersTo(id));
    expect({ seed, told: told.map((answers) => answers.length) }).toEqual({ seed, told: asked.map(() => 1) });
    expect({ seed, last: told.at(-1)?.[0]?.error?.message.split(";")[0] }).toEqual({
      seed,
      last: `${victim} ended (signal SIGKILL)`,
    });
    await chain.conductor.close();
    expect({ seed, left: NAMES.flatMap((name) => chain.pids(name)) }).toEqual({ seed, left: [] });
  }
}, 600_000);

const ASKS: AcpScript = { otherwise: [{ say: "one" }, { permission: {} }, { say: "two" }] };

function allow({ id, method }: Message, client: LineClient): void {
  if (method !== PERMISSION) return;
  client.send({ id, result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
}

/** Sends one request after the other and allows everything, until one fails. */
async function converse(chain: ProcessChain): Promise<string[]> {
  const { client } = chain;
  const asked: string[] = [];
  const ask = (id: string): Promise<Message> => {
    asked.push(id);
    return client.answerTo(id);
  };
  let answer = await ask(introduce(chain));
  while (answer.error === undefined) {
    answer = await ask(open(chain));
    const { sessionId } = (answer.result ?? {}) as { sessionId?: string };
    if (sessionId !== undefined) answer = await ask(client.prompt(sessionId));
  }
  return asked;
}

function introduce({ client }: ProcessChain): string {
  return client.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
}

function open({ client }: ProcessChain): string {
  return client.ask("session/new", { cwd: "/project", mcpServers: [] });
}

async function begin(chain: ProcessChain): Promise<string> {
  await chain.client.answerTo(introduce(chain));
  return chain.client.newSession();
}

async function answers({ client }: ProcessChain, release: () => void, asked: string): Promise<Message[]> {
  await client.answerTo(asked);
  release();
  await settle();
  return client.answersTo(asked);
}

function isAnswerTo(method: string) {
  return (message: HopMessage): boolean => message.kind === "response" && message.method === method;
}

/** The error that names the lost component, how it ended, and its last output. */
function lost(name: Name) {
  return {
    code: -32603,
    message: `${name} ended (signal SIGKILL); its last output: ${name} was here`,
    data: { end: "eof", exitCode: null, signal: "SIGKILL", stderr: `${name} was here\n` },
  };
}
