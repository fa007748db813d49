/** A session that the agent started, folded. It opens to its own transcript. */
import { Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import { useServer } from "../../server.tsx";
import { Link } from "../../shell/link.tsx";
import { openSession } from "../model.ts";
import { createSessionContext, SessionContext } from "../session-context.ts";
import { TranscriptList } from "../transcript-list.tsx";
import type { SubagentItem } from "../transcript/items.ts";
import { Fold, type FoldState } from "./fold.tsx";

export function SubagentRow(props: FoldState & { readonly item: SubagentItem }): JSX.Element {
  const { roster } = useServer();
  const status = (): string => {
    const { outcome } = props.item;
    if (outcome !== undefined) return typeof outcome === "object" ? outcome.status : outcome;
    return roster.sessions[props.item.childSessionId]?.status ?? "running";
  };
  return (
    <Fold
      class="subagent"
      isOpen={props.isOpen}
      onToggle={(isOpen) => props.onToggle(isOpen)}
      summary={
        <>
          <span class="tool-kind">Agent</span>
          <span class="tool-title">{visible((props.item.title || props.item.childSessionId).slice(0, 300))}</span>
          <span class="tool-facts muted">{status()}</span>
        </>
      }
    >
      <Show when={props.item.childSessionId} keyed>
        {(id) => <ChildTranscript id={id} />}
      </Show>
    </Fold>
  );
}

function ChildTranscript(props: { readonly id: string }): JSX.Element {
  const { client, feed } = useServer();
  const model = openSession(client, feed, props.id);
  return (
    <SessionContext.Provider value={createSessionContext(model)}>
      <div class="child-transcript">
        <Show when={model.problem()}>{(problem) => <p class="problem">{problem()}</p>}</Show>
        <TranscriptList model={model} />
      </div>
      <Link to={{ screen: "session", id: props.id }} class="small">
        Open this session
      </Link>
    </SessionContext.Provider>
  );
}
