/** Says that the agent, or an agent that it started, waits for an answer, and leads there. */
import { createMemo, For, Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import { useServer } from "../../server.tsx";
import { Link } from "../../shell/link.tsx";
import type { SessionModel } from "../model.ts";
import { useSession } from "../session-context.ts";

export function WaitingBar(props: { readonly model: SessionModel }): JSX.Element {
  const { roster } = useServer();
  const { showRequest } = useSession();
  const open = createMemo(() => (props.model.state()?.requests ?? []).filter(({ answer }) => answer === undefined));
  const children = createMemo(() =>
    (props.model.state()?.subagents ?? []).filter(
      ({ childSessionId }) => roster.sessions[childSessionId]?.status === "waiting",
    ),
  );
  return (
    <Show when={open().length > 0 || children().length > 0}>
      <div class="waiting-bar" role="status">
        <For each={open().slice(0, 1)}>
          {(request) => (
            <div>
              <span>
                Waits for you: {visible(request.title.slice(0, 120))}
                {open().length > 1 ? ` (and ${open().length - 1} more)` : ""}
              </span>
              <button type="button" class="small" onClick={() => showRequest(request.requestId)}>
                Show
              </button>
            </div>
          )}
        </For>
        <For each={children().slice(0, 3)}>
          {({ childSessionId }) => (
            <div>
              An agent that it started waits for you.{" "}
              <Link to={{ screen: "session", id: childSessionId }}>Open its session</Link>
            </div>
          )}
        </For>
      </div>
    </Show>
  );
}
