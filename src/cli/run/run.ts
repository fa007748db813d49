/** `rookery run`: sends a prompt to an agent, or continues an interrupted turn, and shows the events. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import { shortId } from "../../domain/ids.ts";
import type { RookeryError } from "../../domain/errors.ts";
import type { SessionStore } from "../../domain/store.ts";
import { Rookery } from "../../rookery.ts";
import { loadState } from "../../session/open.ts";
import type { Session } from "../../session/session.ts";
import { parseAddedFolders } from "../add-dir.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { hasColor, type Io, isPersonPresent, printText } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { findSession } from "../sessions/find.ts";
import { parseBudget } from "../task/amounts.ts";
import { hasPendingWork } from "./drive.ts";
import { driveThroughOutages } from "./drive-through-outages.ts";
import { openRunSession } from "./open-session.ts";
import { readMessages } from "./messages-file.ts";
import { readOptionalPrompt } from "./prompt.ts";

export async function runPromptCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const sessionName = textOption(options, "session") ?? (isSet(options, "continue") ? "last" : undefined);
  const permissions = choiceOption(options, "permissions", PERMISSION_POLICIES);
  const json = isSet(options, "json");
  const amounts = textOption(options, "budget");
  const budget = amounts === undefined ? undefined : parseBudget(amounts);
  const prompt = await readOptionalPrompt(io, args[0], sessionName !== undefined);
  const messages = await readMessages(io, textOption(options, "messages"), sessionName);
  const folder = textOption(options, "cwd");
  const cwd = folder === undefined ? undefined : await realFolder(resolve(io.cwd(), folder));
  const folders = await parseAddedFolders({ io, options });
  const atTerminal = isPersonPresent(io);

  await using rookery =
    sessionName === undefined ? await Rookery.open({ env: io.env, cwd: io.cwd() }) : await openRookeryAnywhere(io);
  const stored = sessionName === undefined ? undefined : await findSession(rookery.store, sessionName, io);
  const attended =
    atTerminal || permissions === "ask" || (stored !== undefined && (await hasOpenRequests(rookery.store, stored.id)));
  const agent = textOption(options, "agent");
  const session = await openRunSession({
    io,
    rookery,
    json,
    cwd: cwd ?? stored?.cwd ?? io.cwd(),
    agent: agent ?? stored?.agent,
    session: {
      ...(stored !== undefined && { id: stored.id }),
      ...optional("agent", agent),
      ...optional("model", textOption(options, "model")),
      ...optional("cwd", cwd ?? (stored === undefined ? io.cwd() : undefined)),
      ...optional("permissions", permissions),
      ...optional("budget", budget),
      ...optional("messages", messages),
      attended,
      folders,
    },
  });
  if (session === undefined) return EXIT.cancelled;
  const resumes = prompt === undefined && !hasPendingWork(session);
  if (resumes && !canResumeTurn(session)) {
    await session[Symbol.asyncDispose]();
    throw nothingToContinue(session);
  }
  const code = await driveThroughOutages(rookery, {
    io,
    store: rookery.store,
    session,
    prompt,
    resumes,
    json,
    atTerminal,
    attended,
    after: stored?.head ?? 0,
    folders,
  });
  await printNextStep(io, session, { json, code });
  return code;
}

/** True if the session waits for a person, or a person has answered it before. Such a session stays attended. */
async function hasOpenRequests(store: SessionStore, sessionId: string): Promise<boolean> {
  const { requests } = await loadState(store, sessionId);
  return requests.some(({ answer }) => answer === undefined || answer.by === "person");
}

/** True if the agent can continue the last turn, which is not done, without a prompt. */
function canResumeTurn({ state, capabilities }: Session): boolean {
  const isUnfinished = state.lastOutcome !== undefined && state.lastOutcome.status !== "done";
  return isUnfinished && state.nativeId !== undefined && capabilities.resumeTurn === true;
}

function nothingToContinue({ id: sessionId, state: { lastOutcome } }: Session): RookeryError {
  const id = shortId(sessionId);
  const isLost = lastOutcome?.status === "failed" && lastOutcome.code === "interrupted";
  const why = isLost ? "lost its turn when its process ended" : "has no turn to continue";
  return usageError(`session ${id} ${why}; send a prompt: rookery run "PROMPT" --session ${id}`);
}

async function printNextStep(io: Io, session: Session, { json, code }: { json: boolean; code: ExitCode }) {
  if (json) return;
  const id = shortId(session.id);
  const more = code === EXIT.done ? `continue with: rookery run "…" --session ${id}` : `rookery sessions show ${id}`;
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  await printText(io, `${paint("dim", `session ${id} · ${more}`)}\n`);
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}
