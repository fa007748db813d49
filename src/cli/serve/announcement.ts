/** What a person is told when the server has started: where it is, and what to type. */
import { asTyped, type Io } from "../io.ts";
import { columns } from "../format.ts";
import { visible } from "../printable.ts";

export interface Announced {
  readonly url: string;
  readonly home: string;
  /** Undefined where the token was given. */
  readonly tokenFile: string | undefined;
  /** Only where it was asked for. */
  readonly token: string | undefined;
}

export function welcomeText(io: Io, { url, home, tokenFile, token }: Announced): string {
  const where = tokenFile === undefined ? "the one that was given" : visible(tokenFile);
  const bearer = tokenFile === undefined ? "$ROOKERY_TOKEN" : `$(cat ${quoted(tokenFile)})`;
  const facts = columns([
    ["  server", url],
    ["  token", token ?? where],
    ["  log", visible(home)],
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
  return asTyped(io, lines.join("\n"));
}

/** For a shell. */
function quoted(path: string): string {
  return `'${visible(path).replaceAll("'", `'\\''`)}'`;
}
