// A scripted stand-in for `codex app-server` and `codex exec`. Runs the steps of a file in each turn.
import { appendFileSync, closeSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, record, subcommand, ...args] = process.argv.slice(2);
const script = JSON.parse(readFileSync(file, "utf8"));
const threadId = "thread-1";
const waiting = new Map();
let asked = 0;
let turns = 0;
let turnId = "turn-0";

function note(what) {
  appendFileSync(record, `${JSON.stringify(what)}\n`);
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function params(given) {
  return { threadId, turnId, ...given };
}

const steps = {
  async notify([method, given]) {
    send({ method, params: params(given) });
  },
  /** Sends a request, and the response to it as a message. */
  async ask([method, given]) {
    const id = asked++;
    const answer = await new Promise((resolve) => {
      waiting.set(id, resolve);
      send({ method, id, params: params(given) });
    });
    const text = JSON.stringify(answer);
    send({ method: "item/completed", params: params({ item: { type: "agentMessage", id: `answer-${id}`, text } }) });
  },
  /** Sends a request without waiting for the response. */
  async drop([method, given]) {
    const id = asked++;
    send({ method, id, params: params(given) });
  },
  /** Prints a line that need not be a message. */
  async print([line]) {
    process.stdout.write(`${line}\n`);
  },
  /** Closes stdout and keeps running. */
  async fallSilent() {
    closeSync(1);
    setInterval(() => undefined, 60_000);
    await new Promise(() => undefined);
  },
  async exit([code, words]) {
    process.stderr.write(words);
    process.exit(code);
  },
};

async function turn() {
  for (const [step, ...given] of script.turn) await steps[step](given);
  const { status = "completed", error = null } = script.end ?? {};
  send({ method: "turn/completed", params: { threadId, turn: { id: turnId, status, error } } });
  for (const [step, ...given] of script.after ?? []) await steps[step](given);
}

const serve = {
  initialize: () => ({ userAgent: "rookery/0.166.0 (test)" }),
  "account/read": () => script.account ?? { account: null, requiresOpenaiAuth: false },
  "config/read": () => ({ config: script.config ?? {} }),
  "thread/start": () => ({ thread: { id: threadId }, model: "m", modelProvider: script.provider ?? "fake" }),
  "thread/resume": () => ({ thread: { id: threadId }, model: "m", modelProvider: "fake" }),
  "turn/start": () => {
    turns += 1;
    turnId = `turn-${turns}`;
    setImmediate(turn);
    return { turn: { id: turnId, status: "inProgress" } };
  },
  "turn/interrupt": () => ({}),
};

const stdin = subcommand === "exec" ? readFileSync(0, "utf8") : undefined;
note({ args: [subcommand, ...args], env: process.env, stdin });
if (subcommand === "app-server" && script.isOld) {
  process.stderr.write("error: unrecognized subcommand 'app-server'\n");
  process.exit(2);
}
if (subcommand === "exec") {
  for (const event of script.exec) send(event);
  process.exit(0);
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  note(message);
  const { id, method, result, error } = message;
  if (method === undefined) waiting.get(id)?.(result ?? error);
  else if (id !== undefined) send({ id, result: serve[method]() });
  if (method === "thread/resume") for (const [step, ...given] of script.resumed ?? []) void steps[step](given);
});
