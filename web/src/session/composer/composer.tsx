/**
 * The message box. Enter sends, or steers a running turn. Alt+Enter sends after the turn, Shift+Enter
 * makes a new line, Escape cancels the turn.
 */
import { createEffect, createSignal, on, Show, type JSX } from "solid-js";
import { isRookeryError, type components } from "../../../../src/client/index.ts";
import type { QueuedInput } from "../../../../src/domain/state.ts";
import { useServer } from "../../server.tsx";
import type { SessionModel } from "../model.ts";
import { newIdempotencyKey, sendOnce } from "../../send.ts";
import { AttachmentList } from "./attachment-list.tsx";
import { createAttachments } from "./attachments.ts";
import { loadDraft, saveDraft } from "./drafts.ts";
import { Meter } from "./meter.tsx";
import { QueueList } from "./queue-list.tsx";
import { Settings } from "./settings.tsx";
import { WaitingBar } from "./waiting-bar.tsx";

type Delivery = "steer" | "follow_up";
type PromptInput = Exclude<components["schemas"]["Prompt"]["input"], string>;

export function Composer(props: { readonly model: SessionModel }): JSX.Element {
  const { client } = useServer();
  const [text, setText] = createSignal(loadDraft(props.model.id));
  const [isBusy, setBusy] = createSignal(false);
  const [isRetrying, setRetrying] = createSignal(false);
  const [isFollowUp, setFollowUp] = createSignal(false);
  const [isDropTarget, setDropTarget] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();
  const attachments = createAttachments(client);
  /** The same text is sent with the same key again, in case the first attempt took effect. */
  let sent: { readonly text: string; readonly key: string } | undefined;
  let box: HTMLTextAreaElement | undefined;

  const isRunning = (): boolean => props.model.state()?.turn !== undefined;
  const isClosed = (): boolean => props.model.state()?.closed === true;
  const canSend = (): boolean =>
    !isBusy() && !attachments.isUploading() && (text().trim() !== "" || attachments.parts().length > 0);

  createEffect(on(text, (value) => saveDraft(props.model.id, value), { defer: true }));

  const send = async (delivery: Delivery): Promise<void> => {
    if (!canSend()) return;
    const typed = text();
    const input: PromptInput = [
      ...(text().trim() === "" ? [] : [{ type: "text" as const, text: text() }]),
      ...attachments.parts(),
    ];
    const params = { path: { id: props.model.id } };
    const post = async (deliver: Delivery | undefined): Promise<void> => {
      const body = { input, ...(deliver !== undefined && { deliver }) };
      const identity = JSON.stringify(body);
      if (sent?.text !== identity) sent = { text: identity, key: newIdempotencyKey() };
      await sendOnce(
        sent.key,
        (header) => client.POST("/v1/sessions/{id}/turns", { params: { ...params, header }, body }),
        () => setRetrying(true),
      );
    };
    await attempt(async () => {
      try {
        await post(isRunning() ? delivery : undefined);
      } catch (error) {
        if (!isRookeryError(error, "turn_in_progress")) throw error;
        await post(delivery); // a turn started in the meantime
      }
      sent = undefined;
      if (text() === typed) setText(""); // otherwise the person continued to type
      attachments.clear();
    });
    box?.focus();
  };

  const cancel = (): Promise<void> =>
    attempt(async () => {
      await sendOnce(
        newIdempotencyKey(),
        (header) =>
          client.POST("/v1/sessions/{id}/cancel", { params: { path: { id: props.model.id }, header }, body: {} }),
        () => setRetrying(true),
      );
    });

  async function attempt(action: () => Promise<void>): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await action();
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
      setRetrying(false);
    }
  }

  /** Puts a queued input back into the box, before what is there. */
  const editAgain = ({ input }: QueuedInput): void => {
    const texts = input.flatMap((part) => (part.type === "text" ? [part.text] : []));
    setText([...texts, text()].filter((each) => each.trim() !== "").join("\n\n"));
    attachments.restore(input.flatMap((part) => (part.type === "text" ? [] : [part])));
    box?.focus();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Escape" && isRunning()) {
      event.preventDefault();
      void cancel();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send(event.altKey || isFollowUp() ? "follow_up" : "steer");
    }
  };
  const addFiles = (files: FileList | null | undefined): boolean => {
    if (!files || files.length === 0) return false;
    attachments.add(Array.from(files));
    return true;
  };

  return (
    <form
      class="composer"
      classList={{ "drop-target": isDropTarget() }}
      aria-label="Write to the agent"
      onSubmit={(event) => {
        event.preventDefault();
        void send(isFollowUp() ? "follow_up" : "steer");
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setDropTarget(true);
      }}
      onDragLeave={() => setDropTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDropTarget(false);
        addFiles(event.dataTransfer?.files);
      }}
    >
      <WaitingBar model={props.model} />
      <QueueList model={props.model} onTakenBack={editAgain} />
      <AttachmentList attachments={attachments} />
      <textarea
        ref={(node) => (box = node)}
        aria-label="Message"
        rows={2}
        placeholder={isRunning() ? "Steer the agent…" : "Write to the agent…"}
        value={text()}
        disabled={isClosed()}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (addFiles(event.clipboardData?.files)) event.preventDefault();
        }}
      />
      <Show when={problem()}>
        {(message) => (
          <p class="problem" role="alert">
            {message()}
          </p>
        )}
      </Show>
      <div class="composer-actions">
        <label class="button-like">
          <input
            class="visually-hidden"
            type="file"
            multiple
            onChange={({ currentTarget }) => {
              addFiles(currentTarget.files);
              currentTarget.value = "";
            }}
          />
          Attach
        </label>
        <Settings model={props.model} />
        <Meter model={props.model} />
        <span class="composer-end">
          <Show when={isRetrying()}>
            <span class="warn small" role="status">
              No answer yet. Trying again…
            </span>
          </Show>
          <Show when={isRunning()}>
            <label class="check small" title="Alt+Enter does this once">
              <input
                type="checkbox"
                checked={isFollowUp()}
                onChange={({ currentTarget }) => setFollowUp(currentTarget.checked)}
              />
              after this turn
            </label>
            <button type="button" onClick={() => void cancel()} aria-keyshortcuts="Escape">
              Cancel turn
            </button>
          </Show>
          <button class="primary" type="submit" disabled={!canSend() || isClosed()}>
            {isBusy() ? "Sending…" : !isRunning() ? "Send" : isFollowUp() ? "Queue" : "Steer"}
          </button>
        </span>
      </div>
    </form>
  );
}
