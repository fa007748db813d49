/** Test fixture: a user with a scripted Gemini CLI that runs headless and over ACP. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Rookery } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, readAcpRecord, temporaryFolder, writeAcpAgent } from "../../testing/index.ts";

const HEADLESS = fileURLToPath(new URL("test-gemini.mjs", import.meta.url));
/** One program for both drive modes, as the real one. */
const EITHER = `for word in "$@"; do [ "$word" = --acp ] && acp=1; done
if [ -n "$acp" ]; then
  echo "$*" >> "$ACP_ARGS"
  exec $ACP_COMMAND
fi
exec "$NODE" "$HEADLESS" "$SESSIONS" "$ARGS" "$@"`;

export async function openScene(more = "") {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const cwd = owned.use(await temporaryFolder());
  const acp = await writeAcpAgent(home.path, {
    initialize: { agentInfo: { name: "gemini-cli", version: "0.61.0" } },
    otherwise: [{ say: "over ACP" }],
  });
  const file = (name: string) => join(home.path, name);
  const [sessions, args, acpArgs] = [file("sessions.json"), file("args.ndjson"), file("acp-args")] as const;
  const env: Record<string, string> = {
    ...builtEnvironment({ home: home.path }),
    ACP_COMMAND: acp.command.join(" "),
    ACP_ARGS: acpArgs,
    ARGS: args,
    SESSIONS: sessions,
    NODE: process.execPath,
    HEADLESS,
  };
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  const command = JSON.stringify(["sh", "-c", EITHER, "gemini"]);
  await writeFile(join(folder, "rookery.toml"), `[agents.it]\nbackend = "gemini-cli"\ncommand = ${command}\n${more}`);
  const rookery = owned.use(await Rookery.open({ env, cwd: cwd.path, store: owned.use(openMemoryStore()) }));
  return {
    rookery,
    cwd: cwd.path,
    env,
    open: (options: Parameters<Rookery["openSession"]>[0] = {}) => rookery.openSession({ agent: "it", ...options }),
    /** The arguments of each headless process. */
    started: () => linesOf(args).map((line) => JSON.parse(line) as string[]),
    startedOverAcp: () => linesOf(acpArgs),
    heardOverAcp: () => readAcpRecord(acp.record),
    /** Every prompt of every headless session. */
    said: () => readFile(sessions, "utf8"),
    forget: () => rm(sessions, { force: true }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}
