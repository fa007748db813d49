/** The agent, model and permissions of the session, with controls to change them. */
import { createResource, createSignal, For, Show, type JSX } from "solid-js";
import { formatGrant, listGrants, type SessionGrant } from "../../../../src/domain/command-prefix.ts";
import { PERMISSION_POLICIES } from "../../../../src/domain/enums.ts";
import { errorOf } from "../../../../src/client/index.ts";
import { visible } from "../../format.ts";
import { useServer } from "../../server.tsx";
import type { SessionModel } from "../model.ts";
import { newIdempotencyKey, sendOnce, type IdempotencyHeader, type SendResult } from "../../send.ts";

type Policy = (typeof PERMISSION_POLICIES)[number];
interface Change {
  readonly agent?: string;
  readonly model?: string;
  readonly permissions?: Policy;
}

const POLICY_TITLES: Readonly<Record<Policy, string>> = {
  ask: "Ask before changes",
  read: "Only read",
  all: "Allow everything",
  none: "Deny everything",
};

export function Settings(props: { readonly model: SessionModel }): JSX.Element {
  const { client } = useServer();
  const [isOpen, setOpen] = createSignal(false);
  const [status, setStatus] = createSignal<string>();
  const [problem, setProblem] = createSignal<string>();
  const state = () => props.model.state();
  const [agents] = createResource(
    () => isOpen() && state()?.cwd,
    async (cwd) => {
      const { data, error, response } = await client.GET("/v1/agents", { params: { query: { cwd } } });
      if (data === undefined) throw errorOf(error, response.status);
      return data.agents;
    },
  );
  const change = (body: Change): Promise<void> =>
    send(state()?.turn !== undefined && body.permissions === undefined ? "after this turn" : "changing…", (header) =>
      client.PATCH("/v1/sessions/{id}", { params: { path: { id: props.model.id }, header: { ...header } }, body }),
    );
  const revoke = ({ tool, prefix }: SessionGrant): Promise<void> =>
    send("changing…", (header) =>
      client.DELETE("/v1/sessions/{id}/grants/{tool}", {
        params: {
          path: { id: props.model.id, tool },
          query: prefix === undefined ? {} : { prefix },
          header: { ...header },
        },
      }),
    );
  const send = async (
    text: string,
    request: (header: IdempotencyHeader) => Promise<SendResult<unknown>>,
  ): Promise<void> => {
    setProblem(undefined);
    setStatus(text);
    try {
      await sendOnce(newIdempotencyKey(), request);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setStatus(undefined);
    }
  };
  const names = (): readonly string[] => {
    const listed = (agents.error === undefined ? agents() : undefined)?.filter(({ ready }) => ready) ?? [];
    return [...new Set([state()?.agent ?? "", ...listed.map(({ name }) => name)])].filter((name) => name !== "");
  };
  const defaultModel = (): string => {
    const agent = agents.error === undefined ? agents()?.find(({ name }) => name === state()?.agent) : undefined;
    return agent?.model === undefined ? "default" : `default: ${visible(agent.model)}`;
  };
  return (
    <Show when={state()}>
      {(known) => (
        <div class="settings">
          <button
            type="button"
            class="plain small"
            aria-expanded={isOpen()}
            onClick={() => setOpen(!isOpen())}
            title="Agent, model and permissions"
          >
            {visible([known().agent, known().model].filter(Boolean).join(" · "))} · {POLICY_TITLES[known().permissions]}
          </button>
          <Show when={status()}>{(text) => <span class="muted small">{text()}</span>}</Show>
          <Show when={isOpen()}>
            <fieldset class="settings-fields">
              <legend class="visually-hidden">Session settings</legend>
              <label>
                Agent
                <select
                  value={known().agent}
                  onChange={({ currentTarget }) => void change({ agent: currentTarget.value })}
                >
                  <For each={names()}>
                    {(name) => (
                      <option value={name} selected={name === known().agent}>
                        {visible(name)}
                      </option>
                    )}
                  </For>
                </select>
              </label>
              <label>
                Model
                <input
                  value={known().model ?? ""}
                  placeholder={defaultModel()}
                  maxLength={200}
                  onChange={({ currentTarget }) => {
                    if (currentTarget.value.trim() !== "") void change({ model: currentTarget.value.trim() });
                  }}
                />
              </label>
              <label>
                Permissions
                <select
                  value={known().permissions}
                  onChange={({ currentTarget }) => void change({ permissions: currentTarget.value as Policy })}
                >
                  <For each={PERMISSION_POLICIES}>
                    {(policy) => (
                      <option value={policy} selected={policy === known().permissions}>
                        {POLICY_TITLES[policy]}
                      </option>
                    )}
                  </For>
                </select>
              </label>
              <Show when={listGrants(known()).length > 0}>
                <div class="grants">
                  Allowed for this session
                  <ul>
                    <For each={listGrants(known())}>
                      {(grant) => (
                        <li>
                          <code>{visible(formatGrant(grant))}</code>
                          <button
                            type="button"
                            class="small"
                            aria-label={`Ask again before ${visible(formatGrant(grant))}`}
                            onClick={() => void revoke(grant)}
                          >
                            Ask again
                          </button>
                        </li>
                      )}
                    </For>
                  </ul>
                </div>
              </Show>
            </fieldset>
          </Show>
          <Show when={problem()}>
            {(text) => (
              <p class="problem" role="alert">
                {text()}
              </p>
            )}
          </Show>
        </div>
      )}
    </Show>
  );
}
