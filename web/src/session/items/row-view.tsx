/** One row of a transcript. */
import { Match, Switch, type JSX } from "solid-js";
import type { Row } from "../rows.ts";
import type { TranscriptItem } from "../transcript/items.ts";
import type { FoldState } from "./fold.tsx";
import { MessageRow } from "./message-row.tsx";
import { NoticeRow } from "./notice-row.tsx";
import { OutputText } from "./output-text.tsx";
import { PlanRow } from "./plan-row.tsx";
import { PromptRow } from "./prompt-row.tsx";
import { RequestRow } from "./request-row.tsx";
import { SubagentRow } from "./subagent-row.tsx";
import { ThoughtRow } from "./thought-row.tsx";
import { ToolRow } from "./tool-row.tsx";
import { TurnEndRow } from "./turn-end-row.tsx";

export function RowView(props: { readonly row: Row }): JSX.Element {
  const of = <K extends TranscriptItem["kind"]>(kind: K): Extract<TranscriptItem, { kind: K }> | false => {
    const item = props.row.item();
    return item.kind === kind && (item as Extract<TranscriptItem, { kind: K }>);
  };
  const fold: FoldState = {
    get isOpen() {
      return props.row.isOpen();
    },
    onToggle: (isOpen) => props.row.setOpen(isOpen),
  };
  return (
    <div class="row-of-transcript" data-kind={props.row.item().kind} data-key={props.row.item().key}>
      <Switch>
        <Match when={of("message")}>{(item) => <MessageRow item={item()} part={props.row.part} />}</Match>
        <Match when={of("tool")}>{(item) => <ToolRow item={item()} {...fold} />}</Match>
        <Match when={of("prompt")}>{(item) => <PromptRow item={item()} />}</Match>
        <Match when={of("thought")}>{(item) => <ThoughtRow item={item()} {...fold} />}</Match>
        <Match when={of("request")}>{(item) => <RequestRow item={item()} />}</Match>
        <Match when={of("plan")}>{(item) => <PlanRow item={item()} />}</Match>
        <Match when={of("notice")}>{(item) => <NoticeRow item={item()} />}</Match>
        <Match when={of("subagent")}>{(item) => <SubagentRow item={item()} {...fold} />}</Match>
        <Match when={of("turn_end")}>{(item) => <TurnEndRow item={item()} />}</Match>
        <Match when={of("output")}>{(item) => <OutputText text={item().text} label="Output of the program" />}</Match>
      </Switch>
    </div>
  );
}
