// A scripted coding agent that speaks ACP on stdio: node agent.mjs coder|reviewer
// It needs no model: a prompt says "recipe: NAME", and recipes.mjs has the recipe. It keeps the prompts of a session in
// $FLEET_NOTES, so it can continue after a kill, and records there each piece of work that it did.
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { peerError, RPC, serveAgent, streamTransport } from "rookery/acp";
import { RECIPES } from "./recipes.mjs";

const [, , role = "coder"] = process.argv;
const { FLEET_NOTES: notes, ROOKERY_TASK: task = "none" } = process.env;
const PAUSE_MS = 150;

/** By session id: the working directory and all prompts. */
const sessions = new Map();
const fileOf = (id) => join(notes, "sessions", `${id}.json`);
const keep = (id) => writeFileSync(fileOf(id), JSON.stringify(sessions.get(id)));

mkdirSync(join(notes, "sessions"), { recursive: true });
// Like a server that a real agent leaves running: ending the agent has to end this too.
spawn("sleep", ["1000"], { stdio: "ignore", detached: true }).unref();

const server = serveAgent({
  transport: streamTransport(process.stdin, process.stdout),
  handlers: (client) => ({
    initialize: () => ({
      agentInfo: { name: "fleet", version: "1.0.0" },
      agentCapabilities: { sessionCapabilities: { resume: {} } },
    }),
    newSession({ cwd }) {
      const sessionId = randomUUID();
      sessions.set(sessionId, { cwd, told: [] });
      keep(sessionId);
      return { sessionId };
    },
    resumeSession({ sessionId, cwd }) {
      if (!existsSync(fileOf(sessionId))) throw peerError(RPC.notFound, `there is no session ${sessionId}`);
      sessions.set(sessionId, { ...JSON.parse(readFileSync(fileOf(sessionId), "utf8")), cwd }); // on another host, the worktree has another path
      return {};
    },
    async prompt({ sessionId, prompt }, { signal }) {
      const session = sessions.get(sessionId);
      session.told.push(prompt.map(({ text = "" }) => text).join("\n"));
      keep(sessionId);
      const say = (text) =>
        client.update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
      const work = role === "reviewer" ? review : RECIPES[recipeOf(session)];
      try {
        await say(await work(toolsFor({ client, session, sessionId, signal })));
      } catch (error) {
        signal.throwIfAborted();
        throw peerError(RPC.internalError, error.message);
      }
      return { stopReason: "end_turn" };
    },
  }),
});
await server.closed;

/** From the first prompt that names one: later prompts may only say to continue. */
function recipeOf({ told }) {
  const name = /^recipe: (\w+)$/m.exec(told.join("\n"))?.[1] ?? "";
  if (!Object.hasOwn(RECIPES, name)) throw peerError(RPC.invalidParams, "the prompt has no line such as recipe: guide");
  return name;
}

async function review({ read, pause }) {
  await pause();
  const isWhole = read("RELEASE.md").includes("guide") && read("VERSION").trim() !== "";
  return isWhole ? "I have read it.\nAPPROVED" : "It does not say what is new.";
}

function toolsFor({ client, session, sessionId, signal }) {
  const at = (file) => join(session.cwd, file);
  const read = (file) => (existsSync(at(file)) ? readFileSync(at(file), "utf8") : "");
  const ledger = join(notes, "ledger");
  const did = (what) => appendFileSync(ledger, `${task} ${what}\n`);
  const git = (...args) => execFileSync("git", args, { cwd: session.cwd, encoding: "utf8", stdio: "pipe" }).trim();
  const isMerged = (branch) => git("rev-list", "--count", `HEAD..${branch}`) === "0";
  const tools = {
    read,
    pause: () => sleep(PAUSE_MS, undefined, { signal }),
    told: (words) => session.told.some((text) => text.includes(words)),
    /** Waits until the turn is cancelled. */
    async wait(title) {
      const toolCall = { toolCallId: randomUUID(), title, kind: "other", status: "in_progress" };
      await client.update(sessionId, { sessionUpdate: "tool_call", ...toolCall });
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    once(what) {
      const done = existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n") : [];
      if (!done.includes(`${task} ${what}`)) did(what);
    },
    write(file, text) {
      if (!existsSync(at(".env")) || !existsSync(at(".ready"))) throw new Error("the worktree was not set up");
      if (read(file) === text) return;
      mkdirSync(dirname(at(file)), { recursive: true });
      writeFileSync(at(file), text);
      did(file);
    },
    commit(message) {
      rmSync(git("rev-parse", "--path-format=absolute", "--git-path", "index.lock"), { force: true }); // left by a git process that was killed
      if (git("status", "--porcelain") === "") return;
      git("add", "--all");
      git("commit", "--quiet", `--message=${message}`);
    },
    /** Merges a branch that conflicts in one file. `resolve` gets the file as the branch has it. */
    merge(branch, file, resolve) {
      if (isMerged(branch)) return;
      try {
        git("merge", "--quiet", "--no-commit", branch);
      } catch {
        // it conflicts, or a merge that was interrupted is still there
      }
      tools.write(file, resolve(`${git("show", `${branch}:${file}`)}\n`));
      tools.commit(`Merge ${branch}`);
    },
    async ask(message, properties) {
      const requestedSchema = { type: "object", properties, required: Object.keys(properties) };
      const { action, content } = await client.elicit(
        { mode: "form", sessionId, message, requestedSchema },
        { signal },
      );
      if (action !== "accept") throw new Error("the user did not answer the question");
      return content;
    },
    async permit(title) {
      const toolCall = {
        toolCallId: randomUUID(),
        title,
        kind: "execute",
        status: "pending",
        rawInput: { command: title },
      };
      await client.update(sessionId, { sessionUpdate: "tool_call", ...toolCall });
      const options = [
        { optionId: "yes", name: "Yes", kind: "allow_once" },
        { optionId: "no", name: "No", kind: "reject_once" },
      ];
      const { outcome } = await client.requestPermission({ sessionId, toolCall, options }, { signal });
      const isAllowed = outcome.outcome === "selected" && outcome.optionId === "yes";
      const status = isAllowed ? "completed" : "failed";
      const { toolCallId } = toolCall;
      await client.update(sessionId, { sessionUpdate: "tool_call_update", toolCallId, status });
      return isAllowed;
    },
  };
  return tools;
}
