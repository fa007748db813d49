/** The screen of one session. */
import { Show, type JSX } from "solid-js";
import { sessionStatus } from "../../../src/domain/state.ts";
import { folderName, visible } from "../format.ts";
import { useServer } from "../server.tsx";
import { Link } from "../shell/link.tsx";
import { ConversationView } from "./conversation.tsx";
import { openSession } from "./model.ts";

interface SessionProps {
  readonly id: string;
  /** The event to show. Default: the end of the conversation. */
  readonly seq?: number | undefined;
}

export function Session(props: SessionProps): JSX.Element {
  return (
    <Show when={props.id} keyed>
      {(id) => <OneSession id={id} seq={props.seq} />}
    </Show>
  );
}

function OneSession(props: SessionProps): JSX.Element {
  const { client, feed, roster } = useServer();
  const model = openSession(client, feed, props.id);
  const summary = () => roster.sessions[props.id];
  const status = (): string => {
    if (model.isMissing()) return "";
    const state = model.state();
    return state === undefined ? (summary()?.status ?? "") : sessionStatus(state);
  };
  const title = (): string => visible((summary()?.title ?? model.state()?.title ?? "Session").slice(0, 200));
  const cwd = (): string => model.state()?.cwd ?? summary()?.cwd ?? "";
  return (
    <main class="session-screen">
      <header class="session-head">
        <h1>{title()}</h1>
        <Show when={status() !== ""}>
          <span class={`status ${STATUS_TONES[status()] ?? ""}`}>{status()}</span>
        </Show>
        <span class="session-facts muted small">
          <span title={cwd()}>{visible(folderName(cwd()))}</span>
          <Show when={model.state()?.task ?? summary()?.task}>
            {(task) => (
              <>
                {" "}
                · <Link to={{ screen: "task", id: task(), tab: "conversation" }}>its task</Link>
              </>
            )}
          </Show>
          <Show when={model.state()?.parent ?? summary()?.parent}>
            {(parent) => (
              <>
                {" "}
                · <Link to={{ screen: "session", id: parent() }}>the session it comes from</Link>
              </>
            )}
          </Show>
        </span>
      </header>
      <ConversationView model={model} isReadOnly={false} seq={props.seq} />
    </main>
  );
}

/** The classes of `roster.css`. */
const STATUS_TONES: Readonly<Record<string, string>> = {
  waiting: "needs_you",
  running: "working",
  copying: "working",
  idle: "done",
};
