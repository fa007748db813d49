/** A conversation with an agent: its transcript and the message box. Fills the height of its parent. */
import { Show, type JSX } from "solid-js";
import { removeDraft } from "../kept-input.ts";
import { useServer } from "../server.tsx";
import { Link } from "../shell/link.tsx";
import { Composer } from "./composer/composer.tsx";
import { openSession, type SessionModel } from "./model.ts";
import { createSessionContext, SessionContext } from "./session-context.ts";
import { TranscriptList } from "./transcript-list.tsx";
import "../styles/roster.css"; // the labels of statuses
import "./session.css";

export interface ConversationProps {
  readonly sessionId: string;
  /** Hides the message box. Default: false. */
  readonly isReadOnly?: boolean;
}

/** Shows another session when `sessionId` changes. */
export function Conversation(props: ConversationProps): JSX.Element {
  const { client, feed } = useServer();
  return (
    <Show when={props.sessionId} keyed>
      {(id) => {
        const model = openSession(client, feed, id); // not in the attribute, which is evaluated at each use
        return <ConversationView model={model} isReadOnly={props.isReadOnly ?? false} />;
      }}
    </Show>
  );
}

/** A conversation whose model the caller opened. The model must stay the same. */
export function ConversationView(props: {
  readonly model: SessionModel;
  readonly isReadOnly: boolean;
  readonly seq?: number | undefined;
}): JSX.Element {
  return (
    <SessionContext.Provider value={createSessionContext(props.model)}>
      <Show when={!props.model.isMissing()} fallback={<NoSession id={props.model.id} />}>
        <section class="conversation" aria-label="Conversation">
          <TranscriptList model={props.model} seq={props.seq} />
          <Show when={props.model.problem()}>
            {(problem) => (
              <p class="problem" role="alert">
                {problem()}
              </p>
            )}
          </Show>
          <Show when={!props.isReadOnly}>
            <Composer model={props.model} />
          </Show>
        </section>
      </Show>
    </SessionContext.Provider>
  );
}

function NoSession(props: { readonly id: string }): JSX.Element {
  removeDraft(props.id); // it may have been deleted while the page was disconnected
  return (
    <div class="empty" role="status">
      <p>There is no such session.</p>
      <p>
        It was deleted, or the link is wrong. <Link to={{ screen: "roster" }}>See all sessions</Link>
      </p>
    </div>
  );
}
