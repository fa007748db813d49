/** What a person is told when the server has started: where it is, and what to type. */
import { withCommandPrefix, type Io } from "../io.ts";
import { formatColumns } from "../format.ts";
import { escapeInvisible } from "../sanitize.ts";

export interface ServerInfo {
  readonly url: string;
  readonly home: string;
  /** Undefined where the token was given. */
  readonly tokenFile: string | undefined;
  /** Only where it was asked for. */
  readonly token: string | undefined;
}

export function formatStartMessage(io: Io, { url, home, tokenFile, token }: ServerInfo): string {
  const where = tokenFile === undefined ? "the one that was given" : escapeInvisible(tokenFile);
  const bearer = tokenFile === undefined ? "$ROOKERY_TOKEN" : `$(cat ${quoteForShell(tokenFile)})`;
  const facts = formatColumns([
    ["  server", url],
    ["  token", token ?? where],
    ["  log", escapeInvisible(home)],
    ["  API", `${url}/openapi.json`],
  ]);
  const lines = [
    `Rookery ${io.version} runs tasks, and serves them:`,
    "",
    facts,
    "From any terminal of this machine:",
    '  rookery task start "PROMPT"',
    "  rookery task",
    "",
    "From a program:",
    `  curl -H "Authorization: Bearer ${bearer}" ${url}/v1/tasks`,
    "",
    "Ctrl-C ends it; tasks that run go on at the next start.",
    "",
  ];
  return withCommandPrefix(io, lines.join("\n"));
}

/** For a shell. */
function quoteForShell(path: string): string {
  return `'${escapeInvisible(path).replaceAll("'", `'\\''`)}'`;
}
