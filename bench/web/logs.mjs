// The logs that the page shows: a roster, a long session, and events that arrive while somebody types.
export const LONG_SESSION = "ses_web_bench_long";
export const LIVE_SESSION = "ses_web_bench_live";
/** The last words of the long session. */
export const END = "These are the last words of the long session.";
export const LONG_EVENTS = 100_000;
export const LONG_MESSAGE = 1_600_000;

const EVENTS_PER_TURN = 100;
const DELTAS = 80;
/** Turns of the conversation that opencode's page can show too. */
export const PEER_TURNS = 1_000;
export const PEER_SESSION = "ses_web_bench_peer";
const PARAGRAPH = `The queue loses its last item, because \`drain()\` reads it **before** it takes the lock. I changed that:

1. The lock is taken first.
2. A test covers it with ten writers.

\`\`\`ts
export async function drain(queue: Queue): Promise<void> {
  await queue.lock(); // waits for the writer
  return queue.flush({ timeout: 30 });
}
\`\`\`

`;

/** 200 idle sessions that belong to no task, and 50 tasks that are done. */
export async function writeRoster(store) {
  for (let index = 0; index < 200; index += 1) {
    const sessionId = `ses_web_bench_${String(index).padStart(3, "0")}`;
    await append(store, sessionId, 0, [opened(), ...toTurn(index, 5)]);
  }
  for (let index = 0; index < 50; index += 1) {
    const at = new Date().toISOString();
    const bodies = [
      { type: "task.created", spec: toSpec(index) },
      { type: "task.started", run: 1, owner: "bench" },
      { type: "task.ended", outcome: "done" },
    ];
    const taskId = `bench-${index}`;
    for (const [expectedHead, body] of bodies.entries()) {
      const id = `app_${taskId}_${expectedHead}`;
      await store.appendTask({ taskId, id, expectedHead, events: [{ ...body, at }] });
    }
  }
}

/** Most turns have a text and five tools. The last message has `LONG_MESSAGE` characters. */
export async function writeLongSession(store) {
  let head = await append(store, LONG_SESSION, 0, [opened()]);
  const last = Math.round(LONG_EVENTS / EVENTS_PER_TURN) - 1;
  for (let turn = 0; turn < last; turn += 1) head = await append(store, LONG_SESSION, head, toTurn(turn, DELTAS));
  await append(store, LONG_SESSION, head, toLongTurn(last));
}

/** The question and the answer of a turn, for both pages. The last answer ends with `END`. */
export function toPeerTurn(turn) {
  const isLast = turn === PEER_TURNS - 1;
  return [`Question ${turn}: why does the queue lose an item?`, PARAGRAPH.repeat(2) + (isLast ? END : "")];
}

export async function writePeerSession(store) {
  let head = await append(store, PEER_SESSION, 0, [opened()]);
  for (let turn = 0; turn < PEER_TURNS; turn += 1) {
    const [question, text] = toPeerTurn(turn);
    const bodies = [
      { type: "turn.started", input: [{ type: "text", text: question }] },
      { type: "message.completed", messageId: `msg_${turn}`, text },
      { type: "turn.ended", outcome: { status: "done" } },
    ].map((body) => ({ ...body, turnId: `trn_${turn}` }));
    head = await append(store, PEER_SESSION, head, bodies);
  }
}

export async function writeLiveSession(store) {
  return append(store, LIVE_SESSION, 0, [opened(), { ...toPrompt(0), turnId: "trn_0" }]);
}

/** Appends texts of one message to the live session until it is stopped. Resolves with the events per second. */
export function startStream(store, { head, perSecond, everyMs = 20 }) {
  const count = Math.round((perSecond * everyMs) / 1_000);
  const started = performance.now();
  let [next, sent, isStopped] = [head, 0, false];
  const running = (async () => {
    while (!isStopped) {
      const due = ((performance.now() - started) / everyMs) * count;
      if (sent < due) {
        const words = Array.from({ length: count }, (_, index) =>
          toDelta(`word ${sent + index}${toSpace(sent + index)}`),
        );
        next = await append(store, LIVE_SESSION, next, words);
        sent += count;
      } else await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return { perSecond: (sent * 1_000) / (performance.now() - started), head: next };
  })();
  return () => ((isStopped = true), running);
}

const toSpace = (index) => (index % 20 === 19 ? "\n\n" : " ");
const toDelta = (text) => ({ type: "message.delta", messageId: "live", text, turnId: "trn_0" });

async function append(store, sessionId, expectedHead, bodies) {
  const at = new Date().toISOString();
  const events = bodies.map((body) => ({ ...body, at, agent: "bench" }));
  await store.append({ sessionId, id: `app_${sessionId}_${expectedHead}`, expectedHead, events });
  return expectedHead + events.length;
}

function opened() {
  return { type: "session.opened", backend: "api", cwd: "/tmp", permissions: "ask", model: "bench" };
}

function toPrompt(turn) {
  return {
    type: "turn.started",
    input: [{ type: "text", text: `Question ${turn}: why does the queue lose an item?` }],
  };
}

function toTurn(turn, deltas) {
  const messageId = `msg_${turn}`;
  const text = PARAGRAPH.repeat(2);
  const size = Math.ceil(text.length / deltas);
  const tools = Array.from({ length: 5 }, (_, index) => toTool(`tool_${turn}_${index}`, index)).flat();
  const bodies = [
    toPrompt(turn),
    ...Array.from({ length: deltas }, (_, at) => {
      return { type: "message.delta", messageId, text: text.slice(at * size, (at + 1) * size) || " " };
    }),
    { type: "message.completed", messageId, text },
    ...tools,
    { type: "notice", level: "warning", code: "slow", message: "The model answers slowly." },
    { type: "usage.reported", inputTokens: 4_000, outputTokens: 300 },
    { type: "turn.ended", outcome: { status: "done" } },
  ];
  return bodies.map((body) => ({ ...body, turnId: `trn_${turn}` }));
}

function toTool(toolId, index) {
  const title = `npm test -- file-${index}`;
  return [
    { type: "tool.started", toolId, name: "bash", title, kind: "execute", input: { command: title } },
    { type: "tool.updated", toolId, text: "running\n" },
    { type: "tool.ended", toolId, outcome: "ok", text: "41 passed\n".repeat(20) },
  ];
}

function toLongTurn(turn) {
  const text = `${PARAGRAPH.repeat(Math.ceil(LONG_MESSAGE / PARAGRAPH.length)).slice(0, LONG_MESSAGE)}\n\n${END}`;
  const size = Math.ceil(text.length / (EVENTS_PER_TURN - 4));
  const deltas = Array.from({ length: EVENTS_PER_TURN - 4 }, (_, at) => {
    return { type: "message.delta", messageId: "long", text: text.slice(at * size, (at + 1) * size) };
  });
  const end = [
    { type: "message.completed", messageId: "long", text },
    { type: "turn.ended", outcome: { status: "done" } },
  ];
  return [toPrompt(turn), ...deltas, ...end].map((body) => ({ ...body, turnId: `trn_${turn}` }));
}

function toSpec(index) {
  return {
    prompt: `Add page ${index}`,
    title: `Add page ${index}`,
    repository: "/tmp/repository",
    agent: "it",
    provider: "anthropic",
    priority: 0,
    needs: [],
    retries: 0,
    budget: {},
    stages: [{ kind: "agent", name: "it", agent: "it", tries: 1 }],
    limits: {},
  };
}
