/**
 * The card of an open request. Keys while it has the focus: y allows, a allows for the session, n denies. For a shell
 * command, a allows commands that start like it, and Shift-A the whole tool.
 */
import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import { suggestCommandPrefix } from "../../../../src/domain/command-prefix.ts";
import type { EventOf } from "../../../../src/domain/events.ts";
import { titleWithoutTool, visible } from "../../format.ts";
import { useServer } from "../../server.tsx";
import { formatInputJson } from "../input-json.ts";
import { DiffView } from "../items/diff-view.tsx";
import { OutputText } from "../items/output-text.tsx";
import { toSafeUrl } from "../markdown/links.ts";
import { newIdempotencyKey } from "../../send.ts";
import type { AnswerHere } from "../session-context.ts";
import { answerRequest, type AnswerBody } from "./answer.ts";
import { QuestionForm } from "./question-form.tsx";

type OpenRequest = EventOf<"permission.requested"> | EventOf<"question.asked">;

interface RequestCardProps {
  readonly sessionId: string;
  readonly request: OpenRequest;
  /** Called with `sent` before the answer is sent, then with `late` or undefined if it does not count. */
  onAnswer(answer: AnswerHere | undefined): void;
}

export function RequestCard(props: RequestCardProps): JSX.Element {
  const { client } = useServer();
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();
  let sent: { readonly body: string; readonly key: string } | undefined;

  const answer = async (body: AnswerBody): Promise<void> => {
    if (isBusy()) return;
    setBusy(true);
    setProblem(undefined);
    // Another attempt with the same answer takes effect once.
    const text = JSON.stringify(body);
    if (sent?.body !== text) sent = { body: text, key: newIdempotencyKey() };
    const place = { sessionId: props.sessionId, requestId: props.request.requestId };
    try {
      props.onAnswer("sent");
      if (await answerRequest(client, place, body, sent.key)) return;
      props.onAnswer("late");
      setProblem("Somebody else answered first. Their answer counts.");
    } catch (error) {
      props.onAnswer(undefined);
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };

  return (
    <div
      class="request-card"
      data-request={props.request.requestId}
      tabindex="-1"
      role="group"
      aria-label={props.request.type === "permission.requested" ? "Permission request" : "Question"}
      aria-busy={isBusy()}
    >
      <Show
        when={props.request.type === "permission.requested" && props.request}
        fallback={
          <QuestionBody request={props.request as EventOf<"question.asked">} isBusy={isBusy()} onAnswer={answer} />
        }
      >
        {(request) => <PermissionBody request={request()} isBusy={isBusy()} onAnswer={answer} />}
      </Show>
      <Show when={problem()}>
        {(text) => (
          <p class="problem" role="alert">
            {text()}
          </p>
        )}
      </Show>
    </div>
  );
}

interface BodyProps<Request> {
  readonly request: Request;
  readonly isBusy: boolean;
  onAnswer(body: AnswerBody): Promise<void>;
}

const MAX_DIFFS = 20;

function PermissionBody(props: BodyProps<EventOf<"permission.requested">>): JSX.Element {
  const [reason, setReason] = createSignal("");
  const deny = (): void => {
    const message = reason().trim();
    void props.onAnswer({ decision: "deny", ...(message !== "" && { message }) });
  };
  const prefix = createMemo(() => suggestCommandPrefix(props.request));
  const keys: Readonly<Record<string, () => void>> = {
    y: () => void props.onAnswer({ decision: "allow", scope: "once" }),
    a: () => {
      const words = prefix();
      void props.onAnswer({ decision: "allow", scope: "session", ...(words !== undefined && { prefix: words }) });
    },
    A: () => void props.onAnswer({ decision: "allow", scope: "session" }),
    n: deny,
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    const key = event.key.toLowerCase(); // Caps Lock does not allow more
    const act = keys[key === "a" && event.shiftKey ? "A" : key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
    act();
  };
  const diffs = () => props.request.diffs ?? [];
  return (
    <div on:keydown={onKeyDown}>
      <p class="request-title">
        <strong>{visible(props.request.from ?? "The agent")}</strong> asks to use{" "}
        <code>{visible(props.request.tool)}</code>:{" "}
        {visible(titleWithoutTool(props.request.title, props.request.tool).slice(0, 1_000))}
      </p>
      <For each={diffs().slice(0, MAX_DIFFS)}>{(diff) => <DiffView diff={diff} />}</For>
      <Show when={diffs().length === 0 && formatInputJson(props.request.input) !== ""}>
        <OutputText text={formatInputJson(props.request.input)} label="Input" />
      </Show>
      <div class="request-actions">
        <button class="primary" disabled={props.isBusy} onClick={() => keys["y"]?.()} aria-keyshortcuts="y">
          Allow <kbd>y</kbd>
        </button>
        <button disabled={props.isBusy} onClick={() => keys["a"]?.()} aria-keyshortcuts="a">
          <Show when={prefix()} fallback="Allow for session">
            {(words) => (
              <>
                Allow <code>{words()} …</code> for session
              </>
            )}
          </Show>{" "}
          <kbd>a</kbd>
        </button>
        <Show when={prefix() !== undefined}>
          <button disabled={props.isBusy} onClick={() => keys["A"]?.()} aria-keyshortcuts="Shift+A">
            Allow every {visible(props.request.tool)} for session <kbd>A</kbd>
          </button>
        </Show>
        <button disabled={props.isBusy} onClick={deny} aria-keyshortcuts="n">
          Deny <kbd>n</kbd>
        </button>
        <input
          class="request-reason"
          aria-label="Reason for denying"
          placeholder="Reason for denying (optional)"
          value={reason()}
          maxLength={2_000}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            deny();
          }}
        />
      </div>
    </div>
  );
}

function QuestionBody(props: BodyProps<EventOf<"question.asked">>): JSX.Element {
  const url = (): string | undefined => toSafeUrl(props.request.url ?? "");
  return (
    <>
      <p class="request-title">
        <strong>{visible(props.request.from ?? "The agent")}</strong> asks:
      </p>
      <p class="question-text">{visible(props.request.message.slice(0, 10_000))}</p>
      <Show when={url()}>
        {(address) => (
          <p>
            <a href={address()} target="_blank" rel="noopener noreferrer">
              Open {new URL(address()).host}
            </a>{" "}
            <span class="mono small muted">{address()}</span>
          </p>
        )}
      </Show>
      <QuestionForm
        schema={props.request.schema}
        isBusy={props.isBusy}
        onAccept={(content) => void props.onAnswer({ action: "accept", ...(content !== undefined && { content }) })}
        onDecline={() => void props.onAnswer({ action: "decline" })}
      />
    </>
  );
}
