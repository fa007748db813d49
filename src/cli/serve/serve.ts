/** `rookery serve`: runs tasks and serves everything over HTTP, until it is told to end. */
import { join } from "node:path";
import { Rookery } from "../../rookery.ts";
import type { Call, Options } from "../command.ts";
import { EXIT, type ExitCode, usage, wordsOf } from "../exit.ts";
import { type Io, print, printJson } from "../io.ts";
import { countOption, isSet, listOption, textOption } from "../options.ts";
import { aborted } from "../run/interrupts.ts";
import { welcomeText } from "./announcement.ts";
import { watchStops } from "./stops.ts";
import { voiceOf } from "./voice.ts";

export async function serve({ io, options }: Call): Promise<ExitCode> {
  const json = isSet(options, "json");
  const voice = voiceOf(io, json);
  const wanted = wantedIn(io, options);
  const { serveHttp } = await import("../../server/http/index.ts");
  using stops = watchStops(io);
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd() });
  await using door = await serveHttp(rookery, {
    ...wanted,
    version: io.version,
    env: io.env,
    log: json ? (line) => void io.stderr.write(`${line}\n`) : undefined,
  });
  const pool = rookery.runTasks({ signal: stops.signal, onProblem: (error) => voice("warning", wordsOf(error)) });
  const tokenFile = wanted.token === undefined ? join(rookery.home, "token") : undefined;
  const { url, exposed } = door;
  if (json) await printJson(io, { url, pid: process.pid, home: rookery.home, tokenFile, version: io.version });
  else {
    const shown = isSet(options, "showToken") ? door.token : undefined;
    await print(io, welcomeText(io, { url, home: rookery.home, tokenFile, token: shown }));
  }
  if (exposed && !json) {
    const risk = "can be reached by other machines, and nothing is encrypted; who has the token can run commands here";
    voice("warning", `${url} ${risk}: put it behind TLS, or take --host 127.0.0.1`);
  }
  await Promise.race([pool, aborted(stops.signal)]);
  voice("info", "ending; tasks that run go on at the next start; once more quits at once");
  await Promise.all([door.close(), pool]);
  return EXIT.done;
}

interface Wanted {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly token: string | undefined;
  readonly allowHosts: readonly string[];
}

const LAST_PORT = 65_535;

function wantedIn({ stdout }: Io, options: Options): Wanted {
  const port = countOption(options, "port", 0);
  if (port !== undefined && port > LAST_PORT) throw usage(`--port takes a number up to ${LAST_PORT}, not ${port}`);
  if (isSet(options, "showToken") && stdout.isTTY !== true) {
    throw usage("--show-token needs a terminal; elsewhere the token is in the file that is named at the start");
  }
  return {
    host: textOption(options, "host"),
    port,
    token: textOption(options, "token"),
    allowHosts: listOption(options, "allowHost"),
  };
}
