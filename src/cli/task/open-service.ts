/** Opens the task service: the server named by an option, the server running here, or the log of this machine. */
import { homeFolder } from "../../config/home.ts";
import { RookeryError } from "../../domain/errors.ts";
import { findServer } from "../../server/http/running.ts";
import type { CommandAction, CommandCall, OptionValues } from "../command.ts";
import { type ExitCode, usageError } from "../exit.ts";
import type { Io } from "../io.ts";
import { textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import type { TaskService } from "./service.ts";

export function withTaskService(work: (call: CommandCall, service: TaskService) => Promise<ExitCode>): CommandAction {
  return async (call) => {
    const server = findServerAddress(call.io, call.options);
    if (server !== undefined) await (await import("./answering-server.ts")).requireAnsweringServer(call.io, server);
    await using service = await openTaskService(call.io, call.options);
    return await work(call, service);
  };
}

export async function openTaskService(io: Io, options: OptionValues = {}): Promise<TaskService> {
  const server = findServerAddress(io, options);
  if (server === undefined) return (await import("./local-service.ts")).openLocalTasks(io);
  return (await import("./remote-service.ts")).openRemoteTasks(io, server);
}

export interface ServerAddress {
  readonly url: string;
  readonly token: string;
  /** The process of the server. Undefined if it is not the one of this home directory. */
  readonly pid?: number;
}

/** Undefined if no server is named or running. Never sends the token of one server to another. */
export function findServerAddress({ env }: Io, options: OptionValues): ServerAddress | undefined {
  const named = textOption(options, "server") ?? env["ROOKERY_SERVER"] ?? "";
  const running = findServer(homeFolder(env));
  if (named === "") return running;
  const url = parseServerUrl(named);
  const own = running !== undefined && new URL(running.url).origin === url ? running : undefined;
  const given = env["ROOKERY_TOKEN"] ?? "";
  if (given !== "") return { ...own, url, token: given };
  if (own !== undefined) return own;
  throw new RookeryError(
    "unauthorized",
    `${url} requires a token: set ROOKERY_TOKEN to the content of the file \`token\` in the ROOKERY_HOME of that server`,
  );
}

function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "")
    return url.origin;
  throw usageError(`"${toSingleLine(text, 100)}" is not a server URL: write http://HOST:PORT`);
}
