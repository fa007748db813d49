/** Formats the message that `rookery serve` prints when it has started. */
import { needsNpx, terminalWidth, withCommandPrefix, type Io } from "../io.ts";
import { formatColumns } from "../format.ts";
import { escapeInvisible } from "../sanitize.ts";
import { singleQuote } from "../../stdx/shell-quote.ts";
import { wrapShellLine } from "../wrap.ts";

export interface ServerInfo {
  readonly url: string;
  /** A link that signs in to the page. */
  readonly page: string;
  /** The home directory, or the database. */
  readonly log: string;
  /** Undefined if the user chose the token. */
  readonly tokenFile: string | undefined;
  /** False with --no-tasks. */
  readonly runsTasks: boolean;
  /** Set only with --show-token. */
  readonly token: string | undefined;
}

export function formatStartMessage(io: Io, info: ServerInfo): string {
  const { url, page, log, tokenFile, runsTasks, token } = info;
  const where = tokenFile === undefined ? "the one from --token or ROOKERY_TOKEN" : escapeInvisible(tokenFile);
  const bearer = tokenFile === undefined ? "$ROOKERY_TOKEN" : `$(cat ${singleQuote(escapeInvisible(tokenFile))})`;
  const facts = formatColumns([
    ["  server", url],
    ["  token", token ?? where],
    ["  log", escapeInvisible(log)],
    ["  API", `${url}/openapi.json`],
  ]);
  const lines = [
    `Rookery ${io.version} is ${runsTasks ? "running tasks and serving HTTP" : "serving HTTP, and workers run the tasks"}:`,
    "",
    facts,
    "The page (this link works once, within a minute; then: rookery open):",
    `  ${page}`,
    "",
    needsNpx(io.env)
      ? "From any terminal in this folder, or on this machine after `npm link`:"
      : "From any terminal on this machine:",
    '  rookery task start "PROMPT"',
    "  rookery task",
    "",
    "From a program:",
    wrapShellLine(`  curl -H "Authorization: Bearer ${bearer}" ${url}/v1/tasks`, terminalWidth(io.stdout)),
    "",
    runsTasks ? "Ctrl-C stops the server; running tasks continue at the next start." : "Ctrl-C stops the server.",
    "",
  ];
  return withCommandPrefix(io, lines.join("\n"));
}
