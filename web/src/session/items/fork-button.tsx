/** Starts a new session with the turns of the conversation up to here, and opens it. */
import { createSignal, Show, type JSX } from "solid-js";
import { navigate } from "../../routes.ts";
import { useServer } from "../../server.tsx";
import { newIdempotencyKey, sendOnce } from "../../send.ts";
import { saveDraft } from "../composer/drafts.ts";
import { useSession } from "../session-context.ts";

interface ForkButtonProps {
  readonly label: string;
  /** The turn that the copy ends with. Undefined if it ends before `seq`. */
  readonly turnId?: string | undefined;
  readonly seq: number;
  /** The text of the message box in the new session. */
  readonly draft?: string | undefined;
}

/** Nothing while the turn runs: only turns that ended can be copied. */
export function ForkButton(props: ForkButtonProps): JSX.Element {
  const { client } = useServer();
  const { model } = useSession();
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();
  const isPossible = (): boolean => props.turnId === undefined || model.state()?.turn?.id !== props.turnId;

  /** The list has everything after an item, so the end of its turn is there. */
  const findThrough = (): number => {
    if (props.turnId === undefined) return props.seq - 1;
    const items = model.rows().map(({ item }) => item());
    const end = items.find(
      ({ kind, turnId, seq }) => kind === "turn_end" && turnId === props.turnId && seq >= props.seq,
    );
    return end?.seq ?? props.seq;
  };
  const fork = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const through = findThrough();
      const { id } = await sendOnce(newIdempotencyKey(), (header) =>
        client.POST("/v1/sessions/{id}/fork", { params: { path: { id: model.id }, header }, body: { through } }),
      );
      if (props.draft !== undefined) saveDraft(id, props.draft);
      navigate({ screen: "session", id });
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Show when={isPossible()}>
      <button class="plain small fork" disabled={isBusy()} onClick={() => void fork()}>
        {isBusy() ? "Forking…" : props.label}
      </button>
      <Show when={problem()}>
        {(text) => (
          <span class="bad" role="alert">
            {text()}
          </span>
        )}
      </Show>
    </Show>
  );
}
