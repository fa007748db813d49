/** An agent made with the official SDK, with every method it can serve and every request it can send. */

import { agent, RequestError } from "@agentclientprotocol/sdk";
import { TURNS } from "./turns.mjs";

const MODES = [
  { id: "ask", name: "Ask" },
  { id: "code", name: "Code" },
];
const MODELS = [
  { value: "small", name: "Small" },
  { value: "large", name: "Large" },
];

/** With `locked`, sessions start only after authentication. */
export function sdkAgent({ locked = false } = {}) {
  const sessions = new Map();
  let authenticated = !locked;
  let started = 0;
  let clientCapabilities = {};

  const known = (sessionId) => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.sessionNotFound(sessionId);
    return session;
  };

  return agent({ name: "sdk-agent" })
    .onRequest("initialize", ({ params }) => {
      clientCapabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: 1,
        agentInfo: { name: "sdk-agent", version: "2.4.0" },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
          auth: { logout: {} },
        },
        authMethods: [{ id: "token", name: "A token" }],
      };
    })
    .onRequest("authenticate", ({ params }) => {
      if (params.methodId !== "token") throw RequestError.invalidParams({ methodId: params.methodId });
      authenticated = true;
    })
    .onRequest("logout", () => {
      authenticated = false;
    })
    .onRequest("session/new", ({ params }) => {
      if (!authenticated) throw RequestError.authRequired({ methods: ["token"] });
      const session = {
        id: `session-${(started += 1)}`,
        cwd: params.cwd,
        additionalDirectories: params.additionalDirectories ?? [],
        mcpServers: params.mcpServers,
        history: [],
        mode: "ask",
        model: "small",
        verbose: false,
        open: true,
        cancel: undefined,
      };
      sessions.set(session.id, session);
      return { sessionId: session.id, ...settings(session), _meta: { mcpServers: params.mcpServers } };
    })
    .onRequest("session/load", async ({ params, client }) => {
      const session = known(params.sessionId);
      session.open = true;
      for (const update of session.history) await client.notify("session/update", { sessionId: session.id, update });
      return settings(session);
    })
    .onRequest("session/resume", ({ params }) => {
      const session = known(params.sessionId);
      session.open = true;
      return settings(session);
    })
    .onRequest("session/list", ({ params }) => ({
      sessions: [...sessions.values()]
        .filter(({ cwd }) => params.cwd == null || params.cwd === cwd)
        .map(({ id, cwd, additionalDirectories }) => ({
          sessionId: id,
          cwd,
          additionalDirectories,
          title: `The ${id}`,
        })),
    }))
    .onRequest("session/delete", ({ params }) => {
      known(params.sessionId);
      sessions.delete(params.sessionId);
    })
    .onRequest("session/close", ({ params }) => {
      const session = known(params.sessionId);
      session.cancel?.abort();
      session.open = false;
    })
    .onRequest("session/set_mode", async ({ params, client }) => {
      const session = known(params.sessionId);
      session.mode = params.modeId;
      const update = { sessionUpdate: "current_mode_update", currentModeId: params.modeId };
      await client.notify("session/update", { sessionId: session.id, update });
    })
    .onRequest("session/set_config_option", ({ params }) => {
      const session = known(params.sessionId);
      session[params.configId] = params.value;
      return { configOptions: settings(session).configOptions };
    })
    .onRequest("session/prompt", async ({ params, client, requestId }) => {
      const session = known(params.sessionId);
      if (!session.open) throw RequestError.sessionNotFound(params.sessionId);
      const cancel = (session.cancel = new AbortController());
      const [block] = params.prompt;
      const [word, ...rest] = (block?.type === "text" ? block.text : "").split(" ");
      const update = async (update) => {
        session.history.push(update);
        await client.notify("session/update", { sessionId: session.id, update });
      };
      for (const content of params.prompt) session.history.push({ sessionUpdate: "user_message_chunk", content });
      const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
      const turn = TURNS[word] ?? TURNS.echo;
      try {
        await turn({
          client,
          session,
          prompt: params.prompt,
          rest,
          say,
          update,
          requestId,
          clientCapabilities,
          signal: cancel.signal,
        });
        return { stopReason: cancel.signal.aborted ? "cancelled" : "end_turn" };
      } finally {
        session.cancel = undefined;
      }
    })
    .onNotification("session/cancel", ({ params }) => {
      sessions.get(params.sessionId)?.cancel?.abort();
    });
}

function settings({ mode, model, verbose }) {
  return {
    modes: { currentModeId: mode, availableModes: MODES },
    configOptions: [
      { id: "model", name: "Model", category: "model", type: "select", currentValue: model, options: MODELS },
      { id: "verbose", name: "Verbose", type: "boolean", currentValue: verbose },
    ],
  };
}
