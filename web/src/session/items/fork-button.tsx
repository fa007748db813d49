/** Starts a new session with the conversation up to here. */
import { createSignal, Show, type JSX } from "solid-js";
import { navigate } from "../../routes.ts";
import { useServer } from "../../server.tsx";
import { newIdempotencyKey, sendOnce } from "../../send.ts";
import { useSession } from "../session-context.ts";

export function ForkButton(props: { readonly turnId: string | undefined }): JSX.Element {
  const { client } = useServer();
  const { model } = useSession();
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();
  // The server copies all turns that ended, so only the last one is a place to fork from.
  const isLast = (): boolean => props.turnId !== undefined && model.state()?.lastTurnId === props.turnId;
  const fork = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { id } = await sendOnce(newIdempotencyKey(), (header) =>
        client.POST("/v1/sessions/{id}/fork", { params: { path: { id: model.id }, header }, body: {} }),
      );
      navigate({ screen: "session", id });
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Show when={isLast()}>
      <button class="plain small" disabled={isBusy()} onClick={() => void fork()}>
        {isBusy() ? "Forking…" : "Fork from here"}
      </button>
      <Show when={problem()}>{(text) => <span class="bad">{text()}</span>}</Show>
    </Show>
  );
}
