/** The end of a turn: outcome, time, tokens and cost. */
import { Show, type JSX } from "solid-js";
import { formatDuration, formatTokens, formatUsd, visible } from "../../format.ts";
import type { TurnEndItem } from "../transcript/items.ts";
import { ForkButton } from "./fork-button.tsx";

export function TurnEndRow(props: { readonly item: TurnEndItem }): JSX.Element {
  const facts = (): string => {
    const { startedAt, at, usage } = props.item;
    const parts: string[] = [];
    if (startedAt !== undefined) parts.push(formatDuration(Date.parse(at) - Date.parse(startedAt)));
    if (usage !== undefined && usage.inputTokens + usage.outputTokens > 0) {
      parts.push(`${formatTokens(usage.inputTokens)} tokens in, ${formatTokens(usage.outputTokens)} out`);
      if (usage.costUsd !== undefined) parts.push(formatUsd(usage.costUsd));
    }
    return parts.join(" · ");
  };
  const message = (): string | undefined =>
    "message" in props.item.outcome ? props.item.outcome.message.slice(0, 4_000) : undefined;
  return (
    <div class="turn-end">
      <p class="turn-end-line small">
        <span class={props.item.outcome.status === "done" ? "good" : "bad"}>{props.item.outcome.status}</span>
        <span class="muted">{facts()}</span>
        <ForkButton label="Fork from here" turnId={props.item.turnId} seq={props.item.seq} />
      </p>
      <Show when={message()}>{(text) => <p class="notice error">{visible(text())}</p>}</Show>
    </div>
  );
}
