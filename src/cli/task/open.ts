/** Opens what tasks are behind: the server that was named or runs here, or else the log of this machine. */
import { homeFolder } from "../../config/home.ts";
import { RookeryError } from "../../domain/errors.ts";
import { findServer } from "../../server/http/running.ts";
import type { Action, Call, Options } from "../command.ts";
import { type ExitCode, usage } from "../exit.ts";
import type { Io } from "../io.ts";
import { textOption } from "../options.ts";
import { oneLine } from "../printable.ts";
import type { TaskDoor } from "./door.ts";

export function withDoor(work: (call: Call, door: TaskDoor) => Promise<ExitCode>): Action {
  return async (call) => {
    await using door = await openDoor(call.io, call.options);
    return await work(call, door);
  };
}

export async function openDoor(io: Io, options: Options = {}): Promise<TaskDoor> {
  const server = serverFor(io, options);
  if (server === undefined) return (await import("./local.ts")).localDoor(io);
  return (await import("./remote.ts")).remoteDoor(server);
}

export interface ServerAddress {
  readonly url: string;
  readonly token: string;
}

/** Undefined where none is named and none runs. A token is never sent to a server that it was not made for. */
function serverFor({ env }: Io, options: Options): ServerAddress | undefined {
  const named = textOption(options, "server") ?? env["ROOKERY_SERVER"] ?? "";
  const running = findServer(homeFolder(env));
  if (named === "") return running;
  const url = checkedUrl(named);
  const given = env["ROOKERY_TOKEN"] ?? "";
  if (given !== "") return { url, token: given };
  if (running !== undefined && new URL(running.url).origin === url) return running;
  throw new RookeryError(
    "unauthorized",
    `${url} wants a token: set ROOKERY_TOKEN to what the file \`token\` holds in the ROOKERY_HOME of that server`,
  );
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "")
    return url.origin;
  throw usage(`"${oneLine(text, 100)}" is no address of a server: write http://HOST:PORT`);
}
