/** A permission request or a question in a transcript: open, answered, or not needed anymore. */
import { Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import { RequestCard } from "../requests/request-card.tsx";
import { useSession, type AnswerHere } from "../session-context.ts";
import type { RequestAnswer, RequestItem } from "../transcript/items.ts";

export function RequestRow(props: { readonly item: RequestItem }): JSX.Element {
  const { model, answersHere, setAnswerHere } = useSession();
  const open = () =>
    props.item.answer === undefined && !props.item.isObsolete && props.item.request !== undefined && props.item.request;
  return (
    <Show when={open()} fallback={<AnsweredRequest item={props.item} here={answersHere().get(props.item.requestId)} />}>
      {(request) => (
        <RequestCard
          sessionId={model.id}
          request={request()}
          onAnswer={(answer) => setAnswerHere(props.item.requestId, answer)}
        />
      )}
    </Show>
  );
}

function AnsweredRequest(props: { readonly item: RequestItem; readonly here: AnswerHere | undefined }): JSX.Element {
  const title = (): string => {
    const { request } = props.item;
    if (request === undefined) return "A request";
    return visible((request.type === "permission.requested" ? request.title : request.message).slice(0, 300));
  };
  const result = (): string => {
    const { answer } = props.item;
    if (answer === undefined) return "no longer needed";
    return `${describeAnswer(answer)}${describeWho(answer, props.here)}`;
  };
  const note = (): string => {
    const { answer } = props.item;
    return answer?.type === "permission.resolved" ? visible((answer.message ?? "").slice(0, 1_000)) : "";
  };
  return (
    <p class="request-answered small" role="status">
      <span class="tool-title">{title()}</span>
      <span class="muted">{result()}</span>
      <Show when={note() !== ""}>
        <span class="muted">“{note()}”</span>
      </Show>
    </p>
  );
}

function describeAnswer(answer: RequestAnswer): string {
  if (answer.type === "question.answered") {
    const { action } = answer;
    return action === "accept" ? "answered" : action === "decline" ? "declined" : "cancelled";
  }
  const { decision, scope, prefix } = answer;
  if (decision === "cancelled") return "cancelled";
  if (decision === "deny") return "denied";
  if (prefix !== undefined) return `"${visible(prefix)} …" allowed for this session`;
  return scope === "session" ? "allowed for this session" : "allowed";
}

function describeWho(answer: RequestAnswer, here: AnswerHere | undefined): string {
  if (answer.type === "permission.resolved" && answer.decision === "cancelled") return "";
  if (answer.by === "policy") return " by the permission rules";
  if (here === "sent") return " by you";
  return ` by a person${here === "late" ? ". Your answer came later and does not count." : ""}`;
}
