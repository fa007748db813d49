/** One row of the roster. */
import { Show, type JSX } from "solid-js";
import { folderName, formatAge, formatDuration, formatTokens, formatUsd, plainLine, visible } from "../format.ts";
import { Link } from "../shell/link.tsx";
import { useServer } from "../server.tsx";
import type { RosterRow } from "./groups.ts";

/** No line starts with the dot. */
const SEPARATOR = "\u00a0· ";

export function Row(props: { readonly row: RosterRow }): JSX.Element {
  const { roster } = useServer();
  const facts = (): string =>
    [props.row.agent, folderName(props.row.folder), props.row.branch]
      .filter((fact) => fact !== undefined)
      .join(SEPARATOR);
  return (
    <Link to={props.row.route} class="row">
      <span class="title" title={props.row.title}>
        {visible(props.row.title)}
      </span>
      <span class="amounts">
        <span class={`status ${props.row.group}`}>{props.row.status}</span>
      </span>
      <span class="facts">{visible(facts())}</span>
      <span class="amounts">{amounts(props.row, roster.now())}</span>
      <Show when={props.row.lastLine ?? props.row.message}>
        {(line) => <span class="last mono">{visible(plainLine(line()))}</span>}
      </Show>
    </Link>
  );
}

function amounts({ usage, ranMs, updatedAt }: RosterRow, now: number): string {
  const parts: string[] = [];
  if (usage !== undefined && usage.inputTokens + usage.outputTokens > 0) {
    parts.push(`${formatTokens(usage.inputTokens + usage.outputTokens)} tokens`);
    if (usage.costUsd !== undefined) parts.push(formatUsd(usage.costUsd));
  }
  if (ranMs !== undefined && ranMs >= 1_000) parts.push(`ran ${formatDuration(ranMs)}`);
  parts.push(formatAge(updatedAt, now));
  return parts.join(SEPARATOR);
}
