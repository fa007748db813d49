/** Formats the message that `rookery serve` prints when it has started. */
import { withCommandPrefix, type Io } from "../io.ts";
import { formatColumns } from "../format.ts";
import { escapeInvisible } from "../sanitize.ts";
import { singleQuote } from "../shell-quote.ts";

export interface ServerInfo {
  readonly url: string;
  readonly home: string;
  /** Undefined if the token comes from --token. */
  readonly tokenFile: string | undefined;
  /** Set only with --show-token. */
  readonly token: string | undefined;
}

export function formatStartMessage(io: Io, { url, home, tokenFile, token }: ServerInfo): string {
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
    "From any terminal on this machine:",
    '  rookery task start "PROMPT"',
    "  rookery task",
    "",
    "From a program:",
    `  curl -H "Authorization: Bearer ${bearer}" ${url}/v1/tasks`,
    "",
    "Ctrl-C stops the server; running tasks continue at the next start.",
    "",
  ];
  return withCommandPrefix(io, lines.join("\n"));
}
