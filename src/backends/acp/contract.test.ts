import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ALL_CAPABILITIES } from "../../domain/index.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { builtEnvironment, writeAcpAgent, type AcpScript, type AcpStep, type AcpTurn } from "../../testing/index.ts";
import { backendContract, type Behavior, type ContractFiles } from "../contract/index.ts";
import { createContractFolders } from "../contract/folders.ts";
import { BROUGHT, COLORS, GREETING, NOTE, OURS, PROMPTS, QUESTION, TEXT } from "../contract/prompts.ts";

const DONE: AcpStep = { say: "Done." };

/** The scripted agent does on its own what a real agent's model decides. */
function turns({ made, written }: ContractFiles): AcpTurn[] {
  const shell = { toolCallId: "t1", title: "touch", kind: "execute", rawInput: { file: made } };
  const edit = { toolCallId: "t2", title: "Write", kind: "edit", locations: [{ path: written }] };
  const diff = { type: "diff", path: written, oldText: null, newText: TEXT };
  const completed = (toolCallId: string, more = {}): AcpStep => ({
    update: { sessionUpdate: "tool_call_update", toolCallId, status: "completed", ...more },
  });
  const failed: AcpStep = { update: { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "failed" } };
  const note = (server: string): AcpStep[] => [
    { update: { sessionUpdate: "tool_call", toolCallId: "t3", title: `mcp__${server}__note`, kind: "other" } },
    { callMcp: { server, tool: "note", arguments: { text: NOTE }, echo: false } },
    completed("t3"),
    DONE,
  ];
  const colours = { type: "object", properties: { colour: { type: "string", enum: [...COLORS] } } };
  const usage = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };
  const cost: AcpStep = {
    update: { sessionUpdate: "usage_update", used: 110, size: 1_000, cost: { amount: 0.5, currency: "USD" } },
  };
  const hello: AcpTurn = {
    steps: [{ say: [GREETING.slice(0, 3), GREETING.slice(3)] }, cost],
    answer: { merge: { usage } },
  };
  return [
    { when: PROMPTS.again, ...hello },
    {
      when: PROMPTS.permission,
      steps: [
        { update: { sessionUpdate: "tool_call", status: "pending", ...shell } },
        {
          permission: { toolCall: shell, echo: false, on: { allow_once: [completed("t1")], reject_once: [failed] } },
        },
        DONE,
      ],
    },
    {
      when: PROMPTS.write,
      steps: [
        { update: { sessionUpdate: "tool_call", status: "pending", ...edit } },
        { permission: { toolCall: edit, echo: false } },
        completed("t2", { content: [diff] }),
        DONE,
      ],
    },
    { when: PROMPTS.question, steps: [{ elicit: { message: QUESTION, requestedSchema: colours } }] },
    { when: PROMPTS.mcp, steps: note(OURS) },
    { when: PROMPTS.brought, steps: note(BROUGHT) },
    { when: PROMPTS.wait, steps: [{ say: "Thinking…" }, { waitForCancel: true }] },
    { when: PROMPTS.hello, ...hello },
  ];
}

/** The protocol has no code for a usage limit; agents put their provider's message into an error. */
const LIMITED: AcpTurn = {
  answer: { error: { code: -32603, message: "Internal error", data: "usage limit reached, try again in 2 hours" } },
};

function script(behavior: Behavior, files: ContractFiles, sessionsFile: string): AcpScript {
  return {
    prompts: behavior === "limit" ? [LIMITED] : turns(files),
    sessionsFile,
    initialize: { agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, fork: {} } } },
    ...(behavior === "login" && { auth: {} }),
    ...(behavior === "model" && {
      models: { currentModelId: "a", availableModels: [{ modelId: "model-b", name: "B" }] },
    }),
  };
}

backendContract(
  {
    name: "an ACP agent",
    backend: "acp",
    capabilities: { ...ALL_CAPABILITIES, modes: false },
    secrets: ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "SOME_OTHER_API_KEY"],
    async open(behavior) {
      await using opening = new DisposeStack();
      const place = opening.use(await createContractFolders());
      const sessions = join(place.home, "sessions.json");
      const { command, record } = await writeAcpAgent(place.home, script(behavior, place.files, sessions));
      const owned = opening.move();
      const model = behavior === "model" ? `\nmodel = "model-b"` : "";
      return {
        ...place,
        env: builtEnvironment({ home: place.home }),
        toml: `backend = "acp"\ncommand = ${JSON.stringify(command)}${model}`,
        isReal: false,
        received: () => (existsSync(record) ? readFileSync(record, "utf8") : ""),
        forget: () => rm(sessions),
        [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
      };
    },
  },
  { concurrent: true },
);
