/** `rookery sessions adopt`: lists the sessions that programs keep for a directory, or adopts one. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import { ADOPTABLE_BACKENDS } from "../../domain/enums.ts";
import { isRookeryError, RookeryError } from "../../domain/errors.ts";
import { shortId } from "../../domain/ids.ts";
import type { NativeSessionName } from "../../domain/native-session.ts";
import { Rookery, type AdoptableSession, type NativeSessionsQuery } from "../../rookery.ts";
import type { CommandCall, OptionValues } from "../command.ts";
import { EXIT, usageError, type ExitCode } from "../exit.ts";
import { formatAge, formatColumns } from "../format.ts";
import { print, printJson, printText, type Io } from "../io.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";

const MAX_CANDIDATES = 5;

export async function adoptSessionCommand({ io, args: [id], options }: CommandCall): Promise<ExitCode> {
  if (id === "")
    throw usageError("the session id is empty; list the sessions of this directory: rookery sessions adopt");
  const folder = textOption(options, "cwd");
  const cwd = await realFolder(resolve(io.cwd(), folder ?? "."));
  const backend = choiceOption(options, "backend", ADOPTABLE_BACKENDS);
  const query = { cwd, ...(backend !== undefined && { backend }) };
  await using rookery = await Rookery.open({ env: io.env, cwd });
  if (id === undefined) return await listKept(await rookery.nativeSessions(query), { io, options, cwd });
  const chosen = folder === undefined ? {} : { cwd };
  const { session, name } = await adoptNamed(rookery, id, { query, more: { ...textOptions(options), ...chosen } });
  if (isSet(options, "json")) await printJson(io, { session, ...name });
  else
    await printText(
      io,
      `${shortId(session)} has the conversation of the ${name.backend} session ${name.nativeId}; continue it with: rookery run --session ${shortId(session)} "…"\n`,
    );
  return EXIT.done;
}

function textOptions(options: OptionValues): { agent?: string; title?: string } {
  const [agent, title] = [textOption(options, "agent"), textOption(options, "title")];
  return { ...(agent !== undefined && { agent }), ...(title !== undefined && { title }) };
}

interface AdoptCall {
  readonly query: NativeSessionsQuery;
  readonly more: { readonly agent?: string; readonly title?: string; readonly cwd?: string };
}

/** `id` may be the start of the ID of a session in this directory, or a whole ID of any directory. */
async function adoptNamed(
  rookery: Rookery,
  id: string,
  { query, more }: AdoptCall,
): Promise<{ readonly session: string; readonly name: NativeSessionName }> {
  const [found, ...others] = (await rookery.nativeSessions(query)).filter(({ nativeId }) => nativeId.startsWith(id));
  if (others.length > 0 && found !== undefined) {
    const ids = [found, ...others].slice(0, MAX_CANDIDATES).map(({ nativeId }) => nativeId);
    throw usageError(
      `several sessions match ${toSingleLine(id, 60)}: ${ids.join(", ")}; type more characters of the id`,
    );
  }
  const { backend } = query;
  const backends = found === undefined ? (backend === undefined ? ADOPTABLE_BACKENDS : [backend]) : [found.backend];
  for (const each of backends) {
    const name = { backend: each, nativeId: found?.nativeId ?? id };
    try {
      return { session: await rookery.adoptSession({ ...name, ...more }), name };
    } catch (error) {
      if (!isRookeryError(error, "native_session_not_found")) throw error;
    }
  }
  throw new RookeryError(
    "native_session_not_found",
    `no program keeps a session ${toSingleLine(id, 60)}: list those of this directory with \`rookery sessions adopt\``,
  );
}

async function listKept(
  kept: readonly AdoptableSession[],
  { io, options, cwd }: { readonly io: Io; readonly options: OptionValues; readonly cwd: string },
): Promise<ExitCode> {
  if (isSet(options, "json")) {
    for (const native of kept) await printJson(io, native);
    return EXIT.done;
  }
  if (kept.length === 0) {
    await printText(io, `no program keeps a session of ${cwd}; choose another directory with --cwd\n`);
    return EXIT.done;
  }
  const rows = kept.map(({ nativeId, backend, updatedAt, title = "", session }) => [
    nativeId,
    backend,
    formatAge(updatedAt, Date.now()),
    session === undefined ? toSingleLine(title, 60) : `is session ${shortId(session)}: ${toSingleLine(title, 60)}`,
  ]);
  await print(io, formatColumns(rows));
  await printText(io, "adopt one: rookery sessions adopt ID\n");
  return EXIT.done;
}
