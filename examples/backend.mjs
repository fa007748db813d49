// Registers a backend: an agent with a rule instead of a model. It searches the repository for a word, after it was
// allowed to. Usage: backend.mjs WORD
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { NO_CAPABILITIES, Rookery } from "rookery";

const run = promisify(execFile);

/** Used by agents with `backend = "searcher"`. */
const searcher = {
  kind: "searcher",
  async open({ cwd, env }) {
    return {
      capabilities: { ...NO_CAPABILITIES, permissions: true, interrupt: true },
      resumesTurns: false,
      runTurn: (turn) => search(turn, { cwd, env }),
      async [Symbol.asyncDispose]() {},
    };
  },
};

/** One turn: asks for permission, runs git, and answers with the number of lines. */
async function search(turn, place) {
  const word = turn.input
    .map((part) => part.text ?? "")
    .join(" ")
    .trim();
  const command = ["git", "grep", "--line-number", "--fixed-strings", "-e", word];
  const call = { toolId: randomUUID(), title: command.join(" "), kind: "search", input: { word } };
  turn.log.record({ type: "tool.started", name: "git", ...call });
  const decision = await turn.permit({ ...call, tool: "git", readOnly: true });
  if (!decision.allowed) {
    turn.log.record({ type: "tool.ended", toolId: call.toolId, outcome: decision.outcome, text: decision.message });
    return { status: "done" };
  }
  const found = await grep(command, place, turn.signal);
  turn.log.record({ type: "tool.ended", toolId: call.toolId, outcome: "ok", text: found });
  const lines = found.split("\n").filter(Boolean).length;
  turn.log.record({ type: "message.completed", messageId: randomUUID(), text: `${lines} lines have "${word}".` });
  return { status: "done" };
}

async function grep([program, ...args], { cwd, env }, signal) {
  try {
    return (await run(program, args, { cwd, env, signal })).stdout;
  } catch (error) {
    if (error.code === 1) return ""; // git found nothing
    throw error; // the turn fails with agent_failed, or ends as cancelled
  }
}

const rookery = await Rookery.open({ backends: [searcher] });
const session = await rookery.openSession({
  agent: { name: "finder", backend: "searcher", permissions: "read" },
  attended: false,
});
const turn = session.prompt(process.argv[2] ?? "hello");
console.log(await turn.text());
await rookery.close();
