/** A chat in plain lines: for dumb terminals, screen readers, and terminals without colors. Nothing is redrawn. */
import { Rookery } from "../../rookery.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { EXIT, type ExitCode, reportError } from "../exit.ts";
import { type Io, printNotice } from "../io.ts";
import { askLine } from "../run/ask-line.ts";
import { driveSession } from "../run/drive.ts";
import { withAgentSuggestions } from "../run/agent-suggestions.ts";
import { withTrustPrompt } from "../run/trust-prompt.ts";
import type { ChatSettings } from "./connection.ts";
import { listConversations } from "./start/find-conversation.ts";
import type { ChatStart } from "./start/start.ts";

export interface PlainChatOptions {
  readonly io: Io;
  readonly cwd: string;
  readonly start: ChatStart;
  readonly settings: ChatSettings;
  /** What to send first. Undefined: the person types it. */
  readonly prompt?: string | undefined;
}

export async function runPlainChat(options: PlainChatOptions): Promise<ExitCode> {
  const { io, cwd, start } = options;
  await using rookery = await Rookery.open({ env: io.env, cwd });
  let known = await findSummary(rookery, start, cwd);
  printNotice(io, known === undefined ? "a new conversation; /quit ends it" : `continues ${known.id}; /quit ends it`);
  const { signal } = new AbortController();
  let first = options.prompt;
  for (;;) {
    const typed = first ?? (await askLine(io, "> ", signal));
    first = undefined;
    const prompt = typed?.trim();
    if (prompt === undefined || prompt === "/quit") return EXIT.done;
    if (prompt === "") continue;
    try {
      known = await runPlainTurn(options, rookery, known, prompt);
    } catch (error) {
      reportError(io, error);
    }
  }
}

/** `pick` continues the newest, because a list to choose from cannot be drawn. */
async function findSummary(rookery: Rookery, start: ChatStart, cwd: string): Promise<SessionSummary | undefined> {
  if (start.type === "new") return undefined;
  if (start.type === "session") return start.find(rookery);
  return (await listConversations(rookery.store, cwd, 1))[0];
}

/** A person may ask for plain lines on a terminal that could do more. */
function withoutRedrawing(io: Io): Io {
  return Object.create(io, { env: { value: { ...io.env, TERM: "dumb" } } }) as Io;
}

async function runPlainTurn(
  { io, cwd, settings }: PlainChatOptions,
  rookery: Rookery,
  known: SessionSummary | undefined,
  prompt: string,
): Promise<SessionSummary | undefined> {
  const { agent, model, permissions } = settings;
  const { signal } = new AbortController();
  const open = () =>
    withAgentSuggestions({ env: io.env, cwd }, () =>
      rookery.openSession({
        ...(known === undefined ? { cwd } : { id: known.id }),
        ...(agent !== undefined && { agent }),
        ...(model !== undefined && { model }),
        ...(permissions !== undefined && { permissions }),
        attended: true,
      }),
    );
  const session = await withTrustPrompt({ io: withoutRedrawing(io), cwd, signal }, open);
  const { store } = rookery;
  await driveSession({
    io: withoutRedrawing(io),
    store,
    session,
    prompt,
    json: false,
    atTerminal: true,
    attended: true,
    after: known?.head ?? 0,
  });
  return store.summary(session.id);
}
