/** Shows the prompts, messages, tool calls and outputs of all sessions that match the search. */
import { createEffect, createSignal, For, on, onCleanup, Show, type JSX } from "solid-js";
import type { components } from "../../../src/client/index.ts";
import { formatAge, visible } from "../format.ts";
import { dataOf, messageOf } from "../request.ts";
import { useServer } from "../server.tsx";
import { Link } from "../shell/link.tsx";

type Match = components["schemas"]["SearchResult"]["matches"][number];

/** How long to wait after the last key before searching. */
const TYPING_MS = 250;
/** The server pauses a long search. The page continues it automatically this many times. */
const MAX_EMPTY_PAGES = 20;

const KINDS: Readonly<Record<string, string>> = {
  "turn.started": "prompt",
  "input.delivered": "prompt",
  "message.completed": "message",
  "tool.started": "tool",
  "tool.ended": "output",
  "permission.requested": "request",
  "question.asked": "question",
  "turn.ended": "end of a turn",
};

export function SearchResults(props: { readonly text: string }): JSX.Element {
  const { client, roster } = useServer();
  const [matches, setMatches] = createSignal<readonly Match[]>([]);
  const [next, setNext] = createSignal<string>();
  const [isSearching, setSearching] = createSignal(true);
  const [problem, setProblem] = createSignal<string>();
  let current = new AbortController();

  const search = async (text: string, from: string | undefined): Promise<void> => {
    current.abort();
    const { signal } = (current = new AbortController());
    setSearching(true);
    try {
      let cursor = from;
      for (let pages = 0; pages < MAX_EMPTY_PAGES; pages += 1) {
        const query = { q: text, ...(cursor !== undefined && { cursor }) };
        const page = await dataOf(client.GET("/v1/search", { params: { query }, signal }));
        if (signal.aborted) return;
        setMatches((before) => [...before, ...page.matches]);
        setNext(page.next);
        setProblem(undefined);
        cursor = page.next;
        if (page.matches.length > 0 || cursor === undefined) break;
      }
    } catch (error) {
      if (!signal.aborted) setProblem(messageOf(error));
    } finally {
      if (!signal.aborted) setSearching(false);
    }
  };
  createEffect(
    on(
      () => props.text,
      (text) => {
        current.abort();
        setSearching(true);
        const timer = setTimeout(() => {
          setMatches([]);
          void search(text, undefined);
        }, TYPING_MS);
        onCleanup(() => clearTimeout(timer));
      },
    ),
  );
  onCleanup(() => current.abort());

  return (
    <section class="group" aria-labelledby="group-search">
      <h2 id="group-search">
        In the logs <span class="muted small">{matches().length > 0 ? matches().length : ""}</span>
      </h2>
      <ul class="rows">
        <For each={matches()}>
          {(match) => (
            <li>
              <Link to={{ screen: "session", id: match.sessionId, seq: match.seq }} class="row">
                <span class="title">{visible(match.title ?? "Session")}</span>
                <span class="amounts">
                  {KINDS[match.type] ?? match.type} · {formatAge(match.at, roster.now())}
                </span>
                <span class="last">{visible(match.excerpt)}</span>
              </Link>
            </li>
          )}
        </For>
      </ul>
      <p class="muted small" role="status">
        {problem() ??
          (isSearching()
            ? "Searching…"
            : matches().length === 0 && next() === undefined
              ? "No message has all of these words."
              : "")}
      </p>
      <Show when={!isSearching() && next() !== undefined}>
        <button class="plain small" onClick={() => void search(props.text, next())}>
          Search older sessions
        </button>
      </Show>
    </section>
  );
}
