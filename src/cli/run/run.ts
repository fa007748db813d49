/** `rookery run`: gives an agent a prompt, or goes on with a turn that was left, and shows what happens. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import type { SessionStore } from "../../domain/store.ts";
import { Rookery } from "../../rookery.ts";
import { loadState } from "../../session/open.ts";
import type { Session } from "../../session/session.ts";
import { addedFolders } from "../add-dir.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode, usage } from "../exit.ts";
import { asTyped, type Io, isAttended, print } from "../io.ts";
import { openLog } from "../log.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { findSession } from "../sessions/find.ts";
import { budgetOf } from "../task/amounts.ts";
import { namingOthers } from "./instead.ts";
import { drive, hasWork } from "./drive.ts";
import { readPrompt } from "./prompt.ts";
import { started } from "./start.ts";
import { trusting } from "./trusting.ts";

export async function run({ io, args, options }: Call): Promise<ExitCode> {
  const named = textOption(options, "session");
  const permissions = choiceOption(options, "permissions", PERMISSION_POLICIES);
  const json = isSet(options, "json");
  const amounts = textOption(options, "budget");
  const budget = amounts === undefined ? undefined : budgetOf(amounts);
  const prompt = await readPrompt(io, args[0], named !== undefined);
  const folder = textOption(options, "cwd");
  const cwd = folder === undefined ? undefined : await realFolder(resolve(io.cwd(), folder));
  const folders = await addedFolders({ io, options });
  const here = isAttended(io);

  await using rookery = named === undefined ? await Rookery.open({ env: io.env, cwd: io.cwd() }) : await openLog(io);
  const known = named === undefined ? undefined : await findSession(rookery.store, named);
  const attended = here || permissions === "ask" || (known !== undefined && (await waits(rookery.store, known.id)));
  const where = cwd ?? known?.cwd ?? io.cwd();
  const agent = textOption(options, "agent");
  const opened = () =>
    namingOthers({ env: io.env, cwd: where }, () =>
      rookery.openSession({
        ...(known !== undefined && { id: known.id }),
        ...given("agent", agent),
        ...given("model", textOption(options, "model")),
        ...given("cwd", cwd ?? (known === undefined ? io.cwd() : undefined)),
        ...given("permissions", permissions),
        ...given("budget", budget),
        attended,
        folders,
      }),
    );
  const session = await started({
    io,
    rookery,
    json,
    label: `starting ${agent ?? known?.agent ?? "the agent"}`,
    open: (signal, shown) => trusting({ io, cwd: where, signal }, () => shown(opened)),
  });
  if (session === undefined) return EXIT.cancelled;
  if (prompt === undefined && !hasWork(session)) {
    await session[Symbol.asyncDispose]();
    const { id, state } = session;
    const lost = state.lastOutcome?.status === "failed" && state.lastOutcome.code === "interrupted";
    const why = lost ? "lost its turn with the process that ran it" : "has no turn to go on with";
    throw usage(`session ${id} ${why}; give it a prompt: rookery run "PROMPT" --session ${id}`);
  }
  const after = known?.head ?? 0;
  const code = await drive({ io, store: rookery.store, session, prompt, json, here, attended, after });
  await tellHowToGoOn(io, session, { json, code });
  return code;
}

/** A turn that asked somebody who was not at its terminal goes on doing so. */
async function waits(store: SessionStore, sessionId: string): Promise<boolean> {
  const { requests } = await loadState(store, sessionId);
  return requests.some(({ answer }) => answer === undefined || answer.by === "person");
}

async function tellHowToGoOn(io: Io, session: Session, { json, code }: { json: boolean; code: ExitCode }) {
  if (json) return;
  const more =
    code === EXIT.done ? `go on with: rookery run "…" --session ${session.id}` : `rookery sessions show ${session.id}`;
  await print(io, asTyped(io, `session ${session.id} · ${more}\n`));
}

function given<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}
