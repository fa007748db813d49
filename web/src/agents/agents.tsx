/**
 * The agents and MCP servers of a repository: whether they are ready, or what they lack. The ARIA roles of the table
 * are explicit, because a phone shows its rows as blocks.
 */
import { createEffect, createMemo, createSignal, For, Index, Show, type JSX } from "solid-js";
import "../styles/usage.css";
import "../styles/agents.css";
import type { components } from "../../../src/client/index.ts";
import { readWhenConnected } from "../feed/read-when-connected.ts";
import { visible } from "../format.ts";
import { dataOf, messageOf } from "../request.ts";
import { Problem } from "../shell/problem.tsx";
import { useServer } from "../server.tsx";
import { ServerLogin } from "./server-login.tsx";

type Agent = components["schemas"]["Agent"];
type ServerList = components["schemas"]["McpServerList"];

export function Agents(): JSX.Element {
  const { client, feed, roster } = useServer();
  const [folder, setFolder] = createSignal("");
  const [agents, setAgents] = createSignal<readonly Agent[]>();
  const [servers, setServers] = createSignal<ServerList>();
  const [isConnecting, setConnecting] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();
  /** The repository in which the server was started. */
  const [serverRoot, setServerRoot] = createSignal<string>();
  const folders = createMemo(() =>
    [...new Set(Object.values(roster.tasks).map(({ repository }) => repository))].sort(),
  );

  createEffect(() => void load(folder()));
  readWhenConnected(feed, {
    read: () => void load(folder()),
    hasFailed: () => problem() !== undefined,
    isSnapshot: false,
  });
  async function load(cwd: string): Promise<void> {
    const query = cwd === "" ? {} : { cwd };
    try {
      const [found, declared] = await Promise.all([
        dataOf(client.GET("/v1/agents", { params: { query } })),
        dataOf(client.GET("/v1/mcp", { params: { query } })),
      ]);
      if (cwd !== folder()) return;
      setAgents(found.agents);
      setServers(declared);
      if (cwd === "") setServerRoot(declared.root);
      setProblem(undefined);
    } catch (error) {
      if (cwd === folder()) setProblem(messageOf(error));
    }
  }

  async function connect(): Promise<void> {
    const cwd = folder();
    setConnecting(true);
    try {
      const query = { connect: true, ...(cwd !== "" && { cwd }) };
      const found = await dataOf(client.GET("/v1/mcp", { params: { query } }));
      if (cwd === folder()) setServers(found);
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setConnecting(false);
    }
  }

  return (
    <main class="agents">
      <header class="roster-head">
        <h1>Agents and servers</h1>
        <label>
          <span class="visually-hidden">Repository</span>
          <select value={folder()} onChange={({ currentTarget }) => setFolder(currentTarget.value)}>
            <option value="">
              {serverRoot() === undefined ? "where the server was started" : `default: ${visible(serverRoot() ?? "")}`}
            </option>
            <For each={folders().filter((path) => path !== serverRoot())}>
              {(path) => <option value={path}>{visible(path)}</option>}
            </For>
          </select>
        </label>
      </header>
      <Problem text={problem()} />
      <Show when={agents()} fallback={<p class="muted">Loading…</p>}>
        {(known) => <AgentTable agents={known()} />}
      </Show>
      <Show when={servers()}>
        {(known) => (
          <section aria-labelledby="mcp-servers">
            <div class="section-head">
              <h2 id="mcp-servers">MCP servers</h2>
              <button disabled={isConnecting() || known().servers.length === 0} onClick={() => void connect()}>
                {isConnecting() ? "Connecting…" : "Connect and check"}
              </button>
            </div>
            <Show when={known().trust === "untrusted"}>
              <p class="warn small">
                The files of this repository have no effect until somebody runs <code>rookery trust</code> in it.
              </p>
            </Show>
            <Show when={known().servers.length > 0} fallback={<p class="empty">No MCP server is declared here.</p>}>
              <ServerTable list={known()} folder={folder()} onChange={() => void connect()} />
            </Show>
          </section>
        )}
      </Show>
    </main>
  );
}

function AgentTable(props: { readonly agents: readonly Agent[] }): JSX.Element {
  return (
    <table class="data-table" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            Agent
          </th>
          <th scope="col" role="columnheader">
            Runs on
          </th>
          <th scope="col" role="columnheader">
            State
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        <For each={props.agents}>
          {(agent) => (
            <tr role="row">
              <th scope="row" role="rowheader">
                {visible(agent.name)}
                <Show when={agent.isDefault}>
                  {" "}
                  <span class="status">default</span>
                </Show>
              </th>
              <td role="cell">
                {visible([agent.backend, agent.model].filter(Boolean).join(" · "))}
                <Show when={agent.program?.version}>
                  {(version) => <span class="muted small"> · version {visible(version())}</span>}
                </Show>
              </td>
              <td role="cell">
                <Show when={!agent.ready} fallback={<span class="status done">ready</span>}>
                  <span class="status needs_you">not ready</span>
                  <span class="small muted"> {visible(agent.missing ?? "")}</span>
                </Show>
              </td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

/** The classes of `roster.css`. */
const STATUS_TONES: Readonly<Record<string, string>> = {
  ready: "done",
  failed: "failed",
  gone: "failed",
  needs_login: "needs_you",
};

const STATUS_TITLES: Readonly<Record<ServerList["servers"][number]["status"], string>> = {
  ready: "ready",
  connecting: "connecting",
  needs_login: "needs login",
  failed: "failed",
  gone: "gone",
  disabled: "disabled",
  declared: "not checked",
};

interface ServerTableProps {
  readonly list: ServerList;
  readonly folder: string;
  onChange(): void;
}

function ServerTable(props: ServerTableProps): JSX.Element {
  return (
    <table class="data-table" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            Server
          </th>
          <th scope="col" role="columnheader">
            Reached by
          </th>
          <th scope="col" role="columnheader">
            State
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        <Index each={props.list.servers}>
          {(server) => (
            <tr role="row">
              <th scope="row" role="rowheader">
                {visible(server().name)}
                <span class="small muted"> {server().source}</span>
              </th>
              <td class="mono small" role="cell">
                {visible(server().reached)}
              </td>
              <td role="cell">
                <span class={`status ${STATUS_TONES[server().status] ?? ""}`}>{STATUS_TITLES[server().status]}</span>
                <Show when={server().reason}>{(reason) => <p class="small">{visible(reason())}</p>}</Show>
                <Show when={server().fix}>{(fix) => <p class="small muted">{visible(fix())}</p>}</Show>
                <Show when={/^https?:/.test(server().reached)}>
                  <ServerLogin name={server().name} folder={props.folder} onChange={() => props.onChange()} />
                </Show>
                <Show when={server().tools.length > 0}>
                  <details class="small">
                    <summary>
                      {server().tools.length} {server().tools.length === 1 ? "tool" : "tools"}
                    </summary>
                    <ul>
                      <For each={server().tools}>
                        {({ name, description }) => (
                          <li>
                            <code>{visible(name)}</code> <span class="muted">{visible(description.slice(0, 300))}</span>
                          </li>
                        )}
                      </For>
                    </ul>
                  </details>
                </Show>
              </td>
            </tr>
          )}
        </Index>
      </tbody>
    </table>
  );
}
