/** The form that starts a task. */
import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show, type JSX } from "solid-js";
import "../styles/dispatch.css";
import type { components } from "../../../src/client/index.ts";
import { dataOf, messageOf } from "../request.ts";
import { navigate } from "../routes.ts";
import { newIdempotencyKey, sendOnce } from "../send.ts";
import { Problem } from "../shell/problem.tsx";
import { useServer } from "../server.tsx";

const PERMISSIONS = { ask: "ask me", read: "read only", all: "allow everything", none: "refuse everything" } as const;
type Permissions = keyof typeof PERMISSIONS;
type Agent = components["schemas"]["Agent"];

/** A modal dialog: the browser keeps the focus inside, and Esc closes it. */
export function Dispatch(props: { onClose(): void }): JSX.Element {
  const { client, roster } = useServer();
  const [prompt, setPrompt] = createSignal("");
  const [folder, setFolder] = createSignal(newestRepository());
  const [agent, setAgent] = createSignal("");
  const [base, setBase] = createSignal("");
  const [usd, setUsd] = createSignal("");
  const [pipeline, setPipeline] = createSignal("");
  const [permissions, setPermissions] = createSignal<Permissions>("ask");
  const [isSending, setSending] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();
  let dialog: HTMLDialogElement | undefined;

  const repositories = createMemo(() => [...new Set(Object.values(roster.tasks).map((task) => task.repository))]);
  const [agents, setAgents] = createSignal<readonly Agent[]>([]);
  const [agentsProblem, setAgentsProblem] = createSignal<string>();
  const chosen = createMemo(() => agents().find(({ name }) => name === agent()));

  createEffect(() => void listAgents(folder()));
  async function listAgents(cwd: string): Promise<void> {
    const query = cwd === "" ? {} : { cwd };
    try {
      const found = await dataOf(client.GET("/v1/agents", { params: { query } }));
      if (cwd !== folder()) return; // another folder was chosen meanwhile
      setAgents(found.agents);
      setAgentsProblem(undefined);
    } catch (error) {
      if (cwd === folder()) setAgentsProblem(messageOf(error));
    }
  }

  onMount(() => dialog?.showModal());
  onCleanup(() => dialog?.close());

  function newestRepository(): string {
    const tasks = Object.values(roster.tasks).sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    return tasks[0]?.repository ?? "";
  }

  async function send(event: Event): Promise<void> {
    event.preventDefault();
    if (isSending()) return;
    setSending(true);
    setProblem(undefined);
    const body = {
      prompt: prompt(),
      permissions: permissions(),
      ...(folder() !== "" && { cwd: folder() }),
      ...(agent() !== "" && { agent: agent() }),
      ...(base() !== "" && { base: base() }),
      ...(usd() !== "" && { budget: { usd: Number(usd()) } }),
      ...(pipeline() !== "" && { pipeline: pipeline() }),
    };
    try {
      const task = await sendOnce(newIdempotencyKey(), (header) =>
        client.POST("/v1/tasks", { params: { header: { ...header } }, body }),
      );
      if (!("id" in task)) return; // `sendOnce` waits until the task is started
      props.onClose();
      navigate({ screen: "task", id: task.id, tab: "conversation" });
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setSending(false);
    }
  }

  const sendByKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void send(event);
  };

  return (
    <dialog ref={dialog} class="dispatch" aria-labelledby="dispatch-title" onClose={() => props.onClose()}>
      <form onSubmit={(event) => void send(event)} onKeyDown={sendByKey}>
        <h2 id="dispatch-title">New task</h2>
        <label class="wide">
          What should the agent do?
          <textarea
            required
            autofocus
            rows={6}
            value={prompt()}
            onInput={({ currentTarget }) => setPrompt(currentTarget.value)}
          />
        </label>
        <label class="wide">
          Repository
          <input
            list="known-repositories"
            placeholder="the folder in which the server was started"
            value={folder()}
            onChange={({ currentTarget }) => setFolder(currentTarget.value.trim())}
          />
          <datalist id="known-repositories">
            <For each={repositories()}>{(path) => <option value={path} />}</For>
          </datalist>
        </label>
        <label>
          Agent
          <select value={agent()} onChange={({ currentTarget }) => setAgent(currentTarget.value)}>
            <option value="">the default agent</option>
            <For each={agents()}>
              {(each) => <option value={each.name}>{each.ready ? each.name : `${each.name} (not ready)`}</option>}
            </For>
          </select>
        </label>
        <label>
          Permissions
          <select
            value={permissions()}
            onChange={({ currentTarget }) => setPermissions(currentTarget.value as Permissions)}
          >
            <For each={Object.entries(PERMISSIONS)}>{([value, title]) => <option value={value}>{title}</option>}</For>
          </select>
        </label>
        <details class="wide">
          <summary>More</summary>
          <div class="more">
            <label>
              Base
              <input
                placeholder="the current commit"
                value={base()}
                onInput={({ currentTarget }) => setBase(currentTarget.value.trim())}
              />
            </label>
            <label>
              Budget in USD
              <input
                type="number"
                min="0.01"
                step="0.01"
                placeholder="no limit"
                value={usd()}
                onInput={({ currentTarget }) => setUsd(currentTarget.value)}
              />
            </label>
            <label>
              Pipeline
              <input
                placeholder="none"
                value={pipeline()}
                onInput={({ currentTarget }) => setPipeline(currentTarget.value.trim())}
              />
            </label>
          </div>
        </details>
        <Show when={chosen()?.ready === false}>
          <p class="wide warn small">{chosen()?.missing ?? "This agent is not ready."}</p>
        </Show>
        <Show when={agentsProblem()}>{(text) => <p class="wide bad small">{text()}</p>}</Show>
        <Problem text={problem()} />
        <div class="wide buttons">
          <button type="button" onClick={() => props.onClose()}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isSending() || prompt().trim() === ""}>
            {isSending() ? "Starting…" : "Start task"}
          </button>
        </div>
      </form>
    </dialog>
  );
}
