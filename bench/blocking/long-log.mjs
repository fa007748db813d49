// Creates a session with a long log: turns of 200 events by default, each with a short question and an answer in chunks.
const AT = "2026-01-01T00:00:00.000Z";
const DELTAS = 196;
const EVENTS_IN_AN_APPEND = 1_000;

/** The built-in agent of `servers.mjs` can continue it. */
export async function writeTurns(store, { sessionId, cwd, events, deltas = DELTAS }) {
  const stamp = { at: AT, agent: "it" };
  const model = "anthropic/claude-sonnet-5";
  const opened = { ...stamp, type: "session.opened", cwd, backend: "api", model, permissions: "all" };
  let expectedHead = 0;
  const append = async (drafts) => {
    const id = `append_${expectedHead}`;
    ({ head: expectedHead } = await store.append({ sessionId, id, expectedHead, events: drafts }));
  };
  await append([opened]);
  const turns = Math.ceil(EVENTS_IN_AN_APPEND / (deltas + 3));
  for (let turn = 0; expectedHead < events; turn += turns) {
    await append(Array.from({ length: turns }, (_, index) => turnOf(turn + index, stamp, deltas)).flat());
  }
}

function turnOf(number, stamp, deltas) {
  const [turnId, messageId] = [`trn_${number}`, `msg_${number}`];
  const common = { ...stamp, turnId };
  const input = [{ type: "text", text: `question ${number}` }];
  const delta = { ...common, type: "message.delta", messageId, text: `a piece of answer ${number}, as models send it` };
  return [
    { ...common, type: "turn.started", input },
    ...Array.from({ length: deltas }, () => delta),
    { ...common, type: "message.completed", messageId, text: `answer ${number}` },
    { ...common, type: "turn.ended", outcome: { status: "done" } },
  ];
}
