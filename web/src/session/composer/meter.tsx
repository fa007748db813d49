/** How full the context is, and what the session has cost. */
import { Show, type JSX } from "solid-js";
import { formatTokens, formatUsd } from "../../format.ts";
import type { SessionModel } from "../model.ts";

export function Meter(props: { readonly model: SessionModel }): JSX.Element {
  const share = (): number | undefined => {
    const context = props.model.context();
    return context?.size === undefined ? undefined : Math.round((100 * context.used) / context.size);
  };
  const cost = (): string => {
    const usage = props.model.state()?.usage;
    if (usage === undefined || usage.inputTokens + usage.outputTokens === 0) return "";
    const tokens = `${formatTokens(usage.inputTokens + usage.outputTokens)} tokens`;
    if (usage.costUsd === undefined) return tokens;
    return `${tokens} · ${formatUsd(usage.costUsd)}${usage.costBy === "computed" ? " (estimate)" : ""}`;
  };
  return (
    <span class="meter small muted">
      <Show when={(props.model.context()?.used ?? 0) > 0 && props.model.context()}>
        {(context) => (
          <span class="context" classList={{ warn: (share() ?? 0) >= 80 }}>
            Context {formatTokens(context().used)}
            <Show when={context().size}>{(size) => <> of {formatTokens(size())}</>}</Show>
            <Show when={share() !== undefined}>
              <meter min={0} max={100} high={80} optimum={0} value={share()} aria-label="Share of the context used">
                {share()}%
              </meter>
            </Show>
          </span>
        )}
      </Show>
      <Show when={cost() !== ""}>
        <span>{cost()}</span>
      </Show>
    </span>
  );
}
