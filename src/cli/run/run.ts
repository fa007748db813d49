/** `rookery run`: sends a prompt to an agent, or continues an interrupted turn, and shows the events. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import { shortId } from "../../domain/ids.ts";
import type { SessionStore } from "../../domain/store.ts";
import { Rookery } from "../../rookery.ts";
import { loadState } from "../../session/open.ts";
import type { Session } from "../../session/session.ts";
import { parseAddedFolders } from "../add-dir.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { hasColor, type Io, isPersonPresent, printNotice, printText } from "../io.ts";
import { escapeInvisible } from "../sanitize.ts";
import { openLog } from "../log.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { findSession } from "../sessions/find.ts";
import { parseBudget } from "../task/amounts.ts";
import { suggestReadyAgents } from "./suggest-agents.ts";
import { hasPendingWork } from "./drive.ts";
import { driveThroughOutages } from "./drive-through-outages.ts";
import { readOptionalPrompt } from "./prompt.ts";
import { waitForAgentStart } from "./agent-start.ts";
import { withTrustPrompt } from "./trust-prompt.ts";

export async function runPromptCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const sessionName = textOption(options, "session") ?? (isSet(options, "continue") ? "last" : undefined);
  const permissions = choiceOption(options, "permissions", PERMISSION_POLICIES);
  const json = isSet(options, "json");
  const amounts = textOption(options, "budget");
  const budget = amounts === undefined ? undefined : parseBudget(amounts);
  const prompt = await readOptionalPrompt(io, args[0], sessionName !== undefined);
  const folder = textOption(options, "cwd");
  const cwd = folder === undefined ? undefined : await realFolder(resolve(io.cwd(), folder));
  const folders = await parseAddedFolders({ io, options });
  const atTerminal = isPersonPresent(io);

  await using rookery =
    sessionName === undefined ? await Rookery.open({ env: io.env, cwd: io.cwd() }) : await openLog(io);
  const stored = sessionName === undefined ? undefined : await findSession(rookery.store, sessionName, io);
  const attended =
    atTerminal || permissions === "ask" || (stored !== undefined && (await hasOpenRequests(rookery.store, stored.id)));
  const sessionCwd = cwd ?? stored?.cwd ?? io.cwd();
  const agent = textOption(options, "agent");
  let untrusted: readonly string[] = [];
  const openSession = async () => {
    untrusted = await findUntrustedInstructions(io, sessionCwd); // now, because nothing handles signals between opening and driving
    return suggestReadyAgents({ env: io.env, cwd: sessionCwd }, () =>
      rookery.openSession({
        ...(stored !== undefined && { id: stored.id }),
        ...optional("agent", agent),
        ...optional("model", textOption(options, "model")),
        ...optional("cwd", cwd ?? (stored === undefined ? io.cwd() : undefined)),
        ...optional("permissions", permissions),
        ...optional("budget", budget),
        attended,
        folders,
      }),
    );
  };
  const session = await waitForAgentStart({
    io,
    rookery,
    json,
    label: `starting ${agent ?? stored?.agent ?? "the agent"}`,
    open: (signal, withSpinner) => withTrustPrompt({ io, cwd: sessionCwd, signal }, () => withSpinner(openSession)),
  });
  if (session === undefined) return EXIT.cancelled;
  if (session.state.backend === "api" && !json) noteUntrustedInstructions(io, untrusted);
  if (prompt === undefined && !hasPendingWork(session)) {
    await session[Symbol.asyncDispose]();
    const { state } = session;
    const id = shortId(session.id);
    const lost = state.lastOutcome?.status === "failed" && state.lastOutcome.code === "interrupted";
    const why = lost ? "lost its turn when its process ended" : "has no turn to continue";
    throw usageError(`session ${id} ${why}; send a prompt: rookery run "PROMPT" --session ${id}`);
  }
  const after = stored?.head ?? 0;
  const code = await driveThroughOutages(rookery, {
    io,
    store: rookery.store,
    session,
    prompt,
    json,
    atTerminal,
    attended,
    after,
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

async function findUntrustedInstructions(io: Io, cwd: string): Promise<readonly string[]> {
  const { readInstructions } = await import("../../config/instructions.ts");
  return (await readInstructions(cwd, io.env).catch(() => ({ untrusted: [] }))).untrusted;
}

/** Instructions of the repository are used only after trust, but nothing else depends on it. */
function noteUntrustedInstructions(io: Io, untrusted: readonly string[]): void {
  if (untrusted.length === 0) return;
  const names = untrusted.map(escapeInvisible).join(", ");
  printNotice(io, `the agent does not get ${names} until you trust the repository; review it, then run: rookery trust`);
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
