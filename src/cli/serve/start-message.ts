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
  readonly home: string;
  /** Undefined if the token comes from --token. */
  readonly tokenFile: string | undefined;
  /** Set only with --show-token. */
  readonly token: string | undefined;
}

export function formatStartMessage(io: Io, { url, page, home, tokenFile, token }: ServerInfo): string {
  const where = tokenFile === undefined ? "the one from --token" : escapeInvisible(tokenFile);
  const bearer = tokenFile === undefined ? "$ROOKERY_TOKEN" : `$(cat ${singleQuote(escapeInvisible(tokenFile))})`;
  const facts = formatColumns([
    ["  server", url],
    ["  token", token ?? where],
    ["  log", escapeInvisible(home)],
    ["  API", `${url}/openapi.json`],
  ]);
  const lines = [
    `Rookery ${io.version} is running tasks and serving HTTP:`,
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
    "Ctrl-C stops the server; running tasks continue at the next start.",
    "",
  ];
  return withCommandPrefix(io, lines.join("\n"));
}
