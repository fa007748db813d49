/** `rookery open`: opens the page of the running server in a browser. */
import { RookeryError } from "../../domain/errors.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print, printJson, withCommandPrefix } from "../io.ts";
import { browserCommand, openBrowser } from "../open-browser.ts";
import { isSet } from "../options.ts";
import { findServerAddress } from "../task/open-service.ts";

export async function openCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const server = findServerAddress(io, options);
  if (server === undefined) {
    throw new RookeryError(
      "server_unreachable",
      withCommandPrefix(io, "no server is running: start one with rookery serve"),
    );
  }
  const { createClient, errorOf, toUnreachableError } = await import("../../client/index.ts");
  const { data, error, response } = await createClient(server)
    .POST("/v1/tickets", { body: {} })
    .catch((cause: unknown) => Promise.reject(toUnreachableError(server.url, cause)));
  if (data === undefined) throw errorOf(error, response.status);
  if (isSet(options, "json")) {
    await printJson(io, data);
    return EXIT.done;
  }
  const willOpen = browserCommand(io) !== undefined;
  await print(
    io,
    `${willOpen ? "Opening" : "Open this link in a browser"} (it works once, within a minute):\n  ${data.url}\n`,
  );
  if (willOpen) await openBrowser(io, data.url);
  return EXIT.done;
}
